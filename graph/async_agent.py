"""The asynchronous facade: start, resume, inspect and change runs in one database."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Any, Self

from pydantic import JsonValue

from graph.agent_session import Opened, Progress, opened
from graph.builder import Graph
from graph.caller import Caller, Changes
from graph.calls.threads import run_sync
from graph.chat_models.settings import Given
from graph.checkpoint import DATABASE
from graph.errors import InputError
from graph.forking import fork_of
from graph.identity import local_user
from graph.ledger.run_store import Redacted
from graph.ledger.seal import SealKey
from graph.ledger.verification import Verification
from graph.lifetime import OpenOnUse
from graph.record.amendment import Amendment
from graph.record_service import audited, exported, redacted, verified, verified_file
from graph.replay.opening import replayed_file, replayed_run
from graph.replay.report import Replay
from graph.runs import Log, Run, RunPage, Runs
from graph.step_changes import skip_step, supply_result
from graph.text.audit import Audit
from graph.text.event_text import Section
from graph.text.notebook import draw_plans
from graph.tool_servers import Servers, Tools


class AsyncAgent:
    """Starts, resumes, inspects and cancels runs in one database.

    It opens on `async with` or first use, and closes at the end of the block, on `aclose`, with its event loop, or when
    it is garbage collected.
    """

    def __init__(
        self, database: str | Path = DATABASE, *, tools: Tools | None = None, mcp: Servers = None, **options: Any
    ) -> None:
        """Configure an agent; configuration errors are raised when it is opened.

        Args:
            database: An SQLite file, which is created if it is not there.
            tools: LangChain tools or functions with a docstring; None means the project's own.
            mcp: MCP servers, or a file that lists them; they run until the agent closes, and their tools are added.
            options: See `graph.build_graph`: `planner`, `executor`, `approval`, ...

        Raises:
            ConfigError: When it is opened: a model, a tool, an MCP server or a setting is invalid.
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
        """Return an agent over a graph and runs that the caller opens and closes."""
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
        """Close the database and stop the MCP servers; end executing runs first."""
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
        """Start a run and return it when it waits for a decision or has ended.

        Args:
            goal: The goal.
            constraints: Constraints on the plan and its execution.
            tags: Labels to filter lists of runs by.
            plan: A plan to use instead of asking the planner.
            thread: The thread to start on; a new one by default.
            setup: Data that the caller needs to resume the run elsewhere, such as folder names; kept in the ledger.
            on_progress: Called with each step's changes as they happen.

        Raises:
            InputError: The goal is empty, or a tag is not a short word.
        """
        thread = thread or token_hex(4)
        given: dict[str, Any] = {"goal": goal, "constraints": list(constraints), "tags": list(tags)}
        if plan is not None:
            given["plan"] = plan
        await (await self._open.get()).drive(given, Caller.facade(thread, setup), on_progress)
        return await (await self._open.get()).stands(thread)

    async def resume(
        self, run: str, decision: Any = None, *, unseen: bool = False, on_progress: Progress | None = None
    ) -> Run:
        """Resume a run, with a decision if it waits for one, and return it when it stops again.

        Args:
            run: Its id, or its thread.
            decision: An answer to the review request: `"approve"`, `"reject"`, feedback, a changed plan, or the
                long form `{"decisions": [...]}`; `Run.decide` puts it together.
            unseen: Whether the decision was made in advance, without seeing the request. It then approves only a plan:
                it is marked in the ledger, and neither settles an uncertain call nor approves a value.
            on_progress: Called with each step's changes as they happen.

        Raises:
            UnknownRunError: There is no such run.
            NothingToDecideError: A decision was given, but the run does not wait for one.
            InputError: The decision is `{}`, or the thread has a later run.
            MissingToolsError: A tool of the remaining steps is missing; the review request stays open.
        """
        agent = await self._open.get()
        before = await self._latest(run)
        if not before.ended:
            agent.require_tools(before)
        if decision is not None:
            await agent.decide(before, decision, unseen, on_progress)
        elif not before.ended and before.request is None:
            await agent.drive(None, Caller.facade(before.thread), on_progress)
        return await agent.stands(before.thread)

    async def retry(
        self,
        run: str,
        *,
        limits: Mapping[str, Any] | None = None,
        feedback: str | None = None,
        plan: JsonValue = None,
        on_progress: Progress | None = None,
    ) -> Run:
        """Reopen a run that ended, and return it when it waits for a decision or has ended again.

        Steps that succeeded stay as they are; failed and blocked steps are tried again. A raised limit keeps the
        approval, any other change is reviewed.

        Args:
            run: Its id, or its thread.
            limits: Limits of the budget to change, such as `{"tool_calls": 20}`.
            feedback: Feedback; the planner then revises what is left.
            plan: Another plan for what is left.
            on_progress: Called with each step's changes as they happen.

        Raises:
            UnknownRunError: There is no such run.
            InputError: It has not ended, ended as `succeeded` or `rejected`, or the thread has a later run.
            MissingToolsError: A tool of the remaining steps is missing.
        """
        agent = await self._open.get()
        before = await self._latest(run)
        if not before.ended:
            raise InputError("run", f"{before.id} has not ended; continue it instead")
        agent.require_tools(before)
        given: dict[str, Any] = {"operation": "retry", "run": before.id, **({"plan": plan} if plan is not None else {})}
        changes = Changes(limits or {}, feedback)
        await agent.drive(given, replace(Caller.facade(before.thread), changes=changes), on_progress)
        return await agent.stands(before.thread)

    async def fork(
        self,
        run: str,
        step: str,
        *,
        values: Mapping[str, JsonValue] | None = None,
        thread: str | None = None,
        on_progress: Progress | None = None,
    ) -> Run:
        """Start a run on a new thread with copies of the results that do not depend on a step; return it as it waits.

        It inherits no approval. A call that may not be repeated and was made in the forked run is reviewed by itself
        before it is made again.

        Args:
            run: The run to fork: its id, or its thread.
            step: The step from which on everything is done anew.
            values: Step id -> result that you set; these steps are not executed.
            thread: The thread to start on; a new one by default.
            on_progress: Called with each step's changes as they happen.

        Raises:
            UnknownRunError: There is no such run.
            InputError: There is no such step, or a value does not fit its `output`.
        """
        agent, thread = await self._open.get(), thread or token_hex(4)
        fork = await fork_of(await self._all_runs(), run, step, values or {}, local_user())
        given = {"goal": fork.goal, "constraints": list(fork.constraints), "plan": fork.plan}
        caller = replace(Caller.facade(thread, fork.setup), inherited=fork.drafts, values=fork.values)
        await agent.drive(given, caller, on_progress)
        return await agent.stands(thread)

    async def show(self, run: str) -> Run:
        """Return a run's current state, with the open review request if it waits for a decision.

        Raises:
            UnknownRunError: There is no such run.
        """
        key = await (await self._all_runs()).find(run)
        stands = await (await self._open.get()).stands(key.thread)
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
        """Return a run's ledger, event by event."""
        return await (await self._all_runs()).log(run)

    async def value(self, run: str, step: str | None = None) -> JsonValue:
        """Return the whole value of a step that succeeded, or the run's whole answer, however large.

        Raises:
            UnknownRunError: There is no such run.
            InputError: There is no such value.
        """
        return await (await self._all_runs()).value(run, step)

    async def audit(self, run: str, *only: Section) -> Audit:
        """Return a readable report of a run, also available as data; all sections, or only those named.

        Args:
            run: Its id, or its thread.
            only: Some of `plans`, `steps`, `decisions`, `policy`, `budget`.
        """
        return await audited(await self._all_runs(), run, *only)

    async def verify(self, run: str | Path, *, head: str | None = None, key: SealKey | None = None) -> Verification:
        """Recompute the chain of a run and report whether its record is intact.

        Args:
            run: Its id, its thread, or the path of an exported file.
            head: An earlier noted hash of one of its events, which the record must still contain.
            key: The key that must have sealed it; by default the key from the environment.
        """
        if isinstance(run, Path):
            return await run_sync(lambda: verified_file(run, head, key))
        return await verified(await self._all_runs(), run, head, key)

    async def export(self, run: str, file: str | Path) -> Verification:
        """Write a run's whole record to a new file, which `verify` and `replay` take without the database."""
        return await exported(await self._all_runs(), run, Path(file))

    async def replay(self, run: str | Path, *, planner: Given | None = None) -> Replay:
        """Replay a run from its record alone and return the first difference; no recorded model or tool is called.

        Args:
            run: Its id, its thread, or the `Path` of an exported file.
            planner: A model to plan in place of the recorded one.

        Raises:
            LedgerCorruptError: The record is damaged.
            InputError: The record's version is not supported.
            ConfigError: The planner is invalid.
        """
        if isinstance(run, Path):
            return await replayed_file(run, planner)
        return await replayed_run(await self._all_runs(), run, planner)

    async def redact(self, run: str, value: str, *, reason: str, by: str | None = None) -> Redacted:
        """Remove a value from all data of a run's thread, so that its bytes are nowhere in the file.

        The chain still verifies: the events keep their digests, and a `redacted` event lists the changed events, the
        author and the reason.

        Args:
            run: Its id, or its thread. No run of the thread may be executing.
            value: A text of at least four characters, removed also from longer texts.
            reason: The reason, for the record.
            by: The person who asked for it; by default the operating system's user.

        Raises:
            InputError: The record cannot be read without the value.
            RunOwnedError: A run of the thread is executing.
        """
        return await redacted(await self._all_runs(), run, value, reason, by)

    async def skip(self, run: str, step: str, why: str = "") -> Run:
        """Leave a step of a waiting or paused run out, and with it the steps that need it; then `resume` the run.

        Args:
            run: Its id, or its thread.
            step: The step's id.
            why: The reason, for the record.

        Raises:
            InputError: The step is unknown, or has succeeded; or the run has ended or is executing.
        """
        return await skip_step(await self._all_runs(), run, step, why, local_user())

    async def supply(self, run: str, step: str, value: JsonValue) -> Run:
        """Give the result of a step of a waiting or paused run; it is checked as the step's own, when you `resume` it.

        Args:
            run: Its id, or its thread.
            step: The step's id.
            value: The result.

        Raises:
            InputError: The step is unknown, has succeeded or is a gate, or its `output` refuses the value; or the run
                has ended or is executing.
        """
        return await supply_result(await self._all_runs(), run, step, value, local_user())

    async def edit(self, run: str, plan: JsonValue, *, on_progress: Progress | None = None) -> Run:
        """Propose another plan for what is left of a waiting or paused run; it is reviewed.

        Args:
            run: Its id, or its thread.
            plan: The plan.
            on_progress: Called with each step's changes as they happen.

        Raises:
            InputError: The run has ended, is executing, or its thread has a later run.
        """
        agent, before = await self._open.get(), await self._latest(run)
        if before.ended:
            raise InputError("run", f"{before.id} has ended; retry it with the plan, or start a new run")
        if before.status in ("running", "planning"):
            raise InputError("run", f"{before.id} is executing; pause it first")
        await agent.propose(before, plan, on_progress)
        return await agent.stands(before.thread)

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
        """Change a run's constraints, or send feedback; the run plans again before it goes on.

        A run that executes elsewhere reads the change before its next call; a waiting run is replanned at once, and
        asks again if the plan exceeds the approval; a paused run reads the change when it is resumed.

        Args:
            run: Its id, or its thread.
            add: Constraints to add.
            withdraw: Constraints to withdraw.
            feedback: Feedback for the planner.
            on_progress: Called with each step's changes as they happen.

        Raises:
            UnknownRunError: There is no such run.
            InputError: It has ended, or has no such constraint.
        """
        before = await self.show(run)
        if not before.ended:
            (await self._open.get()).require_tools(before)
        steer = Amendment(tuple(add), tuple(withdraw), feedback, local_user())
        worked_on = await (await self._all_runs()).steer(run, steer)
        if not worked_on and before.request is not None:
            await (await self._open.get()).drive(None, Caller.facade(before.thread), on_progress)
        return await self.show(run)

    async def _latest(self, run: str) -> Run:
        """Return a run as it stands.

        Raises:
            InputError: The thread has a later run.
        """
        key = await (await self._all_runs()).find(run)
        stands = await (await self._open.get()).stands(key.thread)
        if stands.n != key.n:
            raise InputError("run", f"{run} cannot go on: {stands.id} has taken its thread since")
        return stands

    async def _all_runs(self) -> Runs:
        return (await self._open.get()).runs
