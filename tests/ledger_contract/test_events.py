"""Events: opened runs, appends all or none, refusals, artifacts, and many who write at once."""

import asyncio
from typing import Any

import pytest
from ledger_drivers import NOTE, STARTED, Driver, use, write

from graph.errors import LedgerCorruptError, LedgerError, StaleRunError
from graph.ledger.protocol import RunKey
from graph.ledger.run_store import RunStore
from graph.record.events import CONTROL, Draft, Event
from graph.record.values import keep
from graph.testing import drafted, whole_payload


def note(number: int, **payload: Any) -> Draft:
    return drafted("paused", {"number": number, **payload})


@pytest.mark.parametrize("thread", ["", "a.1", "a b", "é", "'; DROP TABLE ledger_events; --", "a\0b", "x" * 10_000])
def test_a_thread_may_be_called_anything_and_the_first_event_learns_its_run(driver: Driver, thread: str) -> None:
    async def work(ledger: RunStore) -> list[Event]:
        run = await ledger.open_run(thread, [STARTED, NOTE])
        assert run == RunKey(thread, 1) == await ledger.last_run(thread)
        return await ledger.events(run)

    started, paused = use(driver, work)

    assert started.payload == STARTED.of_run(thread, 1).payload
    assert (started.payload["thread"], started.payload["n"]) == (thread, 1)
    assert paused.payload == NOTE.payload


def test_a_thread_that_is_half_a_character_starts_no_run(driver: Driver) -> None:
    async def work(ledger: RunStore) -> list[RunKey]:
        with pytest.raises(LedgerError):
            await ledger.open_run("\ud800", [STARTED])
        return await ledger.runs()

    assert use(driver, work) == []


def test_each_event_loop_may_use_a_ledger_and_may_be_closed_under_it(driver: Driver) -> None:
    ledger = driver.open()
    run = asyncio.run(ledger.open_run("t", [STARTED]))

    tasks: list[asyncio.Task[int]] = []

    async def begin() -> None:
        owner = ledger.owned(run)
        lease = await owner.__aenter__()
        tasks.extend(asyncio.create_task(ledger.append(lease, [NOTE])) for _ in range(20))
        await asyncio.sleep(0)

    asyncio.run(begin())

    async def look() -> list[Event]:
        try:
            return await ledger.events(run)
        finally:
            await ledger.close()

    found = asyncio.run(look())
    assert [event.seq for event in found] == list(range(1, len(found) + 1))


def test_what_was_written_is_read_by_another_ledger_on_the_database(driver: Driver) -> None:
    async def work(one: RunStore, other: RunStore) -> None:
        run = await one.open_run("t", [STARTED])
        await write(one, run, [NOTE], artifacts=[keep("x" * 9000)])
        assert await other.events(run) == await one.events(run)
        assert await other.latest("t") == (run, await one.events(run))
        assert await other.latest("nobody") is None
        assert [event.seq for event in await other.events(run, after=1)] == [2]
        assert await other.events(run, after=2) == []

    use(driver, work, 2)


def test_an_append_of_no_events_writes_nothing_and_tells_the_last_number(driver: Driver) -> None:
    async def work(ledger: RunStore) -> int:
        run = await ledger.open_run("t", [STARTED])
        await write(ledger, run, [NOTE])
        return await write(ledger, run, [])

    assert use(driver, work) == 2


def test_events_come_back_in_order_as_they_were_written(driver: Driver) -> None:
    odd = {"text": "é\0\u2028\U0001f600", "wide": 2**80, "none": None, "list": [1.5, True, {"": []}]}

    async def work(ledger: RunStore) -> list[Event]:
        run = await ledger.open_run("t", [STARTED])
        assert await write(ledger, run, [drafted("call_started", odd, "step_1"), note(2)]) == 3
        return await ledger.events(run)

    first, second, third = use(driver, work)

    assert [first.seq, second.seq, third.seq] == [1, 2, 3]
    assert (second.kind, second.step, second.payload) == ("call_started", "step_1", whole_payload("call_started", odd))
    assert first.at <= second.at <= third.at


def test_the_runs_of_a_thread_are_numbered_from_one(driver: Driver) -> None:
    async def work(ledger: RunStore) -> Any:
        keys = [await ledger.open_run(thread, [STARTED]) for thread in ("a", "b", "a")]
        return keys, await ledger.last_run("a"), await ledger.last_run("c"), await ledger.runs()

    keys, last, nobody, runs = use(driver, work)

    assert keys == [RunKey("a", 1), RunKey("b", 1), RunKey("a", 2)]
    assert (last, nobody) == (RunKey("a", 2), None)
    assert runs == keys[::-1]


