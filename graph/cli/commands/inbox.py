"""`planner-executor inbox`: what waits for people, and deciding it one by one."""

import json as json_format
import time
from collections.abc import Iterator, Set
from contextlib import suppress
from dataclasses import replace
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
from planner_executor.graph.cli.run_list import is_missing
from planner_executor.graph.cli.run_lookup import find_run, with_runs
from planner_executor.graph.cli.run_options import RunOptions
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.errors import AgentError
from planner_executor.graph.ledger.database_name import shown
from planner_executor.graph.plain_text.sanitize import escaped, one_line
from planner_executor.graph.record.person import Approver
from planner_executor.graph.record.waiting_filter import WaitingOrder
from planner_executor.graph.review.alike import Batch
from planner_executor.graph.review.request import digest_of_all
from planner_executor.graph.review.response import RequestJson, ReviewResponse, reason_for
from planner_executor.graph.runs.alike import alike_requests
from planner_executor.graph.runs.inbox import Inbox, inbox
from planner_executor.graph.runs.inbox_filter import ASKS, ORDERS, InboxFilter
from planner_executor.graph.runs.run import Run
from planner_executor.graph.text.inbox import GROUPS, Grouping, InboxRow, age_in_words, grouped, left_in_words
from planner_executor.graph.words.name_list import counted

GOAL_CHARACTERS, NAME_CHARACTERS = 160, 60
QUESTION = "{run}: d: look at it and decide, s: stop, anything else: the next one: "

First = Annotated[int, typer.Option("--first", min=1, max=1_000, metavar="N", help="Number of requests, at most.")]
After = Annotated[str | None, typer.Option("--after", metavar="PLACE", help="The next page: what the last one names.")]
Asks = Annotated[
    list[str] | None,
    typer.Option(
        "--asks", metavar="WHAT", help=f"Only what asks for this, or stopped so: {', '.join(ASKS)}. Repeatable."
    ),
]
Text = Annotated[
    str | None,
    typer.Option(
        "--text",
        callback=options.text,
        metavar="WORDS",
        help="Only with these words in goal, name, tag, effect or starter.",
    ),
]
Sort = Annotated[WaitingOrder, typer.Option("--sort", metavar="ORDER", help=f"What comes first: {', '.join(ORDERS)}.")]
Group = Annotated[Grouping | None, typer.Option("--group", metavar="BY", help=f"Group by: {', '.join(GROUPS)}.")]
TOGETHER = (
    "y: approve these, RUN ...: approve all but these, n: reject these and end their runs, n RUN ...: reject all but "
    "these, s: stop, anything else: decide none of them: "
)
Alike = Annotated[bool, typer.Option("--alike", help="Plans that differ in arguments alone, decided in one go.")]
Mine = Annotated[bool, typer.Option("--mine", help="Only what the user of this process may decide.")]


@with_option_groups
def inbox_command(
    given: RunOptions,
    mine: Mine = False,
    alike: Alike = False,
    asks: Asks = None,
    text: Text = None,
    sort: Sort = "age",
    group: Group = None,
    first: First = 20,
    after: After = None,
    json: options.Json = False,
    db: options.Database = options.DATABASE,
) -> None:
    """List what needs a person, the longest wait first, and decide it one by one.

    Below stand the runs that died, failed within a week, or are paused.
    With `--as` or `--mine` only what that person may decide, by the policy that the runs recorded. Options of `resume`
    apply to the runs that are decided. Without a terminal nothing is decided.
    """
    screen = Screen.beside_json() if json else Screen.here()
    with report_errors(screen):
        given.check()
        wanted = InboxFilter(person=_person(given, mine), text=text or "", asks=tuple(asks or ()), order=sort)
        if alike:
            _show_alike(screen, db, given, _alike(db, wanted, first), json=json)
            return
        found = Inbox(()) if is_missing(db) else with_runs(db, partial(inbox, wanted=wanted, limit=first, after=after))
        if json:
            print(json_format.dumps(found.to_json(), ensure_ascii=False, indent=2))  # noqa: T201  (the document)
            return
        for line in lines(found, time.time(), group):
            screen.show_fact(line)
        if not found and not found.stopped and not found.next:
            screen.say(f"nothing {'of that kind ' * bool(asks or text)}waits for a decision in {shown(db)}")
        elif found and screen.interactive:
            with suppress(Postponed):  # the input is at its end
                _decide_each(screen, db, given, found)


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


def _alike(db: str | Path, wanted: InboxFilter, first: int) -> list[Batch]:
    return [] if is_missing(db) else with_runs(db, lambda runs: alike_requests(runs, wanted, first))


def _show_alike(screen: Screen, db: str | Path, given: RunOptions, found: list[Batch], *, json: bool) -> None:
    """Print tables of alike requests, and decide each in one go if somebody is there."""
    if json:
        print(json_format.dumps([one.to_json() for one in found], ensure_ascii=False, indent=2))  # noqa: T201
        return
    if not found:
        screen.say(f"no requests in {shown(db)} are alike")
    with suppress(Postponed):
        for batch in found:
            for line in table(batch):
                screen.show_fact(line)
            if screen.interactive and not _decide_together(screen, db, given, batch):
                return


def table(batch: Batch) -> Iterator[str]:
    """Yield the lines of a batch: every argument that differs, run by run."""
    yield f"alike   {counted(len(batch.requests), 'request')} for one plan"
    for run, goal, values in batch.rows:
        yield f"run     {escaped(run)}: {one_line(goal, GOAL_CHARACTERS)}"
        for (step, name), value in zip(batch.columns, values, strict=True):
            yield f"        {step}.{escaped(name)} = {escaped(value)}"
    yield ""


def _decide_together(screen: Screen, db: str | Path, given: RunOptions, batch: Batch) -> bool:
    """Decide the requests of a batch, each by itself; return whether to go on with the next one."""
    words = read_answer(screen, TOGETHER)
    if words.lower() in ("s", "stop"):
        return False
    if (said := said_of_all(words, {run for run, _, _ in batch.rows})) is None:
        return True
    response, without = said
    if response.approve and reason_for(batch.requests[0]):
        response = replace(response, reason=read_answer(screen, "Why? The policy requires it: "))
    for request in batch.requests:
        if request["run"] not in without:
            _give(screen, db, given, request, response)
    return True


def said_of_all(words: str, runs: Set[str]) -> tuple[ReviewResponse, Set[str]] | None:
    """Return what is said of the alike requests of some runs, and which are left out; None if nothing is decided.

    >>> said_of_all("n a.1", {"a.1", "b.1"})[1]
    {'a.1'}
    """
    first, *named = words.lower().split(maxsplit=1) or [""]
    if first in ("n", "no"):
        response, without = ReviewResponse(stop=True), {*words.split()[1:]}
    else:
        is_yes = first in ("y", "yes") and not named
        response, without = ReviewResponse(approve=True), set() if is_yes else {*words.split()}
        if not (is_yes or without):
            return None
    return (response, without) if without < runs else None


def _give(screen: Screen, db: str | Path, given: RunOptions, request: RequestJson, response: ReviewResponse) -> None:
    try:
        run = find_run(db, request["run"])
        opened = partial(opened_setup, screen, run, given.settings)
        source = DecisionSource(screen, db, response=response, digest=digest_of_all(request), by=given.by)
        continue_run(screen, db, source, run, opened)
    except AgentError as error:
        screen.complain(str(error))


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
