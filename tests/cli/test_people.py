"""People on the command line: who is named, who decides, single calls, and standing approvals."""

import getpass
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from planner_executor.graph.cli import app
from planner_executor.graph.cli.options import person
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.errors import InputError

Cli = Callable[..., Any]
ME = f"os:{getpass.getuser()}"


def plan(*paths: str) -> dict[str, Any]:
    return {
        "steps": [
            {"id": f"s{at}", "objective": "write", "tool": "write_file", "args": {"path": path, "content": "x"}}
            | ({"depends_on": [f"s{at - 1}"]} if at else {})
            for at, path in enumerate(paths)
        ]
    }


@pytest.fixture
def start(cli: Cli, folder: Path, latest: Callable[[], str]) -> Callable[..., str]:
    """Return a function that starts a run under a policy, for a plan that writes files."""

    def started(policy: str, *paths: str) -> str:
        (folder / "policy.toml").write_text(policy)
        (folder / "write.json").write_text(json.dumps(plan(*paths)))
        cli("run", "g", "--plan", "write.json", "--policy", "policy.toml", "--approval", "never")
        return latest()

    return started


ASK = '[tools.write_file]\nverdict = "ask"\n'


def test_a_single_call_is_edited_or_rejected_by_itself(cli: Cli, start: Any, folder: Path) -> None:
    run = start(ASK, "a.txt", "b.txt")

    shown = cli("resume", run, "--args", 's0={"path": "c.txt", "content": "x"}')
    assert "--reject-call s1=WHY" in shown.stdout and (folder / "workspace/c.txt").exists()
    ended = cli("resume", run, "--reject-call", "s1=not this file")

    assert ended.exit_code == 1 and not (folder / "workspace/b.txt").exists()
    assert "a person rejected this call: not this file" in cli("audit", run).stdout


def test_a_standing_approval_is_given_listed_and_revoked(cli: Cli, start: Any, folder: Path) -> None:
    run = start(ASK, "a.txt", "b.txt", "c.txt")
    any_text = {"at_most": 1, "args": {"path": {"pattern": "[a-z].txt"}}}

    cli("resume", run, "--standing", f"s0={json.dumps(any_text)}")
    line = cli("approvals").stdout
    assert f"write_file in run {run}, 0 of 1 left, by {ME}" in line
    assert (folder / "workspace/b.txt").exists() and not (folder / "workspace/c.txt").exists()
    named = f"ahead   1 call of write_file approved ahead by {ME} (standing approval {line.split()[0]})"
    assert named in cli("show", run).stdout.splitlines()
    assert json.loads(cli("show", run, "--json").stdout)["standing"][0]["id"] == line.split()[0]

    assert "is revoked" in cli("approvals", "--revoke", line.split()[0]).stdout
    assert f"revoked: {ME}" in cli("approvals", run).stdout


def test_a_name_given_on_the_command_line_is_claimed_and_decides_nothing_that_the_policy_guards(
    cli: Cli, start: Any, folder: Path
) -> None:
    run = start(f'{ASK}\n[approvers]\nnames = ["ada@example.org", "{ME}"]\n', "a.txt")

    refused = cli("resume", run, "--approve", "--as", "ada@example.org")
    assert "claimed:ada@example.org is only claimed" in refused.stderr and not (folder / "workspace/a.txt").exists()
    assert cli("resume", run, "--approve").exit_code == 0


def test_policy_check_says_who_decides(cli: Cli, folder: Path) -> None:
    (folder / "policy.toml").write_text(f'{ASK}\n[approvers.tools.write_file]\nroles = ["finance"]\nquorum = 2\n')
    (folder / "write.json").write_text(json.dumps(plan("a.txt")))

    checked = cli("policy", "check", "policy.toml", "write.json")

    assert checked.exit_code == 3
    assert (
        "asked: s0: its call of write_file is shown with the plan, since the policy asks about every call"
        in checked.stdout
    )
    assert "asked: 2 of the role finance have to approve the plan" in checked.stdout
    assert "- calls and plans with write_file: 2 of the role finance" in cli("policy", "show", "policy.toml").stdout


def test_whoever_was_one_of_several_is_told_so_and_not_asked_again(cli: Cli, start: Any, folder: Path) -> None:
    run = start(f'{ASK}\n[approvers]\nnames = ["{ME}", "os:somebody"]\nquorum = 2\n', "a.txt")

    voted = cli("resume", run, "--approve")

    assert voted.exit_code == 3 and voted.stdout.count("is about to call write_file") == 1
    assert f"your approval is on record; {run} waits for the others" in voted.stdout
    assert "continue with one of" not in voted.stdout and not (folder / "workspace/a.txt").exists()


def test_a_role_without_a_person_is_refused_with_the_next_move() -> None:
    with pytest.raises(InputError, match=r"--role: 'finance' is nobody's role; name the person with --as too"):
        person(None, ["finance"])


