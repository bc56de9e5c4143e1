"""`planner-executor runs`: list the runs of a database."""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Annotated, Any, cast

import typer
from rich.table import Table
from rich.text import Text as TableText

from planner_executor.graph.cli import options
from planner_executor.graph.cli.command_line import db_option, program
from planner_executor.graph.cli.exit_codes import on_screen
from planner_executor.graph.cli.moment import moment
from planner_executor.graph.cli.run_list import page
from planner_executor.graph.cli.screen import Screen, cell
from planner_executor.graph.ledger.database_name import shown
from planner_executor.graph.plain_text.columns import columns, cut_words
from planner_executor.graph.plain_text.sanitize import one_line
from planner_executor.graph.record.run_filter import ORDERS, RunFilter, RunOrder
from planner_executor.graph.record.run_status import STATUSES, RunStatus
from planner_executor.graph.record.summary import RunSummary
from planner_executor.graph.runs.run_page import RunPage
from planner_executor.graph.words.times import local_time, took

GOAL_CHARACTERS, NAME_CHARACTERS = 100, 24
LEAST_ROOM = 24
"""Columns for goals, below which each run has two lines."""
GAP = "  "
ROOM_FOR_MORE = 48
"""Columns for goals, above which a row has the time and the cost of its run too."""
HEAD, HEAD_WITH_MORE = (
    ("run", "status", "steps", "changed"),
    ("run", "status", "steps", "changed", "took", "cost", "by"),
)


@on_screen
def runs(
    screen: Screen,
    last: Annotated[
        int, typer.Option("--last", min=1, max=10_000, metavar="N", help="Number of runs to list, at most.")
    ] = 20,
    status: Annotated[
        list[str] | None,
        typer.Option(
            "--status", metavar="STATUS", help=f"Only runs with this status: {', '.join(STATUSES)}. Repeatable."
        ),
    ] = None,
    tag: Annotated[
        str | None, typer.Option("--tag", callback=options.text, metavar="TAG", help="Only runs with this tag.")
    ] = None,
    since: options.Since = None,
    text: Annotated[
        str | None,
        typer.Option("--text", callback=options.text, metavar="TEXT", help="Only runs with this text in goal or name."),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option("--by", callback=options.text, metavar="NAME", help="Only runs that this person started."),
    ] = None,
    sort: Annotated[
        RunOrder, typer.Option("--sort", metavar="ORDER", help=f"What comes first: {', '.join(ORDERS)}.")
    ] = "latest",
    before: Annotated[
        str | None,
        typer.Option(
            "--before", callback=options.text, metavar="RUN", help="Only runs started before this one: the next page."
        ),
    ] = None,
    as_json: options.AsJson = False,
    db: options.Database = options.DATABASE,
) -> None:
    """List runs, the latest first, or those that cost most or took longest."""
    wanted = RunFilter(
        # Any texts, of which the filter refuses what is no status.
        status=cast("tuple[RunStatus, ...]", tuple(status or ())) or None,
        by=by,
        order=sort,
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
    width = screen.out.width
    more, few = [HEAD_WITH_MORE, *map(_more_facts, found)], [HEAD, *map(_facts, found)]
    # As many columns as the terminal has room for, goals first: they say most about a run.
    if (room := width - _width(more)) >= ROOM_FOR_MORE:
        screen.show(table_of(more, found, room))
    elif (room := width - _width(few)) >= LEAST_ROOM:
        screen.show(table_of(few, found, room))
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
    return run.id, run.status, run.done, local_time(run.updated_at, "%H:%M")


def _more_facts(run: RunSummary) -> tuple[str, ...]:
    cost = f"{run.cost_usd:.2f} USD" if run.cost_usd else "-"
    return *_facts(run), took(run.took_s), cost, one_line(run.started_by, NAME_CHARACTERS)


def _width(facts: Sequence[Sequence[str]]) -> int:
    return sum(max(columns(one_line(words)) for words in cells) + len(GAP) for cells in zip(*facts, strict=True))


def table_of(facts: Sequence[Sequence[str]], found: RunPage, room: int) -> Table:
    """Return a table with a row per run, of facts below their heads; `room` are the columns for goals."""
    table = Table(*facts[0], "goal", box=None, pad_edge=False, header_style="bold")
    for column in table.columns:
        column.no_wrap = True
    for cells, run in zip(facts[1:], found, strict=True):
        table.add_row(*map(cell, cells), TableText(cut_words(one_line(run.goal), min(room, GOAL_CHARACTERS))))
    return table


def lines_of(found: RunPage, width: int) -> Iterator[str]:
    """Yield two lines for each run: what a narrow terminal has no columns for."""
    for run in found:
        yield GAP.join(map(one_line, _facts(run)))
        yield GAP + cut_words(one_line(run.goal), width - len(GAP))
