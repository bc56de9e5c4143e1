"""The asynchronous facade: start, resume, retry and fork runs in one database, and work on those of others."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from secrets import token_hex
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.agent_control import AgentControl
from planner_executor.graph.agent_session import NotGiven, ProgressCallback
from planner_executor.graph.caller import Caller, RetryChanges
from planner_executor.graph.errors import DecisionRefusedError, InputError
from planner_executor.graph.forking import fork_of
from planner_executor.graph.record.person import Person
from planner_executor.graph.runs import Run
from planner_executor.graph.sanitize import check_texts
from planner_executor.graph.work.continuing import ByPlace, BySession
from planner_executor.graph.work.report import Report
from planner_executor.graph.work.server import ByServer
from planner_executor.graph.work.worker import CONCURRENCY, Worker


class AsyncAgent(AgentControl):
    """Starts, resumes, inspects and cancels runs in one database; see `AgentLifetime` for opening and closing."""

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
        take_over: bool = False,
        by: Person | None = None,
        strict: bool = False,
        on_progress: ProgressCallback | None = None,
    ) -> Run:
        """Resume a run, with a decision if it waits for one, and return it when it stops again.

        Args:
            run: Its id, or its thread.
            decision: An answer to the review request: `"approve"`, `"reject"`, feedback, a changed plan, or the
                long form `{"decisions": [...]}`; `Run.decide` puts it together. Left out, a waiting run stays as it is.
            unseen: Whether the decision was made in advance, without seeing the request. It then approves only a plan:
                it is marked in the ledger, and neither settles an uncertain call nor approves a value.
            take_over: Whether to put the run under the terms of this agent if they are other or weaker ones than those
                on record, which those have to ask for who decide about every tool left in its plan.
            by: The person who does it, as your code knows them; the ledger says `claimed`, unless the adapter of the
                settings verifies them. Default: the user of this process.
            strict: Whether to raise an error if that person may not decide, instead of returning the run with the
                reason as `refused`; the request stays open in either case.
            on_progress: Called with each step's changes as they happen.

        Raises:
            UnknownRunError: There is no such run.
            DecisionRefusedError: The person may not decide, and `strict` is set.
            NothingToDecideError: A decision was given, but the run does not wait for one.
            InputError: The decision is None or `{}`, the thread has a later run, or others have to take it over too.
            MissingToolsError: A tool of the remaining steps is missing; the review request stays open.
            OtherTermsError: It was begun under other terms than this agent's; the review request stays open.
        """
        session, latest = await self._open.get(), await self._latest(run)
        if take_over and not latest.ended:
            await session.take_over(latest, by)
            latest = await self._latest(run)
        refused = await session.resume(latest, decision, unseen, on_progress, by)
        if refused is not None and strict:
            raise DecisionRefusedError(latest.id, refused)
        return replace(await session.latest(latest.thread), refused=refused)

    async def retry(
        self,
        run: str,
        *,
        limits: Mapping[str, Any] | None = None,
        feedback: str | None = None,
        plan: JsonValue = None,
        take_over: bool = False,
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
            take_over: See `resume`.
            by: The person who does it, as your code knows them; the ledger says `claimed`, unless the adapter of the
                settings verifies them. Default: the user of this process.
            on_progress: Called with each step's changes as they happen.

        Raises:
            UnknownRunError: There is no such run.
            InputError: It has not ended, ended as `succeeded` or `rejected`, or the thread has a later run.
            MissingToolsError: A tool of the remaining steps is missing.
            OtherTermsError: It was begun under other terms than this agent's.
        """
        check_texts("feedback", feedback or "")
        session = await self._open.get()
        before = await self._latest(run)
        if not before.ended:
            raise InputError("run", f"{before.id} has not ended; continue it instead")
        session.require_tools(before)
        if take_over:
            await session.take_over(before, by)
        await session.compare_terms(before)
        given: dict[str, Any] = {"operation": "retry", "run": before.id, **({"plan": plan} if plan is not None else {})}
        changes = RetryChanges(limits or {}, feedback)
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
        take_over: bool = False,
        by: Person | None = None,
        on_progress: ProgressCallback | None = None,
    ) -> Run:
        """Start a run on a new thread with copies of the results that do not depend on a step; return it as it waits.

        It inherits no approval, and is under the terms of the forked run as far as they are stricter. A call that may
        not be repeated and was made in the forked run is reviewed by itself before it is made again.

        Args:
            run: The run to fork: its id, or its thread.
            step: The step from which on everything is done anew.
            values: Step id -> result that you set; these steps are not executed.
            thread: The thread to start on; a new one by default.
            take_over: See `resume`.
            by: The person who does it, as your code knows them; the ledger says `claimed`, unless the adapter of the
                settings verifies them. Default: the user of this process.
            on_progress: Called with each step's changes as they happen.

        Raises:
            UnknownRunError: There is no such run.
            OtherTermsError: It was begun under other terms than this agent's.
            InputError: There is no such step, or a value does not fit its `output`.
        """
        session, thread = await self._open.get(), thread or token_hex(4)
        forked = await session.runs.show(await session.runs.find(run))
        if take_over:
            await session.take_over(forked, by)
        await session.compare_terms(forked)
        fork = await fork_of(await self._all_runs(), run, step, values or {}, str(await self._actor(by)))
        given = {"goal": fork.source.goal, "constraints": list(fork.source.constraints), "plan": fork.plan}
        caller = replace(
            Caller.facade(thread, fork.source.setup, by=session.acts(by)),
            inherited=fork.drafts,
            values=fork.values,
            forked=fork.source,
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
