"""`policy show` and `policy check`: what is in force, and what would come of a plan."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from planner_executor.graph.prompts.executor import EXECUTOR
from planner_executor.graph.prompts.roles import PROMPTS

Cli = Callable[..., Result]
PARTS = ("toml", "json", "text")
RULES = """\
approval = "side_effects"

[effects]
external = "review"

[tools]
move_file.verdict = "deny"

[tools.write_file.args]
path = { within = ["reports"], untrusted_from = ["list_files"] }

[limits]
tool_calls = 3
calls = { write_file = 1 }

[rates]
web_search = 30
"""


@pytest.fixture(autouse=True)
def policy(folder: Path) -> Path:
    file = folder / "policy.toml"
    file.write_text(RULES)
    return file


def steps(folder: Path, *given: tuple[str, dict[str, Any]]) -> str:
    """Write a plan of calls, `a` first, and return the name of its file."""
    named = zip("abcdef", given, strict=False)
    plan = [{"id": name, "objective": "o", "tool": tool, "args": args} for name, (tool, args) in named]
    (folder / "plan.json").write_text(json.dumps({"steps": plan}))
    return "plan.json"


def test_show_lists_what_is_asked_what_is_denied_what_stops_a_run_and_the_prompts(cli: Cli) -> None:
    shown = cli("policy", "show", "policy.toml")

    assert shown.exit_code == 0
    lines = shown.stdout.splitlines()
    for line in (
        "approval side_effects",
        "- a plan with a step that has an effect, and a revision that changes one or what comes before it",
        "- a plan that uses what has an effect: write_report (write), write_file (write)",
        "- calls of write_file whose path (but from list_files) or overwrite comes from untrusted data",
        "- a limit of the budget that is reached",
        "- move_file (write)",
        "- write_file unless path is within reports",
        "- 3 tool calls in a run",
        "- 1 call of write_file in a run",
        "- at most 30 calls of web_search a minute, over all runs",
        "- 2 revisions after failures (max_replans)",
    ):
        assert line in lines
    for role in PROMPTS:
        assert f"{role}:" in lines
    assert f"  {EXECUTOR.splitlines()[0]}" in lines


def test_show_without_a_file_shows_what_runs_get(cli: Cli, monkeypatch: pytest.MonkeyPatch, policy: Path) -> None:
    assert "policy none" in cli("policy", "show").stdout
    assert "- every plan, and every revision beyond what was approved" in cli("policy", "show").stdout

    monkeypatch.setenv("PLANNER_EXECUTOR_POLICY", policy.name)
    assert "- 3 tool calls in a run" in cli("policy", "show").stdout
    assert "- every plan, and" in cli("policy", "show", "--approval", "always").stdout


def test_a_policy_that_is_understood_is_said_to_be(cli: Cli) -> None:
    result = cli("policy", "check", "policy.toml")

    assert (result.exit_code, "policy.toml is valid" in result.stdout) == (0, True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('approval = "side_effects"\n\n[effects]\nexternl = "deny"', "line 4: effects.externl is unknown"),
        ('[tools.write_fil]\nverdict = "deny"', "line 1: tools.write_fil is not a known tool"),
        ('[tools.pay]\nverdict = "deny"', "name a tool of yours with --tools or --mcp"),
        ('[tools.write_file]\nargs.pat = { one_of = ["x"] }', "line 2: tools.write_file.args.pat is not an argument"),
        ("[limits]\ncost_usd = 1", "has no price, so cost_usd cannot hold"),
        ("[limits", "not valid TOML"),
    ],
)
def test_what_is_not_understood_is_named_with_its_line(
    cli: Cli, policy: Path, monkeypatch: pytest.MonkeyPatch, text: str, words: str
) -> None:
    policy.write_text(text)
    monkeypatch.setenv("PLANNER_EXECUTOR_PLANNER", "openai:gpt-5-mini")
    monkeypatch.setenv("OPENAI_API_KEY", "none")

    result = cli("policy", "check", "policy.toml")

    assert (result.exit_code, words in result.stderr) == (2, True)


def test_a_plan_that_nobody_is_asked_about(cli: Cli, folder: Path) -> None:
    result = cli("policy", "check", "policy.toml", steps(folder, ("calculator", {"expression": "1 + 1"})))

    assert (result.exit_code, result.stdout.splitlines()[1:]) == (
        0,
        ["nothing is denied, no review is needed", "limited: 3 tool calls in a run, which nobody can raise"],
    )


def test_a_result_that_a_person_supplies_leads_to_those_who_decide_about_calls_on_it(cli: Cli, folder: Path) -> None:
    (folder / "policy.toml").write_text('[approvers.tools.write_file]\nnames = ["ada"]\n')
    file = steps(folder, ("read_file", {"path": "x"}), ("write_file", {"path": "y", "content": "{a_result.text}"}))

    result = cli("policy", "check", "policy.toml", file, "--approval", "never")

    assert result.exit_code == 0
    assert [line.strip() for line in result.stdout.splitlines()[1:]] == [
        "nothing is denied, no review is needed",
        "if supplied: a result for a: It reaches calls of write_file: ada has to approve. From anybody else it stands, "
        "and these calls are shown by themselves",
    ]


def test_what_is_asked_of_a_plan_and_why(cli: Cli, folder: Path) -> None:
    file = steps(
        folder,
        ("read_file", {"path": "x"}),
        ("write_file", {"path": "{a_result.text}", "content": "{a_result.text}"}),
        ("web_search", {"query": "wind"}),
        ("write_file", {"path": "reports/x", "content": "y"}),
    )

    result = cli("policy", "check", "policy.toml", file)

    assert result.exit_code == 3
    assert result.stdout.splitlines()[1:] == [
        "asked: b: the plan is shown, since write_file changes something here",
        "asked: c: the plan is shown, since the policy has web_search reviewed",
        "asked: d: the plan is shown, since write_file changes something here",
        "asked: b: its call of write_file is shown, since path comes from read_file",
        "asked: the limit tool_calls of 3 may be reached: the plan takes up to 4",
        "asked: the limit calls.write_file of 1 may be reached: the plan takes up to 2",
        "refused: b: its call of write_file, unless path is within reports",
        "limited: 3 tool calls in a run, which nobody can raise",
        "limited: 1 call of write_file in a run, which nobody can raise",
        "counted: at most 30 calls of web_search a minute, over all runs; a call waits for its turn",
    ]


def test_what_is_denied_of_a_plan_and_why(cli: Cli, folder: Path) -> None:
    file = steps(
        folder,
        ("move_file", {"path": "a", "to": "b"}),
        ("write_file", {"path": "elsewhere/x", "content": "y"}),
    )

    result = cli("policy", "check", "policy.toml", file)

    assert result.exit_code == 1
    assert "denied: a: tool: the policy denies move_file" in result.stdout
    assert "denied: b: args.path: the policy forbids this value to write_file" in result.stdout
    assert cli("run", "move", "--plan", file, "--policy", "policy.toml", "--yes").exit_code == 1


def test_a_plan_that_cannot_run_is_no_matter_of_policy(cli: Cli, folder: Path) -> None:
    result = cli("policy", "check", "policy.toml", steps(folder, ("nope", {})))

    assert (result.exit_code, "the plan is invalid: a" in result.stderr) == (2, True)


def test_tools_of_servers_are_known(cli: Cli, policy: Path, small: Any, folder: Path) -> None:
    (folder / "servers.json").write_text(json.dumps({"mcpServers": {"small": small.entry()}}))
    policy.write_text('[tools.note]\nverdict = "deny"\n')

    assert cli("policy", "check", "policy.toml").exit_code == 2
    assert cli("policy", "check", "policy.toml", "--mcp", "servers.json").exit_code == 0
    assert "- note (write)" in cli("policy", "show", "policy.toml", "--mcp", "servers.json").stdout


def test_the_example_of_the_documentation_says_what_the_page_says(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[2] / "docs/policy.md").read_text()
    (example, *_), plans, (said, *_) = (re.findall(rf"```{kind}\n(.*?)```", page, re.DOTALL) for kind in PARTS)
    (plan,) = (one for one in plans if '"steps"' in one)
    (folder / "policy.toml").write_text(example)
    (folder / "plan.json").write_text(plan)
    offline = cli("policy", "check", "policy.toml", "plan.json")
    monkeypatch.setenv("PLANNER_EXECUTOR_PLANNER", "openai:gpt-5-mini")
    monkeypatch.setenv("OPENAI_API_KEY", "none")

    result = cli("policy", "check", "policy.toml", "plan.json")

    assert (result.exit_code, result.stdout) == (offline.exit_code, offline.stdout) == (3, said)


def test_a_policy_is_tried_on_recorded_runs_without_any_of_their_calls(folder: Path, cli: Cli) -> None:
    assert cli("run", "add", "--plan", "plan.json", "--yes").exit_code == 0
    written = next((folder / "workspace").rglob("*.md"))
    written.unlink()
    (folder / "strict.toml").write_text('[tools.write_report]\nverdict = "deny"\n')
    (folder / "same.toml").write_text("")

    strict, same = cli("policy", "try", "strict.toml", "--since", "30d"), cli("policy", "try", "same.toml")
    data = json.loads(cli("policy", "try", "strict.toml", "--json").output)

    assert same.exit_code == 0, same.output
    assert strict.exit_code == 1 and not written.exists()
    assert "write write_report: would be denied, was let through" in strict.output
    assert "1 run, 3 plans or calls; otherwise: 0 asked, 2 denied, 0 let through, 0 unknown" in strict.output
    assert [(one["step"], one["was"], one["would"]) for one in data] == [
        (None, "asked", "denied"),
        ("write", "let through", "denied"),
    ]
    assert cli("run", "add", "--plan", "plan.json", "--policy", "strict.toml", "--yes").exit_code == 1
    refused = cli("policy", "try", "same.toml")
    assert "the plan: not known, was denied: a refused plan is not on record" in refused.output, refused.output
