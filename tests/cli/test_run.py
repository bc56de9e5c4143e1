import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Cli = Callable[..., Result]


def test_without_a_terminal_a_run_stops_at_the_review_and_says_how_to_go_on(
    cli: Cli, latest: Callable[[], str], folder: Path
) -> None:
    result = cli("run", "add", "--plan", "plan.json")

    run = latest()
    assert result.exit_code == 3
    assert "calculator expression=" in result.stdout
    assert "write_report (write)" in result.stdout
    for decision in ("--approve", "--reject", "--edit FILE", "--feedback TEXT"):
        assert f"planner-executor resume {run} {decision}" in result.stdout
    assert not (folder / "workspace").exists()


def test_the_printed_commands_name_a_database_that_is_not_the_default(cli: Cli) -> None:
    result = cli("run", "add", "--plan", "plan.json", "--db", "my runs.db")

    printed = [line for line in result.stdout.splitlines() if "planner-executor resume" in line]
    assert printed
    assert all(line.endswith("--db 'my runs.db'") for line in printed)


def test_yes_approves_and_says_so_and_the_answer_and_the_report_are_told(
    cli: Cli, latest: Callable[[], str], folder: Path
) -> None:
    result = cli("run", "add", "--plan", "plan.json", "--yes")

    digest = json.loads(cli("show", latest(), "--json").stdout)["digest"]
    assert result.exit_code == 0
    assert f"approved by --yes: revision 1, digest {digest[:12]}\n" in result.stdout
    assert "sum running …" in result.stdout
    assert "sum succeeded in " in result.stdout
    assert "\nsucceeded: 2 of 2 steps succeeded\n\nit is 42\n" in result.stdout
    assert "written: workspace/report.md" in result.stdout
    assert f"planner-executor show {latest()}" in result.stdout
    assert (folder / "workspace/report.md").read_text().strip() == "it is 42"


def test_without_a_model_the_embedded_rules_plan_and_that_is_said(cli: Cli) -> None:
    result = cli("run", "What is 6 * 7?", "--yes")

    assert result.exit_code == 0
    assert "planner: the embedded rules (offline)" in result.stdout
    assert "\n42\n" in result.stdout


def test_a_plan_that_only_reads_needs_no_person_where_side_effects_are_what_is_approved(cli: Cli) -> None:
    assert cli("run", "What is 6 * 7?", "--approval", "side_effects").exit_code == 0
    assert cli("run", "add", "--plan", "plan.json", "--approval", "side_effects").exit_code == 3


def test_a_run_remembers_what_it_works_with(cli: Cli, latest: Callable[[], str], folder: Path) -> None:
    (folder / "texts").mkdir()

    cli("run", "add", "--plan", "plan.json", "--docs", "texts", "--max-replans", "0", "--constraint", "be brief")

    told = json.loads(cli("show", latest(), "--json").stdout)
    assert told["constraints"] == ["be brief"]
    assert told["setup"] == {
        "documents": str(folder / "texts"),
        "workspace": str(folder / "workspace"),
        "models": {},
        "config": None,
        "mcp": None,
        "policy": None,
        "approval": None,
        "replan": "failure",
        "horizon": None,
        "max_replans": 0,
        "max_repairs": 3,
        "max_concurrency": 16,
        "own_tools": [],
        "packs": None,
    }


def test_one_step_is_planned_at_a_time_also_after_a_resume(cli: Cli, latest: Callable[[], str]) -> None:
    waits = cli("run", "What is 12 * 4 + 5?", "--horizon", "1")
    assert waits.exit_code == 3 and "To do: 1 step; at most 1 tool call." in waits.stdout

    assert cli("resume", latest(), "--approve").exit_code == 3
    ended = cli("resume", latest(), "--approve")

    assert ended.exit_code == 0 and "\n53\n" in ended.stdout
    told = json.loads(cli("show", latest(), "--json").stdout)
    assert told["revision"] == 3 and told["setup"]["horizon"] == 1


def test_a_run_that_is_never_replanned_ends_with_its_failure(cli: Cli) -> None:
    result = cli("run", "What is 12 / 0 + 5?", "--replan", "never", "--yes")

    assert result.exit_code == 1 and "step_1 failed" in result.stdout and "Revision 2" not in result.stdout


def test_a_plan_with_faults_fails_with_every_fault(cli: Cli, folder: Path) -> None:
    (folder / "plan.json").write_text('[{"id": "a", "objective": "x", "tool": "nope", "depends_on": ["b"]}]')

    result = cli("run", "add", "--plan", "plan.json", "--yes")

    assert result.exit_code == 1
    assert "'nope'" in result.stdout
    assert "'b'" in result.stdout


def test_a_step_that_fails_ends_the_run_with_its_error(cli: Cli, folder: Path) -> None:
    plan = {"steps": [{"id": "sum", "objective": "Add", "tool": "calculator", "args": {"expression": "1 / 0"}}]}
    (folder / "plan.json").write_text(json.dumps(plan))

    result = cli("run", "add", "--plan", "plan.json", "--yes", "--max-replans", "0")

    assert result.exit_code == 1
    assert "✗ sum failed in" in result.stdout
    assert "\nfailed: sum failed: " in result.stdout


def test_words_of_a_plan_cannot_steer_the_terminal(cli: Cli, latest: Callable[[], str], folder: Path) -> None:
    trick = "\x1b]0;owned\x07\x1b[2J[bold]not bold[/bold] :smile: \u202etxet"
    plan = {"steps": [{"id": "sum", "objective": trick, "tool": "calculator", "args": {"expression": "1"}}]}
    (folder / "plan.json").write_text(json.dumps({**plan, "answer": trick}))

    result = cli("run", "add", "--plan", "plan.json", "--yes")
    shown = cli("show", latest())

    for told in (result.stdout, shown.stdout):
        assert "\\u{1b}[2J[bold]not bold[/bold] :smile: \\u{202e}txet" in told
        assert "\x1b" not in told
        assert "\u202e" not in told


@pytest.mark.parametrize(("makes", "words"), [(False, "does not exist"), (True, "is empty")])
def test_a_documents_folder_without_documents_is_named_before_anything_is_planned(
    cli: Cli, folder: Path, makes: bool, words: str
) -> None:
    if makes:
        (folder / "docs").mkdir()

    said = cli("run", "Research wind and write a brief report").stdout

    assert f"the documents folder {folder / 'docs'} {words}; name another with --docs" in said


def test_a_run_over_a_limit_of_the_day_is_paused_with_the_time_and_the_next_move(
    cli: Cli, latest: Callable[[], str], folder: Path
) -> None:
    (folder / "policy.toml").write_text("[limits.per_day]\ncalls = { write_report = 1 }")
    cli("run", "add", "--plan", "plan.json", "--yes", "--policy", "policy.toml")
    (folder / "workspace/report.md").unlink()

    result = cli("run", "add", "--plan", "plan.json", "--yes", "--policy", "policy.toml")

    assert result.exit_code == 3
    assert "\npaused: at most 1 call of write_report a day, used up until 2" in result.stdout
    assert f"continue then with: planner-executor resume {latest()}" in result.stdout
    assert not (folder / "workspace/report.md").exists()
