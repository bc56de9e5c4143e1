"""`planner-executor inbox`: what waits for people, and deciding it one by one."""

import json as json_format
import time
from collections.abc import Iterator
from typing import Annotated

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.exit_codes import on_screen
from planner_executor.graph.cli.inbox_list import page
from planner_executor.graph.cli.option_groups import with_option_groups
from planner_executor.graph.cli.run_options import RunOptions
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.ledger.database_name import shown
from planner_executor.graph.plain_text.sanitize import escaped, one_line
from planner_executor.graph.record.person import Approver
from planner_executor.graph.record.waiting_filter import WaitingOrder
from planner_executor.graph.runs.inbox_filter import ASKS, ORDERS, InboxFilter
from planner_executor.graph.runs.inbox_page import Inbox
from planner_executor.graph.text.inbox import GROUPS, Grouping, InboxRow, age_in_words, grouped, left_in_words
from planner_executor.graph.words.name_list import counted
from planner_executor.graph.words.times import local_time

GOAL_CHARACTERS, NAME_CHARACTERS = 160, 60


@on_screen
@with_option_groups
def inbox_command(
    screen: Screen,
    given: RunOptions,
    mine: Annotated[bool, typer.Option("--mine", help="Only what the user of this process may decide.")] = False,
    alike: Annotated[
        bool, typer.Option("--alike", help="Plans that differ in arguments alone, decided in one go.")
    ] = False,
    asks: Annotated[
        list[str] | None,
        typer.Option(
            "--asks", metavar="WHAT", help=f"Only what asks for this, or stopped so: {', '.join(ASKS)}. Repeatable."
        ),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option(
            "--text",
            callback=options.text,
            metavar="WORDS",
            help="Only with these words in goal, name, tag, effect or starter.",
        ),
    ] = None,
    sort: Annotated[
        WaitingOrder, typer.Option("--sort", metavar="ORDER", help=f"What comes first: {', '.join(ORDERS)}.")
    ] = "age",
    group: Annotated[
        Grouping | None, typer.Option("--group", metavar="BY", help=f"Group by: {', '.join(GROUPS)}.")
    ] = None,
    first: Annotated[
        int, typer.Option("--first", min=1, max=1_000, metavar="N", help="Number of requests, at most.")
    ] = 20,
    after: Annotated[
        str | None, typer.Option("--after", metavar="PLACE", help="The next page: what the last one names.")
    ] = None,
    json: options.Json = False,
    db: options.Database = options.DATABASE,
) -> None:
    """List what needs a person, the longest wait first, and decide it one by one.

    Below stand the runs that died, failed within a week, or are paused.
    With `--as` or `--mine` only what that person may decide, by the policy that the runs recorded. Options of `resume`
    apply to the runs that are decided. Without a terminal nothing is decided.
    """
    wanted = InboxFilter(person=_person(given, mine), text=text or "", asks=tuple(asks or ()), order=sort)
    if alike:
        from planner_executor.graph.cli.inbox_decisions import alike_in, show_alike  # imports what drives runs

        show_alike(screen, db, given, alike_in(db, wanted, first), json=json)
        return
    found = page(db, wanted, first, after)
    if json:
        print(json_format.dumps(found.to_json(), ensure_ascii=False, indent=2))  # noqa: T201  (the document)
        return
    for line in lines(found, time.time(), group):
        screen.show_fact(line)
    if not found and not found.stopped and not found.next:
        screen.say(f"nothing {'of that kind ' * bool(asks or text)}waits for a decision in {shown(db)}")
    elif found and screen.interactive:
        from planner_executor.graph.cli.inbox_decisions import decide_each  # what drives runs takes long to import

        decide_each(screen, db, given, found)


def lines(found: Inbox, now: float, group: Grouping | None = None) -> Iterator[str]:
    """Yield the lines of a page; untrusted text never starts a line (decision 0030)."""
    for heading, rows in grouped(found, group):
        if heading:
            yield f"group   {one_line(heading, NAME_CHARACTERS)}: {counted(len(rows), 'request')}"
        for row in rows:
            yield from _row(row, now)
    for stopped in found.stopped:
        yield f"run     {escaped(stopped.run)}: {stopped.told}"
        yield f"goal    {one_line(stopped.goal, GOAL_CHARACTERS)}"
        done = f"{stopped.succeeded} of {counted(stopped.steps, 'step')} done"
        yield f"since   {local_time(stopped.since, '%H:%M')}, {done}"
        yield ""
    if found.next:
        yield f"next page: --after {escaped(found.next)}"


def _row(row: InboxRow, now: float) -> Iterator[str]:
    yield f"run     {escaped(row.run)}: {row.asked}"
    yield f"goal    {one_line(row.goal, GOAL_CHARACTERS)}"
    if row.does:
        yield f"does    {one_line(row.does, GOAL_CHARACTERS)}"
    by = f", by {one_line(row.started_by, NAME_CHARACTERS)}" if row.started_by else ""
    yield f"since   {local_time(row.since, '%H:%M')} ({age_in_words(row.since, now)}){_until(row, now)}{by}"
    if row.may_take:
        yield f"takes   {escaped(row.may_take.removeprefix('To do: '))}"
    if row.cost_usd:
        yield f"cost    {row.cost_usd:.2f} USD so far"
    if row.policy:
        so_far = f"; approved so far by {', '.join(row.voters)}" if row.voters else ""
        yield f"policy  {escaped(row.policy + so_far)}"
    yield ""


def _until(row: InboxRow, now: float) -> str:
    if row.until is None:
        return ""
    return f", until {local_time(row.until, '%H:%M')} ({left_in_words(row.until, now)} left)"


def _person(given: RunOptions, mine: bool) -> Approver | None:
    """Return whose requests are listed, None for all."""
    if given.by is None and not mine:
        return None
    return given.approver(**given.settings)
