"""A time limit on a call: what stops has stopped, what does not is told of."""

import asyncio
import gc
import time
from collections.abc import Coroutine
from typing import Any

import pytest

from planner_executor.graph.calls import call_timeout
from planner_executor.graph.calls.call_timeout import CallDeadline, within

NEVER_S, AT_ONCE_S = 60.0, 0.01


async def answer(value: Any) -> Any:
    await asyncio.sleep(0)
    return value


async def stopping(ended: list[str], last_words: Any = None) -> Any:
    """Wait until it is cancelled; then stop, or give or raise the last words."""
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        ended.append("asked to stop")
        await asyncio.sleep(0)
        ended.append("stopped")
        if last_words is None:
            raise
        if isinstance(last_words, Exception):
            raise last_words from None
        return last_words


async def deaf(release: asyncio.Event, last_words: BaseException | None = None) -> str:
    while not release.is_set():
        try:
            await release.wait()
        except asyncio.CancelledError:
            continue
    if last_words is not None:
        raise last_words
    return "at last"


def limited(limit_s: float, call: Coroutine[Any, Any, Any], stoppable: bool = True) -> Any:
    return asyncio.run(within(limit_s, call, stoppable))


def test_a_call_within_its_time_gives_what_it_gives() -> None:
    assert limited(NEVER_S, answer(1)) == 1


def test_an_error_within_the_time_is_the_callers() -> None:
    async def fail() -> None:
        raise ValueError("no luck")

    with pytest.raises(ValueError, match="no luck"):
        limited(NEVER_S, fail())


def test_a_call_that_cancels_itself_in_time_was_not_late() -> None:
    async def cancels_itself() -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        limited(NEVER_S, cancels_itself())


def test_a_call_that_takes_too_long_has_stopped_by_the_time_it_is_told() -> None:
    ended: list[str] = []

    with pytest.raises(TimeoutError) as caught:
        limited(AT_ONCE_S, stopping(ended))

    assert ended == ["asked to stop", "stopped"] and str(caught.value) == f"no answer within {AT_ONCE_S} s"


def test_what_only_waits_for_other_work_is_never_said_to_have_stopped_it() -> None:
    with pytest.raises(TimeoutError, match="may still be at work"):
        limited(AT_ONCE_S, stopping([]), stoppable=False)


def test_what_a_call_says_last_counts() -> None:
    assert limited(AT_ONCE_S, stopping([], "done after all")) == "done after all"
    with pytest.raises(ValueError, match="half done"):
        limited(AT_ONCE_S, stopping([], ValueError("half done")))


@pytest.mark.parametrize("last_words", [None, ValueError("too late"), asyncio.CancelledError()], ids=repr)
async def test_a_call_that_does_not_stop_holds_nobody_up_and_nobody_hears_how_it_ended(
    last_words: BaseException | None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(call_timeout, "STOP_S", AT_ONCE_S)

    release = asyncio.Event()
    with pytest.raises(TimeoutError) as caught:
        await within(AT_ONCE_S, deaf(release, last_words), True)
    release.set()
    await asyncio.sleep(0.01)
    assert "may still be at work" in str(caught.value)
    del caught  # its traceback holds the task, which tells of an outcome that nobody asked for once it is gone
    gc.collect()
    assert caplog.records == []


async def test_a_caller_that_is_cancelled_waits_until_the_call_has_stopped() -> None:
    ended: list[str] = []

    caller = asyncio.create_task(within(NEVER_S, stopping(ended), True))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert ended == ["asked to stop", "stopped"]


async def test_a_call_that_tells_of_progress_has_more_time() -> None:
    deadline = CallDeadline(0.2)

    async def work() -> str:
        end = time.monotonic() + 3 * deadline.limit_s
        while time.monotonic() < end:
            deadline.extend()
            await asyncio.sleep(0)
        return "done"

    assert await within(deadline, work(), True) == "done"


def test_progress_extends_a_call_to_no_more_than_a_multiple_of_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_timeout, "MOST_EXTENDED", 0)
    deadline = CallDeadline(NEVER_S)

    deadline.extend()

    assert deadline.left_s <= 0 and deadline.missed == "no answer within 0.0 s, although it told of progress"


async def test_a_call_that_tells_of_progress_for_ever_ends_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_timeout, "MOST_EXTENDED", 2)

    with pytest.raises(TimeoutError, match="although it told of progress"):
        deadline = CallDeadline(0.05)

        async def work() -> None:
            while True:
                deadline.extend()
                await asyncio.sleep(0)

        await within(deadline, work(), True)
