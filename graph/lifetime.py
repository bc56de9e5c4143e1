"""How long live things live: opened on first use, closed by their owner, with their event loop, or when dropped."""

import asyncio
import concurrent.futures.thread  # noqa: F401  (its end is registered before `_stop_all`, and so comes after it)
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from weakref import WeakSet, finalize

from planner_executor.graph.errors import AgentClosedError

Value = TypeVar("Value")
Result = TypeVar("Result")
Open = Callable[[], AbstractAsyncContextManager[Value]]

AT_EXIT_S = 5.0
"""How long the exit of the process waits for resources left open."""


@dataclass(frozen=True)
class _Life(Generic[Value]):
    """A task that enters a context manager, waits, and leaves it: both in one task, as anyio asks for."""

    process: int
    loop: asyncio.AbstractEventLoop
    ready: "asyncio.Future[Value]"
    task: "asyncio.Task[None]"


class OpenOnUse(Generic[Value]):
    """The value of a context manager, entered on first use.

    It is left at `close`, at the end of the event loop (another loop enters it again), or once this object is dropped.
    `name` identifies the resource in messages.
    """

    def __init__(self, name: str, enter: Open[Value]) -> None:
        self._name, self._enter = name, enter
        self._life: _Life[Value] | None = None
        self._let_go: finalize[Any, Any] | None = None
        self._closed = False

    def check(self) -> None:
        """Check that it can be used.

        Raises:
            AgentClosedError: It was closed, or opened before this process was forked.
        """
        if self._closed:
            raise AgentClosedError(self._name, "it is closed; make another one")
        if self._life is not None and self._life.process != os.getpid():
            why = "it was opened by the process that forked this one; open it after the fork"
            raise AgentClosedError(self._name, why)

    async def get(self) -> Value:
        """Return the resource; open it on first use.

        Raises:
            AgentClosedError: See `check`; or it is open on another event loop.
        """
        self.check()
        life, loop = self._life, asyncio.get_running_loop()
        if life is not None and life.loop is not loop and not life.loop.is_closed():
            raise AgentClosedError(self._name, "it is open on another event loop; use it there, or close it there")
        if life is None or life.loop is not loop or life.task.done():
            life = self._begin(loop)
        # One caller that is cancelled must not cancel the opening that the others wait for.
        return await asyncio.shield(life.ready)

    @property
    def value(self) -> Value:
        """The open value.

        Raises:
            AgentClosedError: It is not open.
        """
        self.check()
        if self._life is None or not self._life.ready.done():
            raise AgentClosedError(self._name, "it is not open yet; use `async with`, or call a method first")
        return self._life.ready.result()

    async def close(self) -> None:
        """Leave the context manager; it cannot be opened any more."""
        self._closed = True
        life, self._life = self._life, None
        if self._let_go is None or life is None or life.process != os.getpid():
            return
        self._let_go()
        if life.loop is asyncio.get_running_loop():
            await asyncio.wait([life.task])
            if not life.task.cancelled():
                life.task.result()

    def _begin(self, loop: asyncio.AbstractEventLoop) -> _Life[Value]:
        over, ready = asyncio.Event(), loop.create_future()
        life = _Life(os.getpid(), loop, ready, loop.create_task(_live(self._enter, ready, over)))
        self._life, self._let_go = life, finalize(self, _end, loop, over)
        self._let_go.atexit = False
        return life


async def _live(enter: Open[Value], ready: "asyncio.Future[Value]", over: asyncio.Event) -> None:
    try:
        async with enter() as value:
            if not ready.done():
                ready.set_result(value)
            await over.wait()
    except asyncio.CancelledError:
        ready.cancel()
        raise
    except BaseException as error:
        if ready.done():
            raise
        ready.set_exception(error)
        ready.exception()  # the caller may be gone


class LoopThread:
    """An event loop on a daemon thread of its own, until `stop` or until this object is dropped.

    Its tasks are cancelled then, once each. It is the one way to run a coroutine from synchronous code here, and not
    anyio's portal; see docs/decisions/0031-lifetimes.md.
    """

    def __init__(self) -> None:
        started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        self._process = os.getpid()
        self._thread = threading.Thread(target=_serve, args=(started,), name="agent-loop", daemon=True)
        self._thread.start()
        self._loop, over = started.result()
        self._end = finalize(self, _end, self._loop, over)
        self._end.atexit = False
        _running.add(self)

    @property
    def is_current(self) -> bool:
        """Whether the caller is on the loop's thread; waiting for the loop there would deadlock."""
        return threading.current_thread() is self._thread

    @property
    def is_here(self) -> bool:
        """Whether the thread is one of this process, and not of the one that forked it."""
        return self._process == os.getpid()

    def begin(self, work: Coroutine[Any, Any, Result]) -> "Future[Result]":
        """Begin work on the loop, in the caller's context."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def stop(self, limit_s: float | None = None) -> None:
        """End the loop and wait until it has ended."""
        if self.is_here:
            self._end()
            if not self.is_current:
                self._thread.join(limit_s)


def _serve(started: "Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]]") -> None:
    async def main() -> None:
        over = asyncio.Event()
        started.set_result((asyncio.get_running_loop(), over))
        await over.wait()

    with suppress(KeyboardInterrupt, SystemExit):  # raised by work, and handed to the one who waits for it
        asyncio.run(main())


def _end(loop: asyncio.AbstractEventLoop, over: asyncio.Event) -> None:
    """Let what waits for `over` on a loop end; may be called from any thread, and by a finalizer."""
    with suppress(RuntimeError):  # the loop is closed, and has ended its tasks
        loop.call_soon_threadsafe(over.set)


_running: WeakSet[LoopThread] = WeakSet()


def _stop_all() -> None:
    for thread in tuple(_running):
        thread.stop(AT_EXIT_S)


# At `atexit` the pools of threads have ended, which the last work of a run and of its ledger needs.
threading._register_atexit(_stop_all)  # type: ignore[attr-defined]
