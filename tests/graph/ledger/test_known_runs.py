"""A run's state from one node to the next."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from planner_executor.graph.ledger import known_runs
from planner_executor.graph.ledger.known_runs import Handed, KnownRun, KnownRuns
from planner_executor.graph.ledger.sqlite.memory import MemoryLedger
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.projection import project
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.testing import drafted

KEPT = 64
"""How many runs are kept; a run more takes the place of the oldest."""
STARTED = drafted("run_started", {"goal": "g", "constraints": []})
PAUSED = drafted("paused", {"reason": "asked to pause"})
REDACTED = drafted("redacted", {"left": [], "by": "b", "reason": "r"})
ENDED = drafted("run_ended", {"status": "failed", "reason": "r"})


class CountingLedger(MemoryLedger):
    """Notes how many events each look at the latest run returned."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[int] = []
        self.foreign: Event | None = None

    async def latest(self, thread: str, known: RunKey | None = None, after: int = 0) -> Any:
        """See `Ledger.latest`."""
        found = await super().latest(thread, known, after)
        self.read.append(len(found[1]) if found is not None else 0)
        if found is not None and self.foreign is not None:
            found[1].append(self.foreign)
        return found


@asynccontextmanager
async def known() -> AsyncIterator[tuple[CountingLedger, KnownRuns]]:
    """Yield a ledger in which the thread `t` has a run of two events, and what is known of its runs."""
    ledger = CountingLedger()
    await ledger.open_run("t", [STARTED, PAUSED])
    yield ledger, KnownRuns()


async def node(runs: KnownRuns, ledger: CountingLedger, thread: str = "t") -> KnownRun:
    """Open the latest run as a node does, and end without an error."""
    with runs.handing_on():
        run = await runs.latest(ledger, thread)
    assert run is not None
    return run


async def write(ledger: CountingLedger, *drafts: Any) -> None:
    await ledger.write(RunKey("t", 1), drafts, after=0)


async def test_the_next_node_reads_only_what_was_written_since() -> None:
    async with known() as (ledger, runs):
        first = await node(runs, ledger)
        await write(ledger, PAUSED)
        second = await node(runs, ledger)
        assert ledger.read == [2, 1] and second.record is first.record
        assert second.record == project(await ledger.events(RunKey("t", 1)))


async def test_the_next_node_has_the_models_of_the_plans_too() -> None:
    async with known() as (ledger, runs):
        first = await node(runs, ledger)
        await write(ledger, PAUSED)
        assert (await node(runs, ledger)).plans is first.plans
        await write(ledger, REDACTED)
        assert (await node(runs, ledger)).plans is not first.plans


def test_what_a_node_leaves_is_taken_once_and_only_if_it_was_made_of_the_same() -> None:
    handed = Handed()
    handed.leave("a", 1, [2])
    assert [handed.take(1, [2]), handed.take(1, [2])] == ["a", None]
    handed.leave("b", 1, [2])
    assert [handed.take(1, [3]), handed.take(1, [2])] == [None, None]


async def test_a_request_is_handed_on_with_the_run_unless_a_value_was_redacted() -> None:
    async with known() as (ledger, runs):
        (await node(runs, ledger)).request.leave("asked", 2)
        assert (await node(runs, ledger)).request.take(2) == "asked"
        (await node(runs, ledger)).request.leave("asked", 2)
        await write(ledger, REDACTED)
        assert (await node(runs, ledger)).request.take(2) is None


async def test_a_node_that_looks_twice_reads_only_what_was_written_since_and_another_thread_anew() -> None:
    async with known() as (ledger, runs):
        await ledger.open_run("u", [STARTED])
        with runs.handing_on():
            first = await runs.latest(ledger, "t")
            again = await runs.latest(ledger, "t")
            other = await runs.latest(ledger, "u")
        assert ledger.read == [2, 0, 1] and first is not None and again is not None and again.record is first.record
        assert other is not None and other.key.thread == "u"


