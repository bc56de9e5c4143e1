"""Requests of an inbox decided, one by one or those that are alike together."""

import json as json_format
from collections.abc import Iterator, Set
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from planner_executor.graph.cli.database_file import is_missing
from planner_executor.graph.cli.decision_source import DecisionSource
from planner_executor.graph.cli.prompts import Postponed, read_answer
from planner_executor.graph.cli.recorded_run import find_run
from planner_executor.graph.cli.resumed_setup import opened_setup
from planner_executor.graph.cli.run_driver import continue_run
from planner_executor.graph.cli.run_lookup import with_runs
from planner_executor.graph.cli.run_options import RunOptions
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.errors import AgentError
from planner_executor.graph.ledger.database_name import shown
from planner_executor.graph.plain_text.sanitize import escaped, one_line
from planner_executor.graph.review.alike import Batch
from planner_executor.graph.review.request_json import RequestJson, digest_of_all
from planner_executor.graph.review.response import ReviewResponse, reason_for
from planner_executor.graph.runs.alike import alike_requests
from planner_executor.graph.runs.inbox_filter import InboxFilter
from planner_executor.graph.runs.inbox_page import Inbox
from planner_executor.graph.runs.run import Run
from planner_executor.graph.words.name_list import counted

GOAL_CHARACTERS = 160
QUESTION = "{run}: d: look at it and decide, s: stop, anything else: the next one: "
TOGETHER = (
    "y: approve these, RUN ...: approve all but these, n: reject these and end their runs, n RUN ...: reject all but "
    "these, s: stop, anything else: decide none of them: "
)


def alike_in(db: str | Path, wanted: InboxFilter, first: int) -> list[Batch]:
    """Return the alike requests among so many of those that are wanted; none without a database."""
    return [] if is_missing(db) else with_runs(db, lambda runs: alike_requests(runs, wanted, first))


def show_alike(screen: Screen, db: str | Path, given: RunOptions, found: list[Batch], *, json: bool) -> None:
    """Print tables of alike requests, and decide each in one go if somebody is there."""
    if json:
        print(json_format.dumps([one.to_json() for one in found], ensure_ascii=False, indent=2))  # noqa: T201
        return
    if not found:
        screen.say(f"no requests in {shown(db)} are alike")
    # Whoever leaves the rest for later has answered what came before.
    with suppress(Postponed):
        for batch in found:
            for line in table(batch):
                screen.show_fact(line)
            # Without somebody there the tables are all that is wanted.
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
    # A name that is none of these, or all of them left out, is a slip, and decides nothing.
    return (response, without) if without < runs else None


def _give(screen: Screen, db: str | Path, given: RunOptions, request: RequestJson, response: ReviewResponse) -> None:
    try:
        run = find_run(db, request["run"])
        opened = partial(opened_setup, screen, run, given.settings)
        source = DecisionSource(screen, db, response=response, digest=digest_of_all(request), by=given.by)
        continue_run(source, run, opened)
    except AgentError as error:
        screen.complain(str(error))


def decide_each(screen: Screen, db: str | Path, given: RunOptions, found: Inbox) -> None:
    """Offer the requests one by one; what cannot be decided here is said, and the next one is offered."""
    with suppress(Postponed):  # the input is at its end
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
    opened = partial(opened_setup, screen, run, given.settings)
    continue_run(DecisionSource(screen, db, by=given.by), run, opened)
