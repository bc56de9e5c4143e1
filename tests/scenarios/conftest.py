"""Every run of a scenario over the checkpointer `saver` is played again from its record, and must come out the same."""

import asyncio
from collections.abc import Iterator

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from graph.checkpoint import ledger_of
from graph.replay.player import replayed


@pytest.fixture(autouse=True)
def every_run_comes_out_the_same(saver: InMemorySaver) -> Iterator[None]:
    yield
    asyncio.run(_play_again(saver))


async def _play_again(saver: InMemorySaver) -> None:
    ledger = await ledger_of(None, saver, lambda _: None)()
    for run in await ledger.runs():
        transcript = await ledger.transcript(run)
        if "configured" in transcript.events()[0].payload:  # written by a graph, and not by the test itself
            played = await replayed(transcript)
            assert played.is_same, str(played)