async def test_a_node_that_fails_hands_nothing_on() -> None:
    async with known() as (ledger, runs):
        with pytest.raises(ZeroDivisionError), runs.handing_on():
            await runs.latest(ledger, "t")
            raise ZeroDivisionError
        await node(runs, ledger)
        assert ledger.read == [2, 2]


async def test_a_node_that_is_interrupted_hands_its_run_on_and_leaves_no_state() -> None:
    async with known() as (ledger, runs):
        with pytest.raises(InterruptedError), runs.handing_on(InterruptedError):
            await runs.latest(ledger, "t")
            raise InterruptedError
        assert not runs.goes_on(RunKey("t", 1), 2)
        await node(runs, ledger)
        assert ledger.read == [2, 0]


async def test_what_a_node_was_interrupted_with_is_known_until_something_happens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def interrupted() -> tuple[Any, ...]:
        with suppress(InterruptedError), runs.handing_on(InterruptedError):
            await runs.latest(ledger, "t")
            raise InterruptedError("asked")
        return await asks()

    async def asks() -> tuple[Any, ...]:
        async with runs.lent(ledger, "t") as lent:
            return lent.asks if lent is not None else ("not kept",)

    async with known() as (ledger, runs):
        assert await interrupted() == await asks() == ("asked",)
        await write(ledger, PAUSED)
        assert await asks() == ()
        assert await interrupted() == ("asked",)
        runs.forget("t")
        assert await asks() == ("not kept",)
        monkeypatch.setattr(known_runs, "LARGE", 2)
        assert await interrupted() == ()


async def test_the_state_of_a_run_that_a_node_left_is_known_without_a_look() -> None:
    async with known() as (ledger, runs):
        key = RunKey("t", 1)
        assert runs.kept(key) is None
        left = await node(runs, ledger)
        assert runs.kept(key) is left.record and ledger.read == [2]
        assert runs.kept(RunKey("t", 2)) is runs.kept(RunKey("u", 1)) is None


async def test_a_run_is_lent_up_to_date_and_the_next_node_takes_it_up() -> None:
    async with known() as (ledger, runs):
        async with runs.lent(ledger, "t") as unknown:
            assert unknown is None and ledger.read == []
        left = await node(runs, ledger)
        await write(ledger, PAUSED)
        async with runs.lent(ledger, "t") as lent:
            assert lent is not None and lent.record is left.record and lent.record.seq == 3
            other = await runs.latest(ledger, "t")  # a node beside the reader has a state of its own
            assert other is not None and other.record is not lent.record
        await node(runs, ledger)
        assert ledger.read == [2, 1, 3, 0]


async def test_a_run_that_has_ended_is_lent_once() -> None:
    async with known() as (ledger, runs):
        await node(runs, ledger)
        await write(ledger, ENDED)
        await node(runs, ledger)
        for is_lent in (True, False):
            async with runs.lent(ledger, "t") as lent:
                assert (lent is not None) == is_lent
        assert ledger.read == [2, 1, 0]


async def test_a_run_that_has_ended_is_lent_for_its_own_thread_and_not_before_one_that_goes_on() -> None:
    async with known() as (ledger, runs):
        await ledger.open_run("u", [STARTED])
        await write(ledger, ENDED)
        await node(runs, ledger)
        for thread, lent in (("u", None), ("t", RunKey("t", 1))):
            async with runs.lent(ledger, thread) as found:
                assert (found.key if found is not None else None) == lent
        await node(runs, ledger)
        await ledger.open_run("t", [STARTED])
        await node(runs, ledger)
        async with runs.lent(ledger, "t") as found:
            assert found is not None and found.key == RunKey("t", 2)
        assert ledger.read[-1] == 0  # the run that was left, and not that before


async def test_a_node_that_is_interrupted_before_it_opens_a_run_leaves_none() -> None:
    async with known() as (ledger, runs):
        with pytest.raises(InterruptedError), runs.handing_on(InterruptedError):
            raise InterruptedError
        await node(runs, ledger)
        assert ledger.read == [2]