def test_a_run_that_is_not_there_is_an_error_of_the_ledger(driver: Driver) -> None:
    async def work(ledger: RunStore) -> None:
        nobody = RunKey("no", 1)
        for asked in (
            ledger.events(nobody),
            write(ledger, nobody, [NOTE]),
            ledger.post(nobody, "pause"),
            ledger.is_worked_on(nobody),
        ):
            with pytest.raises(LedgerError):
                await asked

    use(driver, work)


def test_a_closed_ledger_opens_again_on_use(driver: Driver) -> None:
    async def work(ledger: RunStore) -> int:
        run = await ledger.open_run("t", [STARTED])
        await ledger.close()
        await ledger.close()
        return await write(ledger, run, [NOTE])

    assert use(driver, work) == 2


def test_a_ledger_used_while_it_is_being_closed_loses_nothing(driver: Driver) -> None:
    async def work(ledger: RunStore) -> int:
        run = await ledger.open_run("t", [STARTED])
        async with ledger.owned(run) as lease:
            for _ in range(20):
                await asyncio.gather(ledger.append(lease, [NOTE]), ledger.close(), ledger.append(lease, [NOTE]))
        return len(await ledger.events(run))

    assert use(driver, work) == 41


def test_appends_of_many_tasks_get_a_number_each(driver: Driver) -> None:
    async def work(ledger: RunStore) -> tuple[list[int], list[Event]]:
        run = await ledger.open_run("t", [STARTED])
        async with ledger.owned(run) as lease:
            appends = [ledger.append(lease, [note(place), note(place)]) for place in range(100)]
            numbers = await asyncio.gather(*appends)
        return numbers, await ledger.events(run)

    numbers, found = use(driver, work)

    assert sorted(numbers) == list(range(3, 202, 2))
    assert [event.seq for event in found] == list(range(1, 202))
    assert all(found[last - 1].payload == found[last - 2].payload for last in numbers)


def test_connections_of_several_ledgers_share_one_file(driver: Driver) -> None:
    async def fill(ledger: RunStore, run: RunKey) -> None:
        async with ledger.owned(run) as lease:
            await asyncio.gather(*(ledger.append(lease, [NOTE]) for _ in range(10)))

    async def work() -> list[list[Event]]:
        ledgers = [driver.open() for _ in range(4)]
        runs = [await ledgers[0].open_run("t", [STARTED]) for _ in ledgers]
        await asyncio.gather(*(fill(ledger, run) for ledger, run in zip(ledgers, runs, strict=True)))
        found = [await ledgers[-1].events(run) for run in runs]
        await asyncio.gather(*(ledger.close() for ledger in ledgers))
        return found

    assert [[event.seq for event in found] for found in asyncio.run(work())] == [list(range(1, 12))] * 4


def test_a_lease_holds_on_every_connection_to_the_file(driver: Driver) -> None:
    async def work() -> list[Event]:
        ledgers = [driver.open() for _ in range(4)]
        run = await ledgers[0].open_run("t", [STARTED])
        async with ledgers[0].owned(run) as lease:
            await asyncio.gather(*(ledger.append(lease, [NOTE]) for ledger in ledgers for _ in range(10)))
        found = await ledgers[-1].events(run)
        await asyncio.gather(*(ledger.close() for ledger in ledgers))
        return found

    assert [event.seq for event in asyncio.run(work())] == list(range(1, 42))


def test_two_ledgers_start_runs_of_one_thread_side_by_side(driver: Driver) -> None:
    async def work() -> list[RunKey]:
        ledgers = [driver.open() for _ in range(3)]
        keys = await asyncio.gather(*(ledger.open_run("t", [STARTED]) for ledger in ledgers for _ in range(5)))
        await asyncio.gather(*(ledger.close() for ledger in ledgers))
        return keys

    assert sorted(key.n for key in asyncio.run(work())) == list(range(1, 16))


@pytest.mark.parametrize("kind", CONTROL)
def test_an_author_who_missed_a_decision_writes_nothing(driver: Driver, kind: str) -> None:
    async def work(ledger: RunStore) -> list[Event]:
        run = await ledger.open_run("t", [STARTED])
        seen = await write(ledger, run, [drafted("decided", {})])
        await write(ledger, run, [drafted(kind, {})])
        with pytest.raises(StaleRunError) as caught:
            await write(ledger, run, [NOTE, NOTE], artifacts=[keep("x" * 9000)], control_seq=seen)
        assert caught.value.run == "t.1"
        return await ledger.events(run)

    assert [event.kind for event in use(driver, work)] == ["run_started", "decided", kind]