def test_policy_check_and_show_say_apart_who_decides_about_plans_and_about_single_calls(cli: Cli, folder: Path) -> None:
    rules = (
        '[approvers]\nnames = ["Ada", "Ben"]\nquorum = 2\n[approvers.calls.tools.write_file]\nnames = ["Ada", "Ben"]\n'
    )
    (folder / "policy.toml").write_text(f"{ASK}\n{rules}")
    (folder / "write.json").write_text(json.dumps(plan("a.txt")))

    checked = cli("policy", "check", "policy.toml", "write.json").stdout.splitlines()

    assert "asked: Ada and Ben have to approve the plan" in checked
    assert "asked: Ada or Ben has to approve a call of write_file" in checked
    shown = cli("policy", "show", "policy.toml").stdout
    assert "- calls of write_file that are shown by themselves: Ada or Ben" in shown.splitlines()
    (folder / "policy.toml").write_text(f'{ASK}\n[approvers.calls.tools.write_fiel]\nnames = ["Ada"]\n')
    refused = cli("policy", "check", "policy.toml")
    assert refused.exit_code == 2 and "approvers.calls.tools.write_fiel" in refused.stderr


VERIFIED = """
from planner_executor import Person

def verified(by):
    return Person(by.name, ["finance"]) if by is not None and by.proof == "token-of-ada" else None
"""
FINANCE = f'{ASK}\n[approvers]\nroles = ["finance"]\n'
PROVEN = ("--as", "ada@example.org", "--proof-command", "cat token.txt")


