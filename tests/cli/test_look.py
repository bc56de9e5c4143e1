import getpass
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Cli = Callable[..., Result]


def test_a_folder_without_a_database_has_no_runs_and_gets_none_by_looking(cli: Cli, folder: Path) -> None:
    result = cli("runs")

    assert result.exit_code == 0
    assert "no runs in planner-executor.db yet" in result.stdout
    assert cli("show", "any.1").exit_code == 2
    assert not (folder / "planner-executor.db").exists()


def test_runs_are_listed_with_the_latest_first(cli: Cli, waiting: str) -> None:
    cli("run", "What is 6 * 7?", "--yes")

    lines = cli("runs").stdout.splitlines()
    assert lines[0].split() == ["run", "status", "steps", "changed", "took", "cost", "by", "goal"]
    assert "succeeded  1/1" in lines[1]
    assert lines[1].rstrip().endswith("What is 6 * 7?")
    assert lines[2].startswith(f"{waiting}  waiting")
    assert "0/2" in lines[2]
    first = cli("runs", "--last", "1").stdout.splitlines()
    newest = first[1].split()[0]
    assert first[-1] == f"next page: --before {newest}"
    assert cli("runs", "--before", newest).stdout.splitlines()[1].split() == lines[2].split()


def test_show_tells_who_approved_which_digest_and_what_came_of_it(cli: Cli, waiting: str) -> None:
    assert f"continue with: planner-executor resume {waiting}" in cli("show", waiting).stdout
    cli("resume", waiting, "--approve")

    shown = cli("show", waiting).stdout
    data = json.loads(cli("show", waiting, "--json").stdout)
    assert f"approve by a person, os:{getpass.getuser()}, revision 1, digest {data['digest'][:12]}" in shown
    assert "✓  sum    Add" in shown
    assert "sum succeeded in 0.0 s: 42" in shown
    assert "report: workspace/report.md" in shown
    assert data["steps"] == {"sum": "succeeded", "write": "succeeded"}
    assert data["results"]["sum"]["value"] == 42
    assert data["decisions"][0]["by"] == "person"


def test_json_is_lossless_and_still_harmless(cli: Cli) -> None:
    cli("run", "What is 6 * 7? \x1b[31m \u202e", "--yes")
    run = cli("runs").stdout.splitlines()[1].split()[0]

    shown = cli("show", run, "--json").stdout

    assert shown.isascii()
    assert "\x1b" not in shown
    assert json.loads(shown)["goal"].endswith("\x1b[31m \u202e")


def test_a_cancelled_run_is_over(cli: Cli, waiting: str) -> None:
    assert cli("cancel", waiting).stdout == f"{waiting} is cancelled\n"
    assert cli("cancel", waiting).exit_code == 0
    assert cli("resume", waiting).exit_code == 1
    assert cli("resume", waiting, "--approve").exit_code == 2


def test_a_run_that_succeeded_cannot_be_cancelled(cli: Cli, waiting: str) -> None:
    cli("resume", waiting, "--approve")

    result = cli("cancel", waiting)

    assert result.exit_code == 1
    assert "had already ended, succeeded" in result.stdout


@pytest.mark.parametrize(
    ("file", "begins"), [("p.svg", "<svg "), ("p.mmd", "flowchart TD"), ("p.txt", "○  sum"), ("p.json", '{\n  "steps"')]
)
def test_a_plan_is_drawn_into_a_file_whose_ending_says_how(
    cli: Cli, waiting: str, folder: Path, file: str, begins: str
) -> None:
    assert cli("draw", waiting, "-o", file).exit_code == 0
    assert (folder / file).read_text().startswith(begins)


def test_a_plan_is_drawn_on_the_screen(cli: Cli, waiting: str) -> None:
    assert cli("draw", waiting).stdout.startswith("○  sum    Add")


@pytest.mark.parametrize("file", ["plan.pdf", "no/such/folder/p.svg"])
def test_a_drawing_that_cannot_be_written_is_refused_in_one_sentence(cli: Cli, waiting: str, file: str) -> None:
    result = cli("draw", waiting, "-o", file)

    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1


def test_tools_say_what_they_do_and_which_approval_asks(cli: Cli) -> None:
    rows = {line.split()[0]: line.split("  ") for line in cli("tools").stdout.splitlines() if line}

    told = {name: [cell.strip() for cell in cells if cell.strip()] for name, cells in rows.items()}
    assert told["calculator"] == ["calculator", "read", "yes", "always", "expression"]
    assert told["write_report"][:4] == ["write_report", "write", "yes", "always, side_effects"]


def test_a_tool_whose_extra_is_missing_says_what_to_install(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_monty", None)

    words = " ".join(cli("tools").stdout.split())

    assert "run_python cannot be used yet, it needs: pip install '.[sandbox]' in the folder of" in words


def test_the_database_may_be_named_in_the_environment(
    cli: Cli, waiting: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "planner-executor.db").rename(folder / "other.db")
    monkeypatch.setenv("PLANNER_EXECUTOR_DB", "other.db")

    assert waiting in cli("runs").stdout


def test_a_value_is_printed_whole_and_only_where_there_is_one(cli: Cli, folder: Path) -> None:
    long = "long " * 10_000 + "\x1b[31mend"
    plan = {
        "steps": [{"id": "sum", "objective": "o", "tool": "calculator", "args": {"expression": "1"}}],
        "answer": long,
    }
    (folder / "long.json").write_text(json.dumps(plan))
    cli("run", "tell", "--plan", "long.json", "--yes")
    run = cli("runs").stdout.splitlines()[1].split()[0]

    assert cli("show", run, "--answer").stdout == "long " * 10_000 + "\\u{1b}[31mend\n"
    assert json.loads(cli("show", run, "--answer", "--json").stdout) == long
    assert cli("show", run, "--value", "sum").stdout == "1\n"
    assert cli("show", run, "--value", "other").exit_code == 2


def test_show_tells_what_was_spent_and_what_is_to_be_decided(cli: Cli, folder: Path, latest: Callable[[], str]) -> None:
    steps = [
        {"id": "sum", "objective": "Add", "tool": "calculator", "args": {"expression": "1 + 1"}},
        {"id": "city", "objective": "Know it", "ask": "Which city?", "depends_on": ["sum"]},
    ]
    (folder / "plan.json").write_text(json.dumps({"steps": steps}))
    (folder / "policy.toml").write_text("[limits]\ntool_calls = 3\n")
    given = ["--budget", "tool_calls=5", "--budget", "calls.calculator=1", "--policy", "policy.toml"]
    cli("run", "ask", "--plan", "plan.json", "--yes", *given)

    shown, data = cli("show", latest()).stdout, json.loads(cli("show", latest(), "--json").stdout)

    assert "spent   1 of 3 tool calls, 1 step, 1 of 1 call of calculator" in shown
    assert "to decide\n\ncity: Which city?" in shown
    assert (data["usage"]["tool_calls"], data["budget"]) == (1, {"tool_calls": 3, "calls": {"calculator": 1}})
    assert data["asked"] == [
        {"name": "answer_question", "args": {"step": "city", "question": "Which city?", "answer": None}}
    ]
    assert f"approve by os:{getpass.getuser()}, unseen, revision 1" in shown