async def test_a_run_that_a_newer_release_goes_on_with_is_lent_to_nobody() -> None:
    async with known() as (ledger, runs):
        await node(runs, ledger)
        ledger.foreign = Event(3, "of a newer release", None, 0.0, {})
        async with runs.lent(ledger, "t") as lent:
            assert lent is None


async def test_a_run_is_taken_once_since_its_state_is_the_takers_to_change() -> None:
    async with known() as (ledger, runs):
        await node(runs, ledger)
        one, other = await runs.latest(ledger, "t"), await runs.latest(ledger, "t")
        assert one is not None and other is not None and one.record is not other.record
        assert ledger.read == [2, 0, 2]


async def test_a_run_in_which_a_value_was_redacted_meanwhile_is_read_anew() -> None:
    async with known() as (ledger, runs):
        first = await node(runs, ledger)
        await write(ledger, REDACTED, PAUSED)
        second = await node(runs, ledger)
        assert second.record is not first.record and second.record.seq == 4


async def test_a_later_run_of_the_thread_is_read_whole() -> None:
    async with known() as (ledger, runs):
        await node(runs, ledger)
        await ledger.open_run("t", [STARTED])
        later = await node(runs, ledger)
        assert later.key == RunKey("t", 2) and ledger.read == [2, 1]
        assert later.record == project(await ledger.events(later.key))


async def test_runs_that_have_ended_are_not_kept_and_of_the_others_the_latest() -> None:
    async with known() as (ledger, runs):
        await node(runs, ledger)
        await ledger.open_run("ended", [STARTED, ENDED])
        for thread in ("ended", "ended"):
            await node(runs, ledger, thread)
        assert ledger.read[-2:] == [2, 2]
        for number in range(KEPT):
            await ledger.open_run(f"{number}", [STARTED])
            await node(runs, ledger, f"{number}")
        ledger.read.clear()
        for thread in ("0", "t"):
            await node(runs, ledger, thread)
        assert ledger.read == [0, 2]


async def test_a_node_on_a_thread_without_a_run_hands_nothing_on() -> None:
    async with known() as (ledger, runs):
        with runs.handing_on():
            assert await runs.latest(ledger, "new") is None
        await ledger.open_run("new", [STARTED])
        await node(runs, ledger, "new")
        assert ledger.read == [0, 1]


async def test_a_node_that_looks_at_a_thread_without_a_run_hands_on_the_run_that_it_has() -> None:
    async with known() as (ledger, runs):
        with runs.handing_on():
            await runs.latest(ledger, "t")
            assert await runs.latest(ledger, "nowhere") is None
        await node(runs, ledger)
        assert ledger.read == [2, 0, 0]


async def test_a_node_hands_on_what_it_opens_after_another_one_within_it() -> None:
    async with known() as (ledger, runs):
        await ledger.open_run("inner", [STARTED])
        with runs.handing_on():
            await node(runs, ledger, "inner")
            await runs.latest(ledger, "t")
        for thread in ("inner", "t"):
            await node(runs, ledger, thread)
        assert ledger.read == [1, 2, 0, 0]


async def test_a_state_that_a_node_has_left_is_taken_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_runs, "MOST_STATES", 1)

    async with known() as (ledger, runs):
        key = RunKey("t", 1)
        with pytest.raises(ValueError, match="stop"), runs.handing_on():
            await runs.latest(ledger, "t")
            raise ValueError("stop")
        assert not runs.goes_on(key, 2)
        await node(runs, ledger)
        assert [runs.goes_on(key, 1), runs.goes_on(key, 2), runs.goes_on(key, 2)] == [False, True, False]
        await node(runs, ledger)
        await write(ledger, PAUSED)
        await node(runs, ledger)
        assert [runs.goes_on(key, 2), runs.goes_on(key, 3)] == [False, True]