@pytest.fixture
def adapter(tmp_path_factory: pytest.TempPathFactory, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Name an adapter in the settings that verifies whoever has the token of ada."""
    code = tmp_path_factory.mktemp("code")
    (code / "people_of_cli.py").write_text(VERIFIED)
    (code / "settings.toml").write_text('identity = "people_of_cli:verified"\n')
    (folder / "token.txt").write_text("token-of-ada\n")
    monkeypatch.syspath_prepend(str(code))
    monkeypatch.setenv("PLANNER_EXECUTOR_CONFIG", str(code / "settings.toml"))


@pytest.mark.usefixtures("adapter")
def test_a_named_person_hands_a_proof_to_the_adapter_which_stands_in_no_record(
    cli: Cli, start: Any, folder: Path
) -> None:
    run = start(FINANCE, "a.txt")
    assert "claimed:ada@example.org is only claimed" in cli("resume", run, "--approve", *PROVEN[:2]).stderr

    assert run in cli("inbox", *PROVEN).stdout
    assert cli("resume", run, "--approve", *PROVEN).exit_code == 0

    assert "server:ada@example.org" in cli("audit", run).stdout
    kept = [path for path in folder.iterdir() if path.is_file() and path.name != "token.txt"]
    assert kept and all(b"token-of-ada" not in path.read_bytes() for path in kept)


@pytest.mark.usefixtures("adapter")
def test_an_answer_that_comes_late_is_on_record_from_whom_the_adapter_verifies(cli: Cli, start: Any) -> None:
    run = start(f'{FINANCE}decide_within = "0.001s"\n', "a.txt")

    assert "came too late" in cli("resume", run, "--approve", *PROVEN).stderr

    assert "was not accepted, from server:ada@example.org: the answer came too late" in cli("audit", run).stdout


@pytest.mark.usefixtures("adapter")
def test_whoever_skips_supplies_steers_or_revokes_hands_a_proof_too(cli: Cli, start: Any) -> None:
    run = start(FINANCE, "a.txt", "b.txt")

    assert cli("supply", run, "s0", "1", *PROVEN).exit_code == 0
    assert cli("steer", run, "be brief", *PROVEN).exit_code == 0
    assert cli("skip", run, "s1", *PROVEN).exit_code == 0
    assert cli("audit", run).stdout.count("server:ada@example.org") >= 3


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--proof-command", "cat token.txt"), "name yourself with --as too"),
        (("--as", "ada", "--proof-command", "no-such-command"), "it cannot be used"),
        (("--as", "ada", "--proof-command", "cat 'token.txt"), "it cannot be used"),
        (("--as", "ada", "--proof-command", "cat nowhere.txt"), "it ended with exit code 1"),
        (("--as", "ada", "--proof-command", "true"), "it printed nothing"),
    ],
)
def test_without_a_proof_nothing_is_decided(cli: Cli, start: Any, options: tuple[str, ...], why: str) -> None:
    run = start(ASK, "a.txt")

    refused = cli("resume", run, "--approve", *options)

    assert refused.exit_code == 2 and "--proof-command" in refused.stderr and why in refused.stderr
    assert '"status": "waiting"' in cli("show", run, "--json").stdout


def test_whoever_is_refused_at_a_terminal_is_told_once(
    cli: Cli, start: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start(f'{ASK}\n[approvers]\nnames = ["ada@example.org", "bob@example.org"]\n', "a.txt")
    here = Screen.here
    monkeypatch.setattr(Screen, "here", classmethod(lambda _: replace(here(), interactive=True)))

    told = CliRunner().invoke(app, ["resume", run], input="y\ny\ny\n")

    assert told.exit_code == 3 and told.stdout.count("Let s0 call write_file") == 1
    assert told.stderr.count(f"{ME} may not decide this; ada@example.org or bob@example.org has to approve") == 1
    assert "planner-executor inbox --mine" in told.stderr and not (folder / "workspace/a.txt").exists()


def test_a_harmless_plan_that_is_edited_into_one_that_others_decide_about_is_put_to_them(
    cli: Cli, folder: Path, latest: Callable[[], str]
) -> None:
    (folder / "policy.toml").write_text('[approvers.tools.write_file]\nnames = ["ada@example.org"]\n')
    calculates = {"id": "a", "objective": "add", "tool": "calculator", "args": {"expression": "1 + 1"}}
    for name, made in (("add.json", {"steps": [calculates]}), ("write.json", plan("a.txt"))):
        (folder / name).write_text(json.dumps(made))
    cli("run", "g", "--plan", "add.json", "--policy", "policy.toml")
    run = latest()

    edited = cli("resume", run, "--edit", "write.json")
    approved = cli("resume", run, "--approve")

    assert edited.exit_code == 3 and "ada@example.org has to approve" in edited.stdout.replace("`", "")
    assert f"{ME} may not decide this" in approved.stderr and not (folder / "workspace/a.txt").exists()


ADA_DECIDES = """
[tools.write_file]
verdict = "review"

[approvers.tools.write_file]
names = ["ada@example.org"]
"""
WAYS: dict[str, tuple[tuple[str, ...], ...]] = {
    "another policy": (("resume", "--policy", "lax.toml", "--approve"),),
    "another policy, by its name": (("resume", "--policy", "lax.toml", "--take-over", "--approve"),),
    "settings of one's own": (("resume", "--own-settings", "--approve"),),
    "settings of one's own, taken over": (("resume", "--own-settings", "--take-over", "--approve"),),
    "another model": (("resume", "--planner", "openai:gpt-5", "--take-over", "--approve"),),
    "another mode": (("resume", "--approval", "never", "--approve"),),
    "an approver's name": (("resume", "--as", "ada@example.org", "--approve"),),
    "an approver's name for other terms": (
        ("resume", "--as", "ada@example.org", "--policy", "lax.toml", "--take-over", "--approve"),
    ),
    "a retry": (("cancel",), ("retry", "--policy", "lax.toml", "--yes"), ("retry", "--take-over", "--yes")),
    "a retry with another plan": (("cancel",), ("retry", "--edit", "other.json", "--own-settings", "--yes")),
    "a fork": (("fork", "--from", "s0", "--policy", "lax.toml", "--take-over", "--yes"),),
    "a fork of one's own settings": (("fork", "--from", "s0", "--own-settings", "--yes"),),
    "a worker": (("work", "--policy", "lax.toml", "--once"),),
    "words": (("steer", "--approve"), ("steer", "write it"), ("resume", "--approve")),
}


@pytest.mark.usefixtures("adapter")
@pytest.mark.parametrize("way", WAYS)
def test_no_command_leads_round_who_decides(
    cli: Cli, start: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, latest: Any, way: str
) -> None:
    run = start(ADA_DECIDES, "a.txt")
    (folder / "lax.toml").write_text('[tools.write_file]\nverdict = "allow"\n')
    (folder / "other.json").write_text(json.dumps(plan("b.txt")))
    monkeypatch.setenv("PLANNER_EXECUTOR_POLICY", "lax.toml")

    for command, *options in WAYS[way]:
        said = cli(command, *([] if command == "work" else [run]), *options)
        assert said.exit_code in (0, 1, 2, 3) and not list((folder / "workspace").glob("*.txt")), said.stdout
    for name in {run, latest()}:
        cli("resume", name, "--approve")
        cli("resume", name, "--own-settings", "--approve")

    assert not list((folder / "workspace").glob("*.txt"))
    assert "was taken over" not in cli("audit", run).stdout


@pytest.mark.usefixtures("adapter")
def test_an_approver_takes_a_run_over_from_the_command_line_and_nobody_else(cli: Cli, start: Any, folder: Path) -> None:
    run = start(ADA_DECIDES, "a.txt")
    (folder / "lax.toml").write_text("")
    to_lax = ("resume", run, "--policy", "lax.toml", "--take-over", "--approve")

    refused = cli(*to_lax)
    assert (
        refused.exit_code == 2
        and "ada@example.org" in refused.stderr
        and "was taken over" not in cli("audit", run).stdout
    )
    taken = cli(*to_lax, *PROVEN)

    assert "was taken over by server:ada@example.org" in cli("audit", run).stdout, taken.stderr
