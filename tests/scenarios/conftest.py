"""Runs of scenarios over the checkpointer `saver` are played again from their record, and must come out the same.

It takes as long as the scenario, so a third of the tests plays its runs again, another third each time;
`make tests REPLAYED=1` has all do it.
"""

import asyncio
import os
import random
from collections.abc import Iterator

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from planner_executor.graph.checkpoints.checkpoint import ledger_of
from planner_executor.graph.nodes import reviewer
from planner_executor.graph.nodes.review.request import request_about, request_of
from planner_executor.graph.nodes.review.subject import Subject
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.replay.player import replayed
from planner_executor.graph.review.request import ReviewRequest

SHARE = float(os.environ.get("REPLAYED", "0.33"))


@pytest.fixture(autouse=True)
def runs_come_out_the_same(saver: InMemorySaver) -> Iterator[None]:
    yield
    if random.SystemRandom().random() < SHARE:
        asyncio.run(_play_again(saver))


@pytest.fixture(autouse=True)
def a_request_handed_on_is_the_one_that_would_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def checked(run: RunContext, subject: Subject) -> ReviewRequest:
        found = request_of(run, subject)
        assert found == request_about(run, subject)
        return found

    monkeypatch.setattr(reviewer, "request_of", checked)


async def _play_again(saver: InMemorySaver) -> None:
    ledger = await ledger_of(None, saver, lambda _: None)()
    for run in await ledger.runs():
        transcript = await ledger.transcript(run)
        if "configured" in transcript.events()[0].payload:  # written by a graph, and not by the test itself
            played = await replayed(transcript)
            assert played.is_same, str(played)
