"""Events: opened runs, appends that are written as a whole or not at all, artifacts."""

from typing import Any

import pytest
from ledger_drivers import NOTE, STARTED, Driver, opened, use, write

from planner_executor.graph.errors import LedgerCorruptError, LedgerError
from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.record.events import Draft, Event
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.values import keep
from planner_executor.graph.testing import drafted, whole_payload


def note(number: int, **payload: Any) -> Draft:
    return drafted("paused", {"number": number, **payload})


@pytest.mark.parametrize("thread", ["", "a.1", "a b", "é", "'; DROP TABLE ledger_events; --", "a\0b", "x" * 10_000])
async def test_a_thread_may_be_called_anything_and_the_first_event_learns_its_run(driver: Driver, thread: str) -> None:
    async with opened(driver) as (ledger,):
        run = await ledger.open_run(thread, [STARTED, NOTE])
        assert run == RunKey(thread, 1) == await ledger.last_run(thread)
        started, paused = await ledger.events(run)

    assert started.payload == STARTED.of_run(thread, 1).payload
    assert (started.payload["thread"], started.payload["n"]) == (thread, 1)
    assert paused.payload == NOTE.payload


async def test_a_thread_that_is_half_a_character_starts_no_run(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        with pytest.raises(LedgerError):
            await ledger.open_run("\ud800", [STARTED])
        assert await ledger.runs() == []


async def test_what_was_written_is_read_by_another_ledger_on_the_database(driver: Driver) -> None:
    async with opened(driver, 2) as (one, other):
        run = await one.open_run("t", [STARTED])
        await write(one, run, [NOTE], artifacts=[keep("x" * 9000)])
        assert await other.events(run) == await one.events(run)
        assert await other.latest("t") == (run, await one.events(run))
        assert await other.latest("nobody") is None
        assert await other.latest("t", run, 1) == (run, await one.events(run, after=1))
        assert await other.latest("t", RunKey("t", 2), 1) == (run, await one.events(run))
        assert [event.seq for event in await other.events(run, after=1)] == [2]
        assert await other.events(run, after=2) == []


async def test_an_append_of_no_events_writes_nothing_and_tells_the_last_number(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        run = await ledger.open_run("t", [STARTED])
        await write(ledger, run, [NOTE])
        assert await write(ledger, run, []) == 2


async def test_events_come_back_in_order_as_they_were_written(driver: Driver) -> None:
    odd = {"text": "é\0\u2028\U0001f600", "wide": 2**80, "none": None, "list": [1.5, True, {"": []}]}

    async with opened(driver) as (ledger,):
        run = await ledger.open_run("t", [STARTED])
        assert await write(ledger, run, [drafted("call_started", odd, "step_1"), note(2)]) == 3
        first, second, third = await ledger.events(run)

    assert [first.seq, second.seq, third.seq] == [1, 2, 3]
    assert (second.kind, second.step, second.payload) == ("call_started", "step_1", whole_payload("call_started", odd))
    assert first.at <= second.at <= third.at


async def test_the_runs_of_a_thread_are_numbered_from_one(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        keys = [await ledger.open_run(thread, [STARTED]) for thread in ("a", "b", "a")]
        keys, last, nobody, runs = (keys, await ledger.last_run("a"), await ledger.last_run("c"), await ledger.runs())

    assert keys == [RunKey("a", 1), RunKey("b", 1), RunKey("a", 2)]
    assert (last, nobody) == (RunKey("a", 2), None)
    assert runs == keys[::-1]


async def test_a_run_that_is_not_there_is_an_error_of_the_ledger(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        nobody = RunKey("no", 1)
        for asked in (
            ledger.events(nobody),
            write(ledger, nobody, [NOTE]),
            ledger.post(nobody, "pause"),
            ledger.is_worked_on(nobody),
        ):
            with pytest.raises(LedgerError):
                await asked


@pytest.mark.parametrize(
    "bad",
    [
        drafted("paused", {"x": "\ud800"}),
        drafted("paused", {"x": "\udcff"}),
        drafted("paused", {"x": [float("nan")]}),
        drafted("paused", {}, step="\ud800"),
        drafted("paused", {}, step="\udcff"),
    ],
    ids=["payload", "byte", "nan", "step", "byte of a step"],
)
def test_all_events_of_an_append_are_written_or_none(driver: Driver, bad: Draft) -> None:
    async def work(ledger: RunStore) -> list[Event]:
        run = await ledger.open_run("t", [STARTED])
        with pytest.raises(LedgerError):
            await write(ledger, run, [note(1), bad, note(2)], artifacts=[keep("x" * 9000)])
        await write(ledger, run, [note(3)])
        return await ledger.events(run)

    assert [event.payload.get("number") for event in use(driver, work)] == [None, 3]


async def test_a_run_whose_first_event_cannot_be_written_does_not_begin(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        with pytest.raises(LedgerError):
            await ledger.open_run("t", [drafted("run_started", {"goal": "\ud800"})])
        assert (await ledger.runs(), await ledger.open_run("t", [STARTED])) == ([], RunKey("t", 1))


async def test_an_artifact_is_kept_by_its_content_once(driver: Driver) -> None:
    kept = keep(["é" * 9000])
    assert kept.artifact is not None
    artifact = kept.artifact

    async with opened(driver) as (ledger,):
        run = await ledger.open_run("t", [STARTED])
        await write(ledger, run, [NOTE], artifacts=[kept, keep("small")])
        await write(ledger, run, [NOTE], artifacts=[kept])
        assert await ledger.artifact(artifact.id) == kept.text


async def test_a_missing_artifact_is_an_error(driver: Driver) -> None:
    async with opened(driver) as (ledger,):
        with pytest.raises(LedgerCorruptError):
            await ledger.artifact("0" * 64)
