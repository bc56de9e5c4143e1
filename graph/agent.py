"""The facade for scripts, notebooks and the command line: checkpointer and ledger in one file, opened together."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from langgraph.types import Command
from pydantic import JsonValue

from graph.builder import Graph, build_graph
from graph.checkpoint import DATABASE, open_checkpointer
from graph.errors import InputError, NothingToDecideError, RunPausedError
from graph.runs import Log, Run, Runs, open_runs

Progress = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True)
class AsyncAgent:
    """Starts, resumes, inspects and cancels runs in one database; made by `AsyncAgent.open`."""

    graph: Graph
    runs: Runs

    @classmethod
    @asynccontextmanager
    async def open(cls, database: str | Path = DATABASE, **options: Any) -> "AsyncIterator[AsyncAgent]":
        """Open a database, which is created where there is none.

        Args:
            database: An SQLite file.
            options: See `graph.build_graph`: `planner`, `executor`, `tools`, `approval`, ...

        Raises:
            ConfigError: A model, a tool or a setting cannot work.
            LedgerUnavailableError: The database cannot be used.
        """
        async with open_runs(database) as runs, open_checkpointer(database) as checkpointer:
            graph = build_graph(checkpointer=checkpointer, ledger=runs.ledger, **options)
            yield cls(graph, runs)

    async def start(
        self,
        goal: str,
        *,
        constraints: Sequence[str] = (),
        plan: JsonValue = None,
        thread: str | None = None,
        setup: Mapping[str, Any] | None = None,
        on_progress: Progress | None = None,
    ) -> Run:
        """Start a run and return it as it stands: waiting for a decision, or at its end.

        Args:
            goal: What is wanted.
            constraints: What to respect on the way.
            plan: A plan to use instead of asking the planner.
            thread: The thread to start on; a new one by default.
            setup: What the caller needs to resume the run elsewhere, such as folder names; kept in the ledger.
            on_progress: Called with each step's changes as they happen.

        Raises:
            InputError: There is no goal.
        """
        thread = thread or token_hex(4)
        given: dict[str, Any] = {"goal": goal, "constraints": list(constraints)}
        if plan is not None:
            given["plan"] = plan
        await self._drive(given, thread, on_progress, dict(setup or {}))
        return await self._stands(thread)

    async def resume(self, run: str, decision: Any = None, *, on_progress: Progress | None = None) -> Run:
        """Go on with a run, with a decision where it waits for one, and return it as it then stands.

        Args:
            run: Its id, or its thread.
            decision: An answer to the review request: `"approve"`, `"reject"`, feedback, a changed plan, or the
                long form `{"decisions": [...]}`.
            on_progress: Called with each step's changes as they happen.

        Raises:
            UnknownRunError: There is no such run.
            NothingToDecideError: A decision was given, and the run does not wait for one.
            InputError: The decision is `{}`, or a later run has taken the run's thread.
        """
        key = await self.runs.find(run)
        before = await self._stands(key.thread)
        if before.n != key.n:
            raise InputError("run", f"{run} cannot go on: {before.id} has taken its thread since")
        if decision is not None:
            await self._decide(before, decision, on_progress)
        elif not before.ended and before.request is None:
            await self._drive(None, key.thread, on_progress)
        return await self._stands(key.thread)

    async def show(self, run: str) -> Run:
        """Return a run as it stands, with the open review request if it waits for a decision.

        Raises:
            UnknownRunError: There is no such run.
        """
        key = await self.runs.find(run)
        stands = await self._stands(key.thread)
        return stands if stands.n == key.n else await self.runs.show(key)

    async def list(self) -> list[Run]:
        """Return all runs, the latest first."""
        return await self.runs.list()

    async def log(self, run: str) -> Log:
        """Return what the ledger says of a run, event by event."""
        return await self.runs.log(run)

    async def cancel(self, run: str) -> Run:
        """End a run; one that executes elsewhere stops before its next call. A run that has ended stays as it is."""
        return await self.runs.cancel(run)

    async def pause(self, run: str) -> Run:
        """Ask a run that executes elsewhere to stop before its next call; it can be resumed."""
        return await self.runs.pause(run)

    async def _decide(self, run: Run, decision: Any, on_progress: Progress | None) -> None:
        if decision == {}:
            raise InputError("decision", "an empty answer decides nothing; answer approve, reject, or a changed plan")
        if run.request is None and run.status == "waiting":
            await self._drive(None, run.thread, None)  # the process died before the request reached the checkpoint
            run = await self._stands(run.thread)
        if run.request is None:
            raise NothingToDecideError(run.id, run.status)
        await self._drive(Command(resume=decision), run.thread, on_progress)

    async def _drive(
        self, given: Any, thread: str, on_progress: Progress | None, setup: Mapping[str, Any] | None = None
    ) -> None:
        config: Any = {"configurable": {"thread_id": thread, "setup": setup or {}}}
        with suppress(RunPausedError):
            async for change in self.graph.astream(given, config, stream_mode="custom", durability="sync"):
                if on_progress is not None:
                    on_progress(change)

    async def _stands(self, thread: str) -> Run:
        key = await self.runs.find(thread)
        run = await self.runs.show(key)
        state = await self.graph.aget_state({"configurable": {"thread_id": thread}})
        asked = [pending.value for pending in state.interrupts]
        return run.with_request(asked[0]) if asked and not run.ended else run


@dataclass(frozen=True)
class Agent:
    """The same for synchronous code; works inside a running event loop too. Made by `Agent.open`."""

    _portal: BlockingPortal
    _agent: AsyncAgent

    @classmethod
    @contextmanager
    def open(cls, database: str | Path = DATABASE, **options: Any) -> "Iterator[Agent]":
        """See `AsyncAgent.open`."""
        opened = AsyncAgent.open(database, **options)
        with start_blocking_portal() as portal, portal.wrap_async_context_manager(opened) as agent:
            yield cls(portal, agent)

    def start(self, goal: str, **options: Any) -> Run:
        """See `AsyncAgent.start`."""
        return self._portal.call(lambda: self._agent.start(goal, **options))

    def resume(self, run: str, decision: Any = None, *, on_progress: Progress | None = None) -> Run:
        """See `AsyncAgent.resume`."""
        return self._portal.call(lambda: self._agent.resume(run, decision, on_progress=on_progress))

    def show(self, run: str) -> Run:
        """See `AsyncAgent.show`."""
        return self._portal.call(self._agent.show, run)

    def list(self) -> "list[Run]":
        """See `AsyncAgent.list`."""
        return self._portal.call(self._agent.list)

    def log(self, run: str) -> Log:
        """See `AsyncAgent.log`."""
        return self._portal.call(self._agent.log, run)

    def cancel(self, run: str) -> Run:
        """See `AsyncAgent.cancel`."""
        return self._portal.call(self._agent.cancel, run)

    def pause(self, run: str) -> Run:
        """See `AsyncAgent.pause`."""
        return self._portal.call(self._agent.pause, run)
