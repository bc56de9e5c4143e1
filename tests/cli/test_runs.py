import gzip
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import Result

from planner_executor.graph.cli.commands.runs import show_runs
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.ledger.sqlite.schema import VERSION
from planner_executor.graph.record.summary import RunSummary
from planner_executor.graph.runs.run_page import RunPage

Cli = Callable[..., Result]
DATA = Path(__file__).parents[1] / "data"
OLD = DATA / "schema_1" / "runs.db.gz"


def listed(result: Result) -> list[str]:
    return [line.split()[0] for line in result.stdout.splitlines()[1:]]


@pytest.fixture
def old(folder: Path) -> Path:
    path = folder / "planner-executor.db"
    path.write_bytes(gzip.decompress(OLD.read_bytes()))
    return path


def test_runs_are_cut_by_status_tag_text_and_start(cli: Cli, waiting: str) -> None:
    cli("run", "What is 6 * 7?", "--yes", "--tag", "nightly", "--tag", "sums")
    (done,) = listed(cli("runs", "--tag", "nightly"))

    assert listed(cli("runs", "--status", "waiting")) == [waiting]
    assert listed(cli("runs", "--status", "succeeded", "--text", "6 * 7")) == [done]
    assert listed(cli("runs", "--since", "1d")) == [done, waiting]
    assert cli("runs", "--since", "2999-01-01").stdout == "no run matches; `planner-executor runs` lists all\n"


def test_a_moment_that_cannot_be_read_is_one_sentence(cli: Cli, waiting: str) -> None:
    result = cli("runs", "--since", "yesterday")

    assert result.exit_code == 2 and "write 24h, 7d or 2026-11-01" in result.stderr


def test_a_list_for_programs_says_where_the_next_page_begins(cli: Cli, waiting: str) -> None:
    cli("run", "What is 6 * 7?", "--yes", "--tag", "sums")

    first = json.loads(cli("runs", "--json", "--last", "1").stdout)
    second = json.loads(cli("runs", "--json", "--last", "1", "--before", first["next"]).stdout)
    assert [run["status"] for run in first["runs"]] == ["succeeded"] and first["runs"][0]["tags"] == ["sums"]
    assert [run["id"] for run in second["runs"]] == [waiting] and second["next"] is None
    assert second["runs"][0]["asks"] == ["run_plan"]


def test_the_beginning_of_a_name_is_enough_if_only_one_run_has_it(cli: Cli, waiting: str) -> None:
    assert json.loads(cli("show", waiting[:3], "--json").stdout)["run"] == waiting
    assert cli("show", "").exit_code == 2


def test_the_beginning_of_several_names_is_refused_with_the_names(cli: Cli, waiting: str, folder: Path) -> None:
    cli("run", "What is 6 * 7?", "--yes")
    other = next(name for name in listed(cli("runs")) if name != waiting)
    with closing(sqlite3.connect(folder / "planner-executor.db")) as db:
        db.execute("UPDATE ledger_runs SET thread = 'same-' || thread")
        db.commit()

    result = cli("show", "same")
    assert result.exit_code == 2 and f"same-{waiting}" in result.stderr and f"same-{other}" in result.stderr


def test_an_older_database_is_migrated_after_a_look_at_what_that_means(cli: Cli, old: Path) -> None:
    before = old.read_bytes()

    told = cli("migrate", "--dry-run").stdout
    assert f"would be migrated from version 1 to {VERSION}" in told and "8 runs" in told and old.read_bytes() == before
    assert f"was migrated from version 1 to {VERSION}" in cli("migrate").stdout
    assert "needs no migration" in cli("migrate").stdout and len(listed(cli("runs"))) == 8


def test_the_doctor_finds_and_mends_an_index_that_differs(
    cli: Cli, waiting: str, change: Callable[[str], None]
) -> None:
    change("UPDATE ledger_index SET status = 'succeeded'")

    assert f"run {waiting}: the index differs" in cli("doctor").stdout
    assert cli("doctor", "--reindex").stdout == "runs in the rebuilt index: 1\n"
    assert "differs" not in cli("doctor").stdout and listed(cli("runs", "--status", "waiting")) == [waiting]


@pytest.fixture
def change(folder: Path) -> Callable[[str], None]:
    def changed(statement: str) -> None:
        with closing(sqlite3.connect(folder / "planner-executor.db")) as db:
            db.execute(statement)
            db.commit()

    return changed


def test_a_migration_names_no_index_that_is_there_already(cli: Cli, folder: Path) -> None:
    (folder / "planner-executor.db").write_bytes(gzip.decompress((DATA / "schema_2" / "runs.db.gz").read_bytes()))

    told = cli("migrate", "--dry-run").stdout
    assert f"from version 2 to {VERSION}: " in told and "new events may be packed" in told and "index" not in told


def test_a_wide_terminal_says_what_each_run_took_and_cost_and_who_started_it() -> None:
    out = StringIO()
    console = Console(file=out, width=140, force_terminal=True, color_system=None, markup=False, highlight=False)
    run = RunSummary("demo", 1, 9, "failed", goal="g", ended_at=75.0, cost_usd=1.5, started_by="os:ada")

    show_runs(Screen(console, console), RunPage((run,)))

    assert all(words in out.getvalue() for words in ("1 min 15 s", "1.50 USD", "os:ada"))


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_list_of_runs_names_each_with_its_status_on_a_terminal_of_any_width(width: int) -> None:
    out = StringIO()
    console = Console(file=out, width=width, force_terminal=True, color_system=None, markup=False, highlight=False)
    goal = "Find out why checkout fails with 500, write it down and tell the team"
    runs = RunPage(tuple(RunSummary(f"demo{n}", 1, 1, "budget_exhausted", goal=goal, revision=1) for n in range(3)))

    show_runs(Screen(console, console), runs)

    lines = out.getvalue().splitlines()
    assert all(any(f"demo{n}.1" in line and "budget_exhausted" in line for line in lines) for n in range(3))
    assert max(map(len, lines)) <= width and sum("Find out" in line and "team" in line for line in lines) == 3


@pytest.mark.parametrize(
    "line", ["goal    " + "one two three " * 9, "takes   2 steps, 2 of them one after the other; at most 2 calls."]
)
def test_a_fact_goes_on_below_itself_on_a_narrow_terminal(line: str) -> None:
    out = StringIO()
    console = Console(file=out, width=60, force_terminal=True, color_system=None, markup=False, highlight=False)

    Screen(console, console).show_fact(line)

    first, *others = out.getvalue().splitlines()
    assert first[:9] == line[:9] and max(map(len, [first, *others])) <= 60
    assert others and all(other.startswith(" " * 8) for other in others)
    assert " ".join(out.getvalue().split()) == " ".join(line.split())
