"""Work that grows with a plan is done on a thread if it is large, and in place within a replay."""

import asyncio
import threading

import pytest

from planner_executor.graph.large_work import LARGE, done_aside, in_place, let_others

HERE = threading.get_ident()


def where(size: int) -> int:
    """Return the thread on which work of a size is done."""
    return asyncio.run(done_aside(size, threading.get_ident))


def test_large_work_is_done_on_another_thread_and_small_work_in_place() -> None:
    assert where(LARGE) == HERE
    assert where(LARGE + 1) != HERE


def test_in_place_even_large_work_stays_on_the_thread() -> None:
    with in_place():
        assert where(LARGE + 1) == HERE
    assert where(LARGE + 1) != HERE


async def test_an_error_of_work_on_a_thread_is_raised_where_it_is_awaited() -> None:
    with pytest.raises(ZeroDivisionError):
        await done_aside(LARGE + 1, lambda: 1 // 0)


def turns_of_others(pieces: int) -> int:
    """Return how often another task came to its turn between pieces of work."""

    async def work() -> None:
        for done in range(1, pieces + 1):
            await let_others(done)

    async def both() -> int:
        task, turns = asyncio.create_task(work()), -1  # the first turn is before the work
        while not task.done():
            turns += 1
            await asyncio.sleep(0)
        return turns

    return asyncio.run(both())


def test_others_go_on_after_every_so_many_pieces_but_not_within_a_replay() -> None:
    assert turns_of_others(3 * LARGE) == 3
    with in_place():
        assert turns_of_others(3 * LARGE) == 0
