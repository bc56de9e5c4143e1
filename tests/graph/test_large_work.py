"""Work that grows with a plan is done on a thread if it is large, and in place within a replay."""

import asyncio
import threading

import pytest

from planner_executor.graph.large_work import LARGE, done_aside, in_place

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


def test_an_error_of_work_on_a_thread_is_raised_where_it_is_awaited() -> None:
    with pytest.raises(ZeroDivisionError):
        asyncio.run(done_aside(LARGE + 1, lambda: 1 // 0))
