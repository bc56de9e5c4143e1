"""`planner-executor runs`: list the runs of a database."""

import json
import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text as TableText

from planner_executor.graph.cli import options
from planner_executor.graph.cli.command_line import db_option, program
from planner_executor.graph.cli.exit_codes import report_errors
from planner_executor.graph.cli.local_time import local_time
from planner_executor.graph.cli.moment import moment
from planner_executor.graph.cli.run_lookup import page
from planner_executor.graph.cli.screen import Screen, cell
from planner_executor.graph.ledger.drivers import shown
from planner_executor.graph.plain_text.sanitize import one_line
from planner_executor.graph.record.run_filter import STATUSES, RunFilter, RunStatus
from planner_executor.graph.record.summary import RunSummary
from planner_executor.graph.runs import RunPage
from planner_executor.graph.text.drawing.labels import columns, cut_words

GOAL_CHARACTERS = 100
LEAST_ROOM = 24
"""Columns for goals, below which each run has two lines."""
GAP = "  "
HEAD = ("run", "status", "steps", "changed")


Last = Annotated[int, typer.Option("--last", min=1, max=10_000, metavar="N", help="Number of runs to list, at most.")]
Before = Annotated[
    str | None,
    typer.Option(
        "--before", callback=options.text, metavar="RUN", help="Only runs started before this one: the next page."
    ),
]
OfStatus = Annotated[
    RunStatus | None,
    typer.Option("--status", metavar="STATUS", help=f"Only runs with this status: {', '.join(STATUSES)}."),
]
Tag = Annotated[
    str | None, typer.Option("--tag", callback=options.text, metavar="TAG", help="Only runs with this tag.")
]
Text = Annotated[
    str | None,
    typer.Option("--text", callback=options.text, metavar="TEXT", help="Only runs with this text in goal or name."),
]
Since = Annotated[
    str | None,
    typer.Option(
        "--since",
        callback=options.text,
        metavar="WHEN",
        help="Only runs started since: 90m, 24h, 7d, or 2026-11-01[T09:30].",
    ),
]


def runs(
    last: Last = 20,
    status: OfStatus = None,
    tag: Tag = None,
    since: Since = None,
    text: Text = None,
    before: Before = None,
    as_json: options.AsJson = False,
    db: options.Database = options.DATABASE,
) -> None:
    """List runs, latest first."""
    screen = Screen.here()
    with report_errors(screen):
        wanted = RunFilter(
            status=status,
            tag=tag,
            text=text,
            before=before,
            since=moment(since, time.time(), "--since") if since else None,
            limit=last,
        )
        found = page(db, wanted)
        if as_json:
            print(_as_json(found))  # noqa: T201  (standard output is the document)
        elif found:
            show_runs(screen, found)
        elif wanted != RunFilter(limit=last):
            screen.say("no run matches; `planner-executor runs` lists all")
        else:
            screen.say(f"no runs in {shown(db)} yet; start one with: {program()} run GOAL{db_option(db)}")


def show_runs(screen: Screen, found: RunPage) -> None:
    """Print a line for each run, or two on a terminal that has no columns for goals."""
    width, facts = screen.out.width, zip(HEAD, *map(_facts, found), strict=True)
    taken = sum(max(columns(one_line(words)) for words in cells) + len(GAP) for cells in facts)
    if width - taken >= LEAST_ROOM:
        screen.show(table_of(found, width - taken))
    else:
        for line in lines_of(found, width):
            screen.show_text(line)
    if found.next:
        screen.say(f"next page: --before {found.next}")


def _as_json(found: RunPage) -> str:
    """Return a page as JSON: `{"runs": [...], "next": RUN | null}`."""
    return json.dumps({"runs": list(map(_data, found)), "next": found.next}, ensure_ascii=False, indent=2)


def _data(run: RunSummary) -> dict[str, Any]:
    return {"id": run.id, **run._asdict(), "review": asdict(run.review) if run.review is not None else None}


def _facts(run: RunSummary) -> tuple[str, ...]:
    return run.id, run.status, _steps(run), local_time(run.updated_at, "%H:%M")


def table_of(found: RunPage, room: int) -> Table:
    """Return a table with a row per run; `room` are the columns for goals."""
    table = Table(*HEAD, "goal", box=None, pad_edge=False, header_style="bold")
    for column in table.columns:
        column.no_wrap = True
    for run in found:
        table.add_row(*map(cell, _facts(run)), TableText(cut_words(one_line(run.goal), min(room, GOAL_CHARACTERS))))
    return table


def lines_of(found: RunPage, width: int) -> Iterator[str]:
    """Yield two lines for each run: what a narrow terminal has no columns for."""
    for run in found:
        yield GAP.join(map(one_line, _facts(run)))
        yield GAP + cut_words(one_line(run.goal), width - len(GAP))


def _steps(run: RunSummary) -> str:
    return f"{run.succeeded}/{run.steps}" if run.revision else "-"
