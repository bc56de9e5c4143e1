"""The facade for scripts, notebooks and the command line: checkpointer and ledger in one file, opened together."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Any, Self, TypeVar

from langchain_core.messages import HumanMessage
from langgraph.errors import EmptyInputError
from langgraph.types import Command
from pydantic import JsonValue

from graph.builder import Graph, build_graph, own_tools
from graph.caller import Caller, calling
from graph.calls.threads import run_sync
from graph.chat_models.settings import Given
from graph.checkpoint import DATABASE, open_checkpointer
from graph.errors import InputError, MissingToolsError, NothingToDecideError, RunPausedError
from graph.identity import local_user
from graph.ledger.run_store import Redacted
from graph.ledger.seal import SealKey
from graph.ledger.verification import Verification
from graph.lifetime import LoopThread, OpenOnUse
from graph.own_tools import name_of
from graph.record.amendment import Amendment
from graph.record.run_state import run_name
from graph.record_service import audited, exported, redacted, verified, verified_file
from graph.replay.opening import replayed_file, replayed_run
from graph.replay.report import Replay
from graph.route import headed
from graph.runs import Log, Run, RunPage, Runs, open_runs
from graph.text.audit import Audit
from graph.text.event_text import Section
from graph.text.notebook import draw_plans
from graph.tool_servers import Servers, Tools, awith_servers

Progress = Callable[[Mapping[str, Any]], None]
Result = TypeVar("Result")

STOP_S = 10.0
"""How long an interrupted caller waits for the run to pause."""


@dataclass(frozen=True)
class Opened:
    """What an agent works with while it is open."""

    graph: Graph
    runs: Runs
    tools: frozenset[str] | None = None

    def require_tools(self, run: Run) -> None:
        """Refuse a run that has steps left whose tools are not at hand; without names of tools any run is let pass.

        Raises:
            MissingToolsError: There are such steps.
        """
        if self.tools is None or run.ended or run.plan is None:
            return
        left = [step for step in run.plan.steps if run.step_status[step.id] != "succeeded"]
        missing = {name for step in left for name in step.tool_names} - self.tools
        if missing:
            raise MissingToolsError(run.id, sorted(missing))


@asynccontextmanager
async def opened(
    database: str | Path, tools: Tools | None, mcp: Servers, options: Mapping[str, Any]
) -> AsyncIterator[Opened]:
    """Open a database and build the graph over it."""
    others = own_tools() if tools is None else tools
    async with (
        open_runs(database) as runs,
        open_checkpointer(database) as checkpointer,
        awith_servers(mcp, others) as all_tools,
    ):
        graph = build_graph(checkpointer=checkpointer, ledger=runs.ledger, tools=all_tools, **options)
        yield Opened(graph, runs, frozenset(map(name_of, all_tools)))


class AsyncAgent:
    """Starts, resumes, inspects and cancels runs in one database.

    It is opened by `async with` or on first use, and closed at the end of the block, by `aclose`, at the end of its
    event loop, or when it is dropped.
    """

    def __init__(
        self, database: str | Path = DATABASE, *, tools: Tools | None = None, mcp: Servers = None, **options: Any
    ) -> None:
        """Make an agent; errors of its configuration come when it is opened.

        Args:
            database: An SQLite file, which is created if it is not there.
            tools: LangChain tools or functions with a docstring; None means the project's own.
            mcp: A file that lists MCP servers, or such a list; they run until the end, their tools are beside `tools`.
            options: See `graph.build_graph`: `planner`, `executor`, `approval`, ...

        Raises:
            ConfigError: When it is opened: a model, a tool, an MCP server or a setting cannot work.
            LedgerUnavailableError: When it is opened: the database cannot be used.
            AgentClosedError: When it is used after it was closed.
        """
        self._open = OpenOnUse(str(database), partial(opened, database, tools, mcp, options))
        draw_plans()

    @classmethod
    def open(cls, database: str | Path = DATABASE, **options: Any) -> Self:
        """Return an agent, with the same arguments."""
        return cls(database, **options)

    @classmethod
    def over(cls, graph: Graph, runs: Runs) -> Self:
        """Return an agent over a graph and runs that its caller has opened, and closes."""
        agent = cls(runs.ledger.name)
        agent._open = OpenOnUse(runs.ledger.name, lambda: nullcontext(Opened(graph, runs)))
        return agent

    async def __aenter__(self) -> Self:
        try:
            await self._open.get()
        except BaseException:
            await self.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    @property
    def graph(self) -> Graph:
        """The graph, while the agent is open."""
        return self._open.value.graph

    @property
    def runs(self) -> Runs:
        """The runs, while the agent is open."""
        return self._open.value.runs

    def check(self) -> None:
        """Check that the agent can be used.

        Raises:
            AgentClosedError: It was closed, or opened before this process was forked.
        """
        self._open.check()

    async def aclose(self) -> None:
        """Close the database, and stop the MCP servers; a run that executes is for its caller to end first."""
        await self._open.close()

    async def start(
        self,
        goal: str,
        *,
        constraints: Sequence[str] = (),
        tags: Sequence[str] = (),
        plan: JsonValue = None,
        thread: str | None = None,
        setup: Mapping[str, Any] | None = None,
        on_progress: Progress | None = None,
    ) -> Run:
        """Start a run and return it as it stands: waiting for a decision, or at its end.

        Args:
            goal: What is wanted.
            constraints: What to respect on the way.
            tags: Words to find the run by in lists.
            plan: A plan to use instead of asking the planner.
            thread: The thread to start on; a new one by default.
            setup: What the caller needs to resume the run elsewhere, such as folder names; kept in the ledger.
            on_progress: Called with each step's changes as they happen.

        Raises:
            InputError: There is no goal, or a tag is not a short word.
        """
        thread = thread or token_hex(4)
        given: dict[str, Any] = {"goal": goal, "constraints": list(constraints), "tags": list(tags)}
        if plan is not None:
            given["plan"] = plan
        await self._drive(given, Caller.facade(thread, setup), on_progress)
        return await self._stands(thread)

    async def resume(
        self, run: str, decision: Any = None, *, unseen: bool = False, on_progress: Progress | None = None
    ) -> Run:
        """Go on with a run, with a decision where it waits for one, and return it as it then stands.

        Args:
            run: Its id, or its thread.
            decision: An answer to the review request: `"approve"`, `"reject"`, feedback, a changed plan, or the
                long form `{"decisions": [...]}`; `Run.decide` puts it together.
            unseen: Whether it was given beforehand, with nobody looking. It then approves a plan and nothing else: it
                stands in the ledger as what it is, clears no call that may have happened, and vouches for no value.
            on_progress: Called with each step's changes as they happen.

        Raises:
            UnknownRunError: There is no such run.
            NothingToDecideError: A decision was given, and the run does not wait for one.
            InputError: The decision is `{}`, or a later run has taken the run's thread.
            MissingToolsError: A tool of the steps that are left is not at hand; what is asked stays open.
        """
        key = await (await self._all_runs()).find(run)
        before = await self._stands(key.thread)
        if before.n != key.n:
            raise InputError("run", f"{run} cannot go on: {before.id} has taken its thread since")
        (await self._open.get()).require_tools(before)
        if decision is not None:
            await self._decide(before, decision, unseen, on_progress)
        elif not before.ended and before.request is None:
            await self._drive(None, Caller.facade(key.thread), on_progress)
        return await self._stands(key.thread)

    async def show(self, run: str) -> Run:
        """Return a run as it stands, with the open review request if it waits for a decision.

        Raises:
            UnknownRunError: There is no such run.
        """
        key = await (await self._all_runs()).find(run)
        stands = await self._stands(key.thread)
        return stands if stands.n == key.n else await (await self._all_runs()).show(key)

    async def list(self, **wanted: Any) -> RunPage:
        """Return a page of runs, the latest first.

        Args:
            wanted: Fields of `graph.record.run_filter.RunFilter`: `status="waiting"`, `tag="nightly"`, `since=` (Unix
                seconds), `text="wind"`, `limit=50`, and for the next page `before=page.next`.

        Raises:
            InputError: The limit is less than 1.
        """
        return await (await self._all_runs()).list(**wanted)

    async def log(self, run: str) -> Log:
        """Return what the ledger says of a run, event by event."""
        return await (await self._all_runs()).log(run)

    async def value(self, run: str, step: str | None = None) -> JsonValue:
        """Return the whole value of a step that succeeded, or the run's whole answer, however large.

        Raises:
            UnknownRunError: There is no such run.
            InputError: There is no such value.
        """
        return await (await self._all_runs()).value(run, step)

    async def audit(self, run: str, *only: Section) -> Audit:
        """Return a run as a story that a person can read, or as data; of the sections named, or whole.

        Args:
            run: Its id, or its thread.
            only: Some of `plans`, `steps`, `decisions`, `policy`, `budget`.
        """
        return await audited(await self._all_runs(), run, *only)

    async def verify(self, run: str | Path, *, head: str | None = None, key: SealKey | None = None) -> Verification:
        """Recompute the chain of a run and say whether its record is what was written.

        Args:
            run: Its id, its thread, or the path of an exported file.
            head: A hash that was noted of one of its events: the record must still hold it.
            key: The key that it must be sealed with; the environment's by default.
        """
        if isinstance(run, Path):
            return await run_sync(lambda: verified_file(run, head, key))
        return await verified(await self._all_runs(), run, head, key)

    async def export(self, run: str, file: str | Path) -> Verification:
        """Write a run's whole record to a new file, which `verify` and `replay` take without the database."""
        return await exported(await self._all_runs(), run, Path(file))

    async def replay(self, run: str | Path, *, planner: Given | None = None) -> Replay:
        """Play a run again from its record alone and say where it first differs; no model and no tool is asked.

        Args:
            run: Its id, its thread, or the `Path` of an exported file.
            planner: A model that plans instead of the one on record.

        Raises:
            LedgerCorruptError: The record is not what was written.
            InputError: The record is of a version that this one cannot play.
            ConfigError: The planner cannot be made.
        """
        if isinstance(run, Path):
            return await replayed_file(run, planner)
        return await replayed_run(await self._all_runs(), run, planner)

    async def redact(self, run: str, value: str, *, reason: str, by: str | None = None) -> Redacted:
        """Take a value out of all that is kept of a run and its thread, so that its bytes are nowhere in the file.

        The chain still holds: the events keep their digests, and an event says which were changed, by whom and why.

        Args:
            run: Its id, or its thread. Nobody may be at work on a run of the thread.
            value: A text of at least four characters; it is found inside of others too.
            reason: Why, for the record.
            by: Who wants it; the operating system's user by default.

        Raises:
            InputError: The record cannot do without the value.
            RunOwnedError: Somebody works on a run of the thread.
        """
        return await redacted(await self._all_runs(), run, value, reason, by)

    async def cancel(self, run: str) -> Run:
        """End a run; one that executes elsewhere stops before its next call. A run that has ended stays as it is."""
        return await (await self._all_runs()).cancel(run)

    async def pause(self, run: str) -> Run:
        """Ask a run that executes elsewhere to stop before its next call; it can be resumed."""
        return await (await self._all_runs()).pause(run)

    async def steer(
        self,
        run: str,
        *,
        add: Sequence[str] = (),
        withdraw: Sequence[str] = (),
        feedback: str | None = None,
        on_progress: Progress | None = None,
    ) -> Run:
        """Change what a run is to respect, or say what is wanted; it plans again before it goes on.

        A run that executes elsewhere reads it before its next call; one that waits for a decision is planned at once,
        and asks again if the plan is beyond what was approved; a paused one reads it when it is resumed.

        Args:
            run: Its id, or its thread.
            add: Constraints that hold from now on.
            withdraw: Constraints that hold no longer.
            feedback: Words for the planner.
            on_progress: Called with each step's changes as they happen.

        Raises:
            UnknownRunError: There is no such run.
            InputError: It has ended, or has no such constraint.
        """
        before = await self.show(run)
        (await self._open.get()).require_tools(before)
        steer = Amendment(tuple(add), tuple(withdraw), feedback, local_user())
        worked_on = await (await self._all_runs()).steer(run, steer)
        if not worked_on and before.request is not None:
            await self._drive(None, Caller.facade(before.thread), on_progress)
        return await self.show(run)

    async def _all_runs(self) -> Runs:
        return (await self._open.get()).runs

    async def _own_graph(self) -> Graph:
        return (await self._open.get()).graph

    async def _decide(self, run: Run, decision: Any, unseen: bool, on_progress: Progress | None) -> None:
        if decision == {}:
            raise InputError("decision", "an empty answer decides nothing; answer approve, reject, or a changed plan")
        if run.request is None and run.status == "waiting":
            await self._drive(
                None, Caller.facade(run.thread), None
            )  # the process died before the request reached the checkpoint
            run = await self._stands(run.thread)
        if run.request is None:
            raise NothingToDecideError(run.id, run.status)
        await self._drive(Command(resume=decision), Caller.facade(run.thread, unseen=unseen), on_progress)

    async def _drive(self, given: Any, caller: Caller, on_progress: Progress | None) -> None:
        config: Any = {"configurable": {"thread_id": caller.thread}}
        with suppress(RunPausedError), calling(caller):
            try:
                await self._stream(given, config, on_progress)
            except EmptyInputError:
                await self._restore(caller.thread, config)
                await self._stream(given, config, on_progress)

    async def _stream(self, given: Any, config: Any, on_progress: Progress | None) -> None:
        async for change in (await self._own_graph()).astream(given, config, stream_mode="custom", durability="sync"):
            if on_progress is not None:
                on_progress(change)

    async def _restore(self, thread: str, config: Any) -> None:
        """Where a thread has lost its checkpoints, begin at what the ledger has of its run: that is the truth."""
        key = await (await self._all_runs()).latest(thread)
        seen = (await (await self._all_runs()).ledger.events(key))[-1].seq
        run = {"thread": key.thread, "n": key.n, "id": run_name(key.thread, key.n), "seq": seen}
        state = {"run": run, **headed("plan"), "messages": [HumanMessage("resume")]}
        await (await self._own_graph()).aupdate_state(config, state, as_node="review")

    async def _stands(self, thread: str) -> Run:
        key = await (await self._all_runs()).latest(thread)
        run = await (await self._all_runs()).show(key)
        state = await (await self._own_graph()).aget_state({"configurable": {"thread_id": thread}})
        asked = [pending.value for pending in state.interrupts]
        return run.with_request(asked[0]) if asked and run.status == "waiting" else run


