"""The asynchronous facade: start, resume, inspect and change runs in one database."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from secrets import token_hex
from typing import Any

from pydantic import JsonValue

from graph.agent_lifetime import AgentLifetime
from graph.agent_records import AgentRecords
from graph.agent_session import NotGiven, ProgressCallback
from graph.caller import Caller, Changes
from graph.errors import InputError
from graph.forking import fork_of
from graph.identity import named
from graph.record.amendment import Amendment
from graph.record.person import Approver, Person
from graph.runs import Run, Runs
from graph.work.continuing import ByPlace, BySession
from graph.work.report import Report
from graph.work.server import ByServer
from graph.work.worker import CONCURRENCY, Worker


class AsyncAgent(AgentLifetime, AgentRecords):
    """Starts, resumes, inspects and cancels runs in one database; opened and closed as `AgentLifetime` says."""

    async def start(
        self,
        goal: str,
        *,
        constraints: Sequence[str] = (),
        tags: Sequence[str] = (),
        plan: JsonValue = None,
        thread: str | None = None,
        setup: Mapping[str, Any] | None = None,
        by: Person | None = None,
        on_progress: ProgressCallback | None = None,
    ) -> Run:
        """Start a run and return it when it waits for a decision or has ended.

        Args:
            goal: The goal.
            constraints: Constraints on the plan and its execution.
            tags: Labels to filter lists of runs by.
            plan: A plan to use instead of asking the planner.
            thread: The thread to start on; a new one by default.
            setup: Data that the caller needs to resume the run elsewhere, such as folder names; kept in the ledger.
            by: The person who does it, as your code knows them; the ledger says `claimed`, unless the adapter of the
                settings verifies them. Default: the user of this process.
            on_progress: Called with each step's changes as they happen.

        Raises:
            InputError: The goal is empty, or a tag is not a short word.
        """
        thread = thread or token_hex(4)
        given: dict[str, Any] = {"goal": goal, "constraints": list(constraints), "tags": list(tags)}
        if plan is not None:
            given["plan"] = plan
        session = await self._open.get()
        await session.drive(given, Caller.facade(thread, setup, by=session.acts(by)), on_progress)
        return await session.latest(thread)

    async def resume(
        self,
        run: str,
        decision: Any = NotGiven.DECISION,
        *,
        unseen: bool = False,
        by: Person | None = None,
        on_progress: ProgressCallback | None = None,
    ) -> Run:
        """Resume a run, with a decision if it waits for one, and return it when it stops again.

        Args:
            run: Its id, or its thread.
            decision: An answer to the review request: `"approve"`, `"reject"`, feedback, a changed plan, or the
                long form `{"decisions": [...]}`; `Run.decide` puts it together. Left out, a waiting run stays as it is.
            unseen: Whether the decision was made in advance, without seeing the request. It then approves only a plan:
                it is marked in the ledger, and neither settles an uncertain call nor approves a value.
            by: The person who does it, as your code knows them; the ledger says `claimed`, unless the adapter of the
                settings verifies them. Default: the user of this process.
            on_progress: Called with each step's changes as they happen.

        Raises:
            UnknownRunError: There is no such run.
            NothingToDecideError: A decision was given, but the run does not wait for one.
            InputError: The decision is None or `{}`, or the thread has a later run.
            MissingToolsError: A tool of the remaining steps is missing; the review request stays open.
        """
        session, latest = await self._open.get(), await self._latest(run)
        await session.resume(latest, decision, unseen, on_progress, by)
        return await session.latest(latest.thread)

    async def retry(
        self,
        run: str,
        *,
        limits: Mapping[str, Any] | None = None,
        feedback: str | None = None,
        plan: JsonValue = None,
        by: Person | None = None,
        on_progress: ProgressCallback | None = None,
    ) -> Run:
        """Reopen a run that ended, and return it when it waits for a decision or has ended again.

        Steps that succeeded stay as they are; failed and blocked steps are tried again. A raised limit keeps the
        approval, any other change is reviewed.

        Args:
            run: Its id, or its thread.
            limits: Limits of the budget to change, such as `{"tool_calls": 20}`.
            feedback: Feedback; the planner then revises what is left.
            plan: Another plan for what is left.
            by: The person who does it, as your code knows them; the ledger says `claimed`, unless the adapter of the
                settings verifies them. Default: the user of this process.
            on_progress: Called with each step's changes as they happen.

        Raises:
            UnknownRunError: There is no such run.
            InputError: It has not ended, ended as `succeeded` or `rejected`, or the thread has a later run.
            MissingToolsError: A tool of the remaining steps is missing.
        """
        session = await self._open.get()
        before = await self._latest(run)
        if not before.ended:
            raise InputError("run", f"{before.id} has not ended; continue it instead")
        session.require_tools(before)
        given: dict[str, Any] = {"operation": "retry", "run": before.id, **({"plan": plan} if plan is not None else {})}
        changes = Changes(limits or {}, feedback)
        await session.drive(
            given, replace(Caller.facade(before.thread, by=session.acts(by)), changes=changes), on_progress
        )
        return await session.latest(before.thread)

    async def fork(
        self,
        run: str,
        step: str,
        *,
        values: Mapping[str, JsonValue] | None = None,
        thread: str | None = None,
        by: Person | None = None,
        on_progress: ProgressCallback | None = None,
    ) -> Run:
        """Start a run on a new thread with copies of the results that do not depend on a step; return it as it waits.

        It inherits no approval. A call that may not be repeated and was made in the forked run is reviewed by itself
        before it is made again.

        Args:
            run: The run to fork: its id, or its thread.
            step: The step from which on everything is done anew.
            values: Step id -> result that you set; these steps are not executed.
            thread: The thread to start on; a new one by default.
            by: The person who does it, as your code knows them; the ledger says `claimed`, unless the adapter of the
                settings verifies them. Default: the user of this process.
            on_progress: Called with each step's changes as they happen.

        Raises:
            UnknownRunError: There is no such run.
            InputError: There is no such step, or a value does not fit its `output`.
        """
        session, thread = await self._open.get(), thread or token_hex(4)
        fork = await fork_of(await self._all_runs(), run, step, values or {}, str(await self._actor(by)))
        given = {"goal": fork.goal, "constraints": list(fork.constraints), "plan": fork.plan}
        caller = replace(
            Caller.facade(thread, fork.setup, by=session.acts(by)), inherited=fork.drafts, values=fork.values
        )
        await session.drive(given, caller, on_progress)
        return await session.latest(thread)

    async def work(
        self,
        *,
        once: bool = False,
        concurrency: int = CONCURRENCY,
        server: str | None = None,
        on_report: Callable[[Report], None] = lambda _: None,
    ) -> None:
        """Continue the runs that nobody works on and that were begun under this agent's tools, policy and models.

        Any number of processes may do so; each run is continued by one of them. Nothing is decided: a run that asks a
        person waits. Cancelled, it interrupts the runs in hand, which the next worker continues.

        Args:
            once: Whether to return when no such run is left, instead of waiting for more.
            concurrency: Runs at a time, at most.
            server: The address of a LangGraph server, through which the runs that it started are continued.
            on_report: Called with what is done, and with each run that cannot be continued, and why.
        """
        session = await self._open.get()
        place = ByPlace(BySession(session), ByServer(server) if server is not None else None)
        await Worker(session.runs, place, on_report, concurrency).run(once=once)

    async def show(self, run: str) -> Run:
        """Return a run's current state, with the open review request if it waits for a decision.

        Raises:
            UnknownRunError: There is no such run.
        """
        session = await self._open.get()
        key = await session.runs.find(run)
        latest = await session.latest(key.thread)
        return latest if latest.n == key.n else await session.runs.show(key)

    async def edit(
        self, run: str, plan: JsonValue, *, by: Person | None = None, on_progress: ProgressCallback | None = None
    ) -> Run:
        """Propose another plan for what is left of a waiting or paused run; it is reviewed.

        Args:
            run: Its id, or its thread.
            plan: The plan.
            by: The person who does it, as your code knows them; the ledger says `claimed`, unless the adapter of the
                settings verifies them. Default: the user of this process.
            on_progress: Called with each step's changes as they happen.

        Raises:
            InputError: The run has ended, is executing, or its thread has a later run.
        """
        session, before = await self._open.get(), await self._latest(run)
        if before.ended:
            raise InputError("run", f"{before.id} has ended; retry it with the plan, or start a new run")
        if before.status in ("running", "planning"):
            raise InputError("run", f"{before.id} is executing; pause it first")
        await session.propose(before, plan, on_progress, by)
        return await session.latest(before.thread)

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
        by: Person | None = None,
        on_progress: ProgressCallback | None = None,
    ) -> Run:
        """Change a run's constraints, or send feedback; the run plans again before it goes on.

        A run that executes elsewhere reads the change before its next call; a waiting run is replanned at once, and
        asks again if the plan exceeds the approval; a paused run reads the change when it is resumed.

        Args:
            run: Its id, or its thread.
            add: Constraints to add.
            withdraw: Constraints to withdraw.
            feedback: Feedback for the planner.
            by: The person who does it, as your code knows them; the ledger says `claimed`, unless the adapter of the
                settings verifies them. Default: the user of this process.
            on_progress: Called with each step's changes as they happen.

        Raises:
            UnknownRunError: There is no such run.
            InputError: It has ended, or has no such constraint.
        """
        session = await self._open.get()
        before = await self.show(run)
        if not before.ended:
            session.require_tools(before)
        amendment = Amendment(tuple(add), tuple(withdraw), feedback, str(await self._actor(by)))
        is_executing = await session.runs.steer(run, amendment)
        if not is_executing and before.request is not None:
            await session.drive(None, Caller.facade(before.thread, by=session.acts(by)), on_progress)
        return await self.show(run)

    async def _latest(self, run: str) -> Run:
        """Return the latest run of its thread.

        Raises:
            InputError: The thread has a later run.
        """
        session = await self._open.get()
        key = await session.runs.find(run)
        latest = await session.latest(key.thread)
        if latest.n != key.n:
            raise InputError("run", f"{run} cannot go on: {latest.id} has taken its thread since")
        return latest

    async def _all_runs(self) -> Runs:
        return (await self._open.get()).runs

    async def _actor(self, by: Person | None) -> Approver:
        return named(by, (await self._open.get()).identity)
