"""`planner-executor inbox`: what waits for people, and deciding it one by one."""

import json as json_format
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.decision_source import DecisionSource
from planner_executor.graph.cli.exit_codes import report_errors
from planner_executor.graph.cli.local_time import local_time
from planner_executor.graph.cli.option_groups import with_option_groups
from planner_executor.graph.cli.prompts import Postponed, read_answer
from planner_executor.graph.cli.resumed_setup import opened_setup
from planner_executor.graph.cli.run_driver import continue_run
from planner_executor.graph.cli.run_lookup import find_run, is_missing, with_runs
from planner_executor.graph.cli.run_options import RunOptions
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.errors import AgentError
from planner_executor.graph.ledger.drivers import shown
from planner_executor.graph.plain_text.sanitize import escaped, one_line
from planner_executor.graph.record.person import Approver
from planner_executor.graph.runs import Run
from planner_executor.graph.runs.inbox import Inbox, inbox
from planner_executor.graph.text.inbox import InboxRow, left_in_words

GOAL_CHARACTERS = 160
QUESTION = "{run}: d: look at it and decide, s: stop, anything else: the next one: "

First = Annotated[int, typer.Option("--first", min=1, max=1_000, metavar="N", help="Number of requests, at most.")]
After = Annotated[str | None, typer.Option("--after", metavar="PLACE", help="The next page: what the last one names.")]
Mine = Annotated[bool, typer.Option("--mine", help="Only what the user of this process may decide.")]


@with_option_groups
def inbox_command(
    given: RunOptions,
    mine: Mine = False,
    first: First = 20,
    after: After = None,
    json: options.Json = False,
    db: options.Database = options.DATABASE,
) -> None:
    """List what waits for a decision, the longest wait first, and decide it one by one.

    With `--as` or `--mine` only what that person may decide, by the policy that the runs recorded. Options of `resume`
    apply to the runs that are decided. Without a terminal nothing is decided.
    """
    screen = Screen.beside_json() if json else Screen.here()
    with report_errors(screen):
        given.check()
        if is_missing(db):
            found = Inbox(())
        else:
            found = with_runs(db, partial(inbox, person=_person(given, mine), limit=first, after=after))
        if json:
            print(json_format.dumps(found.to_json(), ensure_ascii=False, indent=2))  # noqa: T201  (the document)
            return
        for line in lines(found, time.time()):
            screen.show_fact(line)
        if not found:
            screen.say(f"nothing waits for a decision in {shown(db)}")
        elif screen.interactive:
            with suppress(Postponed):  # the input is at its end
                _decide_each(screen, db, given, found)


def lines(found: Inbox, now: float) -> Iterator[str]:
    """Yield the lines of a page; untrusted text never starts a line (decision 0030)."""
    for row in found:
        yield f"run     {escaped(row.run)}: {row.asked}"
        yield f"goal    {one_line(row.goal, GOAL_CHARACTERS)}"
        yield f"since   {local_time(row.since, '%H:%M')}{_until(row, now)}"
        if row.may_take:
            yield f"takes   {escaped(row.may_take.removeprefix('To do: '))}"
        if row.policy:
            so_far = f"; approved so far by {', '.join(row.voters)}" if row.voters else ""
            yield f"policy  {escaped(row.policy + so_far)}"
        yield ""
    if found.next:
        yield f"next page: --after {escaped(found.next)}"


def _until(row: InboxRow, now: float) -> str:
    if row.until is None:
        return ""
    return f", until {local_time(row.until, '%H:%M')} ({left_in_words(row.until, now)} left)"


def _person(given: RunOptions, mine: bool) -> Approver | None:
    """Return whose requests are listed, None for all."""
    if given.by is None and not mine:
        return None
    return given.approver(**given.settings)


def _decide_each(screen: Screen, db: str | Path, given: RunOptions, found: Inbox) -> None:
    """Offer the requests one by one; what cannot be decided here is said, and the next one is offered."""
    for row in found:
        answer = read_answer(screen, QUESTION.format(run=row.run)).lower()
        if answer in ("s", "stop"):
            return
        if answer in ("d", "decide"):
            try:
                _decide(screen, db, given, find_run(db, row.run))
            except AgentError as error:
                screen.complain(str(error))


def _decide(screen: Screen, db: str | Path, given: RunOptions, run: Run) -> None:
    settings = given.settings

    opened = partial(opened_setup, screen, run, settings)

    continue_run(screen, db, DecisionSource(screen, db, by=given.by), run, opened)
