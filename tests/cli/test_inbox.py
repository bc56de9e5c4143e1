"""`inbox`, and answers that come too late, on the command line."""

import getpass
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from planner_executor.graph.cli import app
from planner_executor.graph.cli.inbox_decisions import said_of_all
from planner_executor.graph.cli.screen import Screen

Cli = Callable[..., Any]
RULES = '[approvers.tools.write_file]\nroles = ["finance"]\ndecide_within = "2d"\n'


def steps(path: str) -> dict[str, Any]:
    return {"steps": [{"id": "s", "objective": "write", "tool": "write_file", "args": {"path": path, "content": "x"}}]}


@pytest.fixture
def start(cli: Cli, folder: Path) -> Callable[..., None]:
    """Return a function that starts a run which waits, under a policy."""

    def started(goal: str, policy: str) -> None:
        (folder / "policy.toml").write_text(policy)
        (folder / "write.json").write_text(json.dumps(steps(f"{goal}.txt")))
        cli("run", goal, "--plan", "write.json", "--policy", "policy.toml")

    return started


def test_the_inbox_lists_what_waits_for_all_or_for_one(cli: Cli, start: Any) -> None:
    assert "nothing waits for a decision" in cli("inbox").stdout
    start("first", RULES)
    start("second", "")

    listed = cli("inbox").stdout
    assert listed.index("first") < listed.index("second") and "a plan to approve" in listed
    assert "(1 day left)" in listed and "policy  the role finance has to approve" in listed
    assert "takes   1 step; at most 1 tool call" in listed
    assert (
        "does    write_file path: first.txt, content: x (cannot be undone)" in listed
        and f", by os:{getpass.getuser()}" in listed
    )
    assert "second" not in cli("inbox", "--asks", "run_plan", "--text", "first.txt").stdout
    assert "group   a plan to approve: 2 requests" in cli("inbox", "--group", "what", "--sort", "deadline").stdout
    assert "use one of run_plan" in cli("inbox", "--asks", "everything").stderr
    for whose in (["--mine"], ["--as", "ada@example.org", "--role", "finance"]):
        mine = cli("inbox", *whose).stdout
        assert "second" in mine and "first" not in mine

    page = json.loads(cli("inbox", "--json", "--first", "1").stdout)
    assert [row["goal"] for row in page["inbox"]] == ["first"]
    assert page["inbox"][0]["until"] > page["inbox"][0]["since"]
    assert "second" in cli("inbox", "--after", page["next"]).stdout


def test_what_waits_is_decided_from_there_one_by_one(
    cli: Cli, start: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start("first", "")
    start("second", "")
    start("third", "")
    here = Screen.here
    monkeypatch.setattr(Screen, "here", classmethod(lambda _: replace(here(), interactive=True)))

    CliRunner().invoke(app, ["inbox"], input="\nd\ny\n")  # the next one, decide this one; then the input ends

    workspace = folder / "workspace"
    assert [(workspace / f"{goal}.txt").exists() for goal in ("first", "second", "third")] == [False, True, False]


def test_a_late_answer_is_refused_and_on_record(cli: Cli, start: Any, folder: Path, latest: Any) -> None:
    start("late", '[approvers]\ndecide_within = "0.001s"\n')

    answer = cli("resume", latest(), "--approve")

    assert answer.exit_code == 2 and not (folder / "workspace/late.txt").exists()
    assert "came too late: nobody decided until" in answer.stderr
    audit = cli("audit", latest()).stdout
    assert f"was not accepted, from os:{getpass.getuser()}: the answer came too late" in audit
    assert "rejected" in cli("show", latest()).stdout and cli("inbox", "--json").stdout.count('"run"') == 0

    start("later", '[approvers]\ndecide_within = "0.001s"\n')
    start("last", '[approvers]\ndecide_within = "0.001s"\n')
    assert "rejected" in cli("show", latest()).stdout
    assert "later" not in cli("inbox").stdout and "later" in cli("runs", "--status", "rejected").stdout


def test_alike_plans_are_approved_or_rejected_together_but_for_those_that_are_named(
    cli: Cli, start: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "are alike" in cli("inbox", "--alike").stdout
    for goal in ("first", "second", "third"):
        start(goal, "")
    listed = cli("inbox", "--alike").stdout
    assert "3 requests for one plan" in listed and 's.path = "second.txt"' in listed

    (batch,) = json.loads(cli("inbox", "--alike", "--json").stdout)
    assert [row["goal"] for row in batch["rows"]] == ["first", "second", "third"]
    here = Screen.here
    monkeypatch.setattr(Screen, "here", classmethod(lambda _: replace(here(), interactive=True)))
    CliRunner().invoke(app, ["inbox", "--alike"], input=f"{batch['rows'][2]['run']}\n")

    assert sorted(file.name for file in (folder / "workspace").glob("*.txt")) == ["first.txt", "second.txt"]

    start("fourth", "")
    CliRunner().invoke(app, ["inbox", "--alike"], input=f"n {batch['rows'][2]['run']}\n")
    assert [row["goal"] for row in json.loads(cli("inbox", "--json").stdout)["inbox"]] == ["third"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("y", (True, set())), ("a.1 b.1", (True, {"a.1", "b.1"})), ("n", (False, set())), ("No b.1", (False, {"b.1"})),
        ("", None), ("y b.1", None), ("d.1", None), ("n d.1", None), ("a.1 b.1 c.1", None), ("n a.1 b.1 c.1", None),
    ],
)  # fmt: skip
def test_what_is_said_of_alike_runs_holds_for_all_that_it_does_not_name(words: str, said: Any) -> None:
    found = said_of_all(words, {"a.1", "b.1", "c.1"})

    assert (found and (found[0].approve, found[1])) == said
    assert found is None or found[0].stop is not found[0].approve
