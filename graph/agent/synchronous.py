"""The synchronous facade: the asynchronous one, on an event loop of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from functools import update_wrapper
from pathlib import Path
from types import MethodType
from typing import Any, Concatenate, Generic, NoReturn, ParamSpec, Self, TypeVar, Unpack, overload

from planner_executor.graph.agent.asynchronous import AsyncAgent
from planner_executor.graph.builder.opening import AgentOptions
from planner_executor.graph.errors import ConfigError
from planner_executor.graph.ledger.database_name import DATABASE
from planner_executor.graph.lifetime import LoopThread

P = ParamSpec("P")
Result = TypeVar("Result")

STOP_S = 10.0
"""How long an interrupted caller waits for the run to pause."""


class Blocking(Generic[P, Result]):
    """A method of `AsyncAgent` for `Agent`: with its signature and docstring, and returning when it is done."""

    def __init__(self, method: Callable[Concatenate[AsyncAgent, P], Coroutine[Any, Any, Result]]) -> None:
        def call(agent: Agent, *args: P.args, **kwargs: P.kwargs) -> Result:
            return agent.wait_for(lambda given: method(given, *args, **kwargs))

        update_wrapper(call, method)
        self._call = call

    @overload
    def __get__(self, agent: None, owner: type) -> Callable[Concatenate[Agent, P], Result]: ...

    @overload
    def __get__(self, agent: Agent, owner: type) -> Callable[P, Result]: ...

    def __get__(self, agent: Agent | None, owner: type) -> Callable[..., Result]:
        return self._call if agent is None else MethodType(self._call, agent)


class Agent:
    """`AsyncAgent` for synchronous code; works inside a running event loop too, and from several threads.

    It is opened by `with` or on first use, and closed at the end of the block, by `close`, when it is dropped, or at
    the end of the process.
    """

    def __init__(self, database: str | Path = DATABASE, **options: Unpack[AgentOptions]) -> None:
        """See `AsyncAgent`."""
        self._agent = AsyncAgent(database, **options)
        self._loop: LoopThread | None = None
        self._starting = threading.Lock()

    @classmethod
    def open(cls, database: str | Path = DATABASE, **options: Unpack[AgentOptions]) -> Self:
        """Return an agent, with the same arguments."""
        return cls(database, **options)

    def __enter__(self) -> Self:
        try:
            self.wait_for(AsyncAgent.prepare)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> NoReturn:
        raise ConfigError("Agent needs `with Agent.open(...)`; for `async with` use AsyncAgent")

    async def __aexit__(self, *_: object) -> None: ...

    def close(self) -> None:
        """See `AsyncAgent.aclose`."""
        with self._starting:
            loop, self._loop = self._loop, None
        if loop is None or not loop.is_here:
            return
        closing = loop.begin(self._agent.aclose())
        # A finalizer may run on the loop's own thread, which would wait for itself.
        if not loop.is_current:
            closing.result()
        loop.stop()

    start = Blocking(AsyncAgent.start)
    resume = Blocking(AsyncAgent.resume)
    retry = Blocking(AsyncAgent.retry)
    fork = Blocking(AsyncAgent.fork)
    work = Blocking(AsyncAgent.work)
    show = Blocking(AsyncAgent.show)
    watch = Blocking(AsyncAgent.watch)
    list = Blocking(AsyncAgent.list)
    inbox = Blocking(AsyncAgent.inbox)
    alike = Blocking(AsyncAgent.alike)
    decide_alike = Blocking(AsyncAgent.decide_alike)
    log = Blocking(AsyncAgent.log)
    value = Blocking(AsyncAgent.value)
    audit = Blocking(AsyncAgent.audit)
    verify = Blocking(AsyncAgent.verify)
    export = Blocking(AsyncAgent.export)
    replay = Blocking(AsyncAgent.replay)
    redact = Blocking(AsyncAgent.redact)
    steer = Blocking(AsyncAgent.steer)
    skip = Blocking(AsyncAgent.skip)
    approvals = Blocking(AsyncAgent.approvals)
    revoke = Blocking(AsyncAgent.revoke)
    supply = Blocking(AsyncAgent.supply)
    edit = Blocking(AsyncAgent.edit)
    compare_terms = Blocking(AsyncAgent.compare_terms)
    cancel = Blocking(AsyncAgent.cancel)
    pause = Blocking(AsyncAgent.pause)

    def wait_for(self, work: Callable[[AsyncAgent], Coroutine[Any, Any, Result]]) -> Result:
        """Run a coroutine on the agent's loop; an interrupt while waiting (Ctrl-C) cancels it."""
        tasks: list[asyncio.Task[Result]] = []

        async def done() -> Result:
            tasks.append(asyncio.create_task(work(self._agent)))  # a task that `stop` can wait for
            return await tasks[0]

        async def stop() -> None:
            tasks[0].cancel()
            await asyncio.wait(tasks, timeout=STOP_S)

        loop = self._running()
        future = loop.begin(done())
        try:
            return future.result()
        finally:
            if not future.done():
                loop.begin(stop()).result()

    def _running(self) -> LoopThread:
        """Return the agent's event loop.

        Raises:
            AgentClosedError: The agent was closed, or belongs to another process.
        """
        with self._starting:
            self._agent.check()
            if self._loop is None:
                self._loop = LoopThread()
            return self._loop
