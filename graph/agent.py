"""The synchronous facade for scripts, notebooks and the command line, over `graph.async_agent`."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, NoReturn, Self, TypeVar

from pydantic import JsonValue

from planner_executor.graph.agent_session import NotGiven, ProgressCallback
from planner_executor.graph.async_agent import AsyncAgent
from planner_executor.graph.chat_models.settings import ModelSpec
from planner_executor.graph.checkpoint import DATABASE
from planner_executor.graph.errors import ConfigError
from planner_executor.graph.inbox import Inbox
from planner_executor.graph.ledger.run_store import Redacted
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.verification import Verification
from planner_executor.graph.lifetime import LoopThread
from planner_executor.graph.policy.terms import Comparison
from planner_executor.graph.record.person import Person
from planner_executor.graph.record.standing_approval import StandingUse
from planner_executor.graph.replay.report import Replay
from planner_executor.graph.runs import Log, Run, RunPage
from planner_executor.graph.text.audit import Audit
from planner_executor.graph.text.event_text import Section

__all__ = ["Agent", "AsyncAgent"]

Result = TypeVar("Result")

STOP_S = 10.0
"""How long an interrupted caller waits for the run to pause."""


class Agent:
    """`AsyncAgent` for synchronous code; works inside a running event loop too, and from several threads.

    It is opened by `with` or on first use, and closed at the end of the block, by `close`, when it is dropped, or at
    the end of the process.
    """

    def __init__(self, database: str | Path = DATABASE, **options: Any) -> None:
        """See `AsyncAgent`."""
        self._agent = AsyncAgent(database, **options)
        self._loop: LoopThread | None = None
        self._starting = threading.Lock()

    @classmethod
    def open(cls, database: str | Path = DATABASE, **options: Any) -> Self:
        """Return an agent, with the same arguments."""
        return cls(database, **options)

    def __enter__(self) -> Self:
        try:
            self._do(self._agent.__aenter__)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> NoReturn:
        raise ConfigError("Agent needs `with Agent.open(...)`; for `async with` use graph.AsyncAgent")

    async def __aexit__(self, *_: object) -> None: ...

    def close(self) -> None:
        """See `AsyncAgent.aclose`."""
        with self._starting:
            loop, self._loop = self._loop, None
        if loop is None or not loop.is_here:
            return
        closing = loop.begin(self._agent.aclose())
        if not loop.is_current:
            closing.result()
        loop.stop()

    def start(self, goal: str, **options: Any) -> Run:
        """See `AsyncAgent.start`."""
        return self._do(lambda: self._agent.start(goal, **options))

    def resume(
        self,
        run: str,
        decision: Any = NotGiven.DECISION,
        *,
        unseen: bool = False,
        take_over: bool = False,
        by: Person | None = None,
        strict: bool = False,
        on_progress: ProgressCallback | None = None,
    ) -> Run:
        """See `AsyncAgent.resume`."""
        how: dict[str, Any] = {"unseen": unseen, "take_over": take_over, "by": by, "strict": strict}
        return self._do(lambda: self._agent.resume(run, decision, **how, on_progress=on_progress))

    def retry(self, run: str, **changes: Any) -> Run:
        """See `AsyncAgent.retry`."""
        return self._do(lambda: self._agent.retry(run, **changes))

    def fork(self, run: str, step: str, **options: Any) -> Run:
        """See `AsyncAgent.fork`."""
        return self._do(lambda: self._agent.fork(run, step, **options))

    def work(self, **options: Any) -> None:
        """See `AsyncAgent.work`."""
        self._do(lambda: self._agent.work(**options))

    def show(self, run: str) -> Run:
        """See `AsyncAgent.show`."""
        return self._do(lambda: self._agent.show(run))

    def list(self, **wanted: Any) -> RunPage:
        """See `AsyncAgent.list`."""
        return self._do(lambda: self._agent.list(**wanted))

    def inbox(self, for_: Person | None = None, *, limit: int = 50, after: str | None = None) -> Inbox:
        """See `AsyncAgent.inbox`."""
        return self._do(lambda: self._agent.inbox(for_, limit=limit, after=after))

    def log(self, run: str) -> Log:
        """See `AsyncAgent.log`."""
        return self._do(lambda: self._agent.log(run))

    def value(self, run: str, step: str | None = None) -> JsonValue:
        """See `AsyncAgent.value`."""
        return self._do(lambda: self._agent.value(run, step))

    def audit(self, run: str, *only: Section) -> Audit:
        """See `AsyncAgent.audit`."""
        return self._do(lambda: self._agent.audit(run, *only))

    def verify(self, run: str | Path, *, head: str | None = None, key: SealKey | None = None) -> Verification:
        """See `AsyncAgent.verify`."""
        return self._do(lambda: self._agent.verify(run, head=head, key=key))

    def export(self, run: str, file: str | Path) -> Verification:
        """See `AsyncAgent.export`."""
        return self._do(lambda: self._agent.export(run, file))

    def replay(self, run: str | Path, *, planner: ModelSpec | None = None) -> Replay:
        """See `AsyncAgent.replay`."""
        return self._do(lambda: self._agent.replay(run, planner=planner))

    def redact(self, run: str, value: str, *, reason: str, by: Person | str | None = None) -> Redacted:
        """See `AsyncAgent.redact`."""
        return self._do(lambda: self._agent.redact(run, value, reason=reason, by=by))

    def steer(self, run: str, **changes: Any) -> Run:
        """See `AsyncAgent.steer`."""
        return self._do(lambda: self._agent.steer(run, **changes))

    def skip(self, run: str, step: str, why: str = "", *, by: Person | None = None) -> Run:
        """See `AsyncAgent.skip`."""
        return self._do(lambda: self._agent.skip(run, step, why, by=by))

    def approvals(self, run: str | None = None) -> Sequence[StandingUse]:
        """See `AsyncAgent.approvals`."""
        return self._do(lambda: self._agent.approvals(run))

    def revoke(self, approval: str, *, by: Person | None = None) -> bool:
        """See `AsyncAgent.revoke`."""
        return self._do(lambda: self._agent.revoke(approval, by=by))

    def supply(self, run: str, step: str, value: JsonValue, *, by: Person | None = None) -> Run:
        """See `AsyncAgent.supply`."""
        return self._do(lambda: self._agent.supply(run, step, value, by=by))

    def edit(self, run: str, plan: JsonValue, **options: Any) -> Run:
        """See `AsyncAgent.edit`."""
        return self._do(lambda: self._agent.edit(run, plan, **options))

    def compare_terms(self, run: str) -> Comparison | None:
        """See `AsyncAgent.compare_terms`."""
        return self._do(lambda: self._agent.compare_terms(run))

    def cancel(self, run: str, *, by: Person | None = None) -> Run:
        """See `AsyncAgent.cancel`."""
        return self._do(lambda: self._agent.cancel(run, by=by))

    def pause(self, run: str, *, by: Person | None = None) -> Run:
        """See `AsyncAgent.pause`."""
        return self._do(lambda: self._agent.pause(run, by=by))

    def _do(self, work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """Run a coroutine on the agent's loop; an interrupt while waiting (Ctrl-C) cancels it."""
        tasks: list[asyncio.Task[Result]] = []

        async def done() -> Result:
            tasks.append(asyncio.create_task(work()))  # a task that `stop` can wait for
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
