"""The outcome of a thread's work, handed to whoever waits for it on an event loop."""

import asyncio

import pytest

from planner_executor.graph.ledger.awaited import Awaited


async def test_the_result_is_handed_back_to_the_loop_of_the_caller() -> None:
    work = Awaited(done=asyncio.get_running_loop().create_future(), result=7)
    await asyncio.to_thread(work.hand_back)

    assert work.done is not None and await work.done == 7 and not work.is_cancelled


async def test_a_failure_is_raised_where_it_is_waited_for() -> None:
    work = Awaited(done=asyncio.get_running_loop().create_future(), failure=OSError("full"))
    await asyncio.to_thread(work.hand_back)

    assert work.done is not None
    with pytest.raises(OSError, match="full"):
        await work.done


async def test_who_waits_no_more_gets_nothing_also_if_they_gave_up_since() -> None:
    work = Awaited(done=asyncio.get_running_loop().create_future(), result=7)
    faults: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, told: faults.append(told))
    assert work.done is not None
    work.hand_back()
    work.done.cancel()

    await asyncio.sleep(0)

    assert work.is_cancelled and work.done.cancelled() and faults == []


def test_work_without_a_caller_or_for_a_loop_that_is_closed_is_dropped() -> None:
    loop = asyncio.new_event_loop()
    late = Awaited(done=loop.create_future(), result=7)
    loop.close()
    alone = Awaited(result=7)

    late.hand_back()
    alone.hand_back()

    assert late.done is not None and not late.done.done() and not alone.is_cancelled