def test_other_events_do_not_make_an_author_stale(driver: Driver) -> None:
    async def work(ledger: RunStore) -> int:
        run = await ledger.open_run("t", [STARTED])
        async with ledger.owned(run) as lease:
            seen = await ledger.append(lease, [drafted("decided", {})])
            for kind in ("call_started", "call_finished", "step_finished", "executing", "paused", "review_requested"):
                await ledger.append(lease, [drafted(kind, {})])  # type: ignore[arg-type]
            return await ledger.append(lease, [NOTE], control_seq=seen)

    assert use(driver, work) == 9


def test_before_any_decision_the_number_is_nought(driver: Driver) -> None:
    async def work(ledger: RunStore) -> int:
        run = await ledger.open_run("t", [STARTED])
        return await write(ledger, run, [NOTE], control_seq=0)

    assert use(driver, work) == 2


def test_a_decision_about_another_run_makes_nobody_stale(driver: Driver) -> None:
    async def work(ledger: RunStore) -> int:
        run, other = await ledger.open_run("t", [STARTED]), await ledger.open_run("t", [STARTED])
        await write(ledger, other, [drafted("decided", {})])
        return await write(ledger, run, [NOTE], control_seq=0)

    assert use(driver, work) == 2


def test_of_two_who_decide_at_once_one_wins(driver: Driver) -> None:
    async def work() -> list[Any]:
        ledgers = [driver.open(), driver.open()]
        run = await ledgers[0].open_run("t", [STARTED])
        async with ledgers[0].owned(run) as lease:
            decided = [ledger.append(lease, [drafted("decided", {})], control_seq=0) for ledger in ledgers]
            outcomes = await asyncio.gather(*decided, return_exceptions=True)
        await asyncio.gather(*(ledger.close() for ledger in ledgers))
        return outcomes

    assert sorted(type(outcome).__name__ for outcome in asyncio.run(work())) == ["StaleRunError", "int"]


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


def test_a_run_whose_first_event_cannot_be_written_does_not_begin(driver: Driver) -> None:
    async def work(ledger: RunStore) -> Any:
        with pytest.raises(LedgerError):
            await ledger.open_run("t", [drafted("run_started", {"goal": "\ud800"})])
        return await ledger.runs(), await ledger.open_run("t", [STARTED])

    assert use(driver, work) == ([], RunKey("t", 1))


def test_one_bad_append_does_not_disturb_its_neighbours(driver: Driver) -> None:
    async def work(ledger: RunStore) -> Any:
        run = await ledger.open_run("t", [STARTED])
        drafts = [note(number, text="\ud800" if number % 3 == 0 else "fine") for number in range(30)]
        async with ledger.owned(run) as lease:
            appends = [ledger.append(lease, [draft]) for draft in drafts]
            outcomes = await asyncio.gather(*appends, return_exceptions=True)
        return outcomes, await ledger.events(run)

    outcomes, found = use(driver, work)

    assert [isinstance(outcome, LedgerError) for outcome in outcomes] == [number % 3 == 0 for number in range(30)]
    assert [event.seq for event in found] == list(range(1, 22))
    assert {event.payload["number"] for event in found[1:]} == {number for number in range(30) if number % 3}


def test_a_caller_that_is_cancelled_leaves_the_ledger_usable(driver: Driver) -> None:
    async def work(ledger: RunStore) -> list[Event]:
        run = await ledger.open_run("t", [STARTED])
        async with ledger.owned(run) as lease:
            tasks = [asyncio.create_task(ledger.append(lease, [NOTE])) for _ in range(20)]
            await asyncio.sleep(0)
            for task in tasks[::2]:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return await ledger.events(run)

    found = use(driver, work)

    assert [event.seq for event in found] == list(range(1, len(found) + 1))
    assert len(found) >= 11


def test_an_artifact_is_kept_by_its_content_once(driver: Driver) -> None:
    kept = keep(["é" * 9000])
    assert kept.artifact is not None
    artifact = kept.artifact

    async def work(ledger: RunStore) -> str:
        run = await ledger.open_run("t", [STARTED])
        await write(ledger, run, [NOTE], artifacts=[kept, keep("small")])
        await write(ledger, run, [NOTE], artifacts=[kept])
        return await ledger.artifact(artifact.id)

    assert use(driver, work) == kept.text


def test_a_missing_artifact_is_an_error(driver: Driver) -> None:
    async def work(ledger: RunStore) -> None:
        with pytest.raises(LedgerCorruptError):
            await ledger.artifact("0" * 64)

    use(driver, work)
