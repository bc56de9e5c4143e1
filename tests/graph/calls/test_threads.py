import asyncio
import contextvars
import threading
from typing import Any

import pytest

from planner_executor.graph.calls.threads import counting_waits, run_sync

SPEAKER = contextvars.ContextVar("SPEAKER", default="nobody")


def raising(error: BaseException) -> Any:
    def work() -> None:
        raise error

    return work


async def test_work_runs_beside_the_event_loop_and_gives_what_it_returns() -> None:
    assert await run_sync(threading.get_ident) != threading.get_ident()


async def test_the_waits_for_such_work_are_counted_where_it_was_begun() -> None:
    go_on = threading.Event()
    elsewhere = asyncio.create_task(run_sync(go_on.wait))
    with counting_waits() as waits:
        works = [asyncio.create_task(run_sync(go_on.wait)) for _ in range(2)]
        seen = [waits.count]
    await asyncio.sleep(0)
    seen.append(waits.count)
    works[0].cancel()
    await asyncio.wait(works[:1])
    seen.append(waits.count)
    after = asyncio.create_task(run_sync(go_on.wait))
    await asyncio.sleep(0)
    seen.append(waits.count)
    go_on.set()
    await asyncio.gather(works[1], elsewhere, after)
    assert [*seen, waits.count] == [0, 2, 1, 1, 0]


async def test_the_thread_does_not_hold_up_the_end_of_the_process() -> None:
    assert await run_sync(lambda: threading.current_thread().daemon)


async def test_work_sees_the_context_of_its_caller_and_keeps_its_own_changes() -> None:
    def work() -> str:
        seen = SPEAKER.get()
        SPEAKER.set("the thread")
        return seen

    SPEAKER.set("the caller")
    assert (await run_sync(work), SPEAKER.get()) == ("the caller", "the caller")


@pytest.mark.parametrize(
    "error", [ValueError("x"), KeyError("x"), TimeoutError(), asyncio.CancelledError(), BaseException()]
)
async def test_an_error_reaches_the_one_who_waits(error: BaseException) -> None:
    with pytest.raises(type(error)):
        await run_sync(raising(error))


@pytest.mark.parametrize("error", [SystemExit(3), StopIteration(1), KeyboardInterrupt()])
async def test_what_would_end_the_process_or_confuse_the_loop_is_an_ordinary_error(error: BaseException) -> None:
    with pytest.raises(RuntimeError, match=type(error).__name__):
        await run_sync(raising(error))


async def test_a_caller_that_is_cancelled_stops_waiting_and_the_work_goes_on() -> None:
    go, done = threading.Event(), threading.Event()

    def work() -> None:
        go.wait(10)
        done.set()

    task = asyncio.create_task(run_sync(work))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not done.is_set()
    go.set()
    assert done.wait(10)


async def test_what_comes_of_work_that_nobody_waits_for_disturbs_nobody() -> None:
    go, threads, faults = threading.Event(), [], []

    def work() -> None:
        threads.append(threading.current_thread())
        go.wait(10)

    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context))
    task = asyncio.create_task(run_sync(work))
    while not threads:
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    go.set()
    await asyncio.to_thread(threads[0].join, 10)
    await asyncio.sleep(0)

    assert faults == []


async def test_work_that_ends_after_its_loop_has_closed_disturbs_nobody() -> None:
    go, threads = threading.Event(), []

    def work() -> None:
        threads.append(threading.current_thread())
        go.wait(10)

    task = asyncio.create_task(run_sync(work))
    while not threads:
        await asyncio.sleep(0)
    task.cancel()
    go.set()
    threads[0].join(10)

    assert not threads[0].is_alive()


async def test_pieces_of_work_run_side_by_side() -> None:
    barrier = threading.Barrier(8)

    assert len(await asyncio.gather(*(run_sync(lambda: barrier.wait(10)) for _ in range(8)))) == 8