class Agent:
    """The same for synchronous code; works inside a running event loop too, and from several threads.

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
        self, run: str, decision: Any = None, *, unseen: bool = False, on_progress: Progress | None = None
    ) -> Run:
        """See `AsyncAgent.resume`."""
        return self._do(lambda: self._agent.resume(run, decision, unseen=unseen, on_progress=on_progress))

    def show(self, run: str) -> Run:
        """See `AsyncAgent.show`."""
        return self._do(lambda: self._agent.show(run))

    def list(self, **wanted: Any) -> RunPage:
        """See `AsyncAgent.list`."""
        return self._do(lambda: self._agent.list(**wanted))

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

    def replay(self, run: str | Path, *, planner: Given | None = None) -> Replay:
        """See `AsyncAgent.replay`."""
        return self._do(lambda: self._agent.replay(run, planner=planner))

    def redact(self, run: str, value: str, *, reason: str, by: str | None = None) -> Redacted:
        """See `AsyncAgent.redact`."""
        return self._do(lambda: self._agent.redact(run, value, reason=reason, by=by))

    def steer(self, run: str, **changes: Any) -> Run:
        """See `AsyncAgent.steer`."""
        return self._do(lambda: self._agent.steer(run, **changes))

    def cancel(self, run: str) -> Run:
        """See `AsyncAgent.cancel`."""
        return self._do(lambda: self._agent.cancel(run))

    def pause(self, run: str) -> Run:
        """See `AsyncAgent.pause`."""
        return self._do(lambda: self._agent.pause(run))

    def _do(self, work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """Do work on the agent's loop; whoever is interrupted while waiting (Ctrl-C) leaves nothing at work behind."""
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
