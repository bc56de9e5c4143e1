"""The asynchronous facade: runs in one database, from start to replay."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from secrets import token_hex
from time import monotonic
from typing import TYPE_CHECKING, Any, NoReturn, Self, Unpack

from planner_executor.graph.builder.opening import AgentOptions, NotGiven, Opened, ProgressCallback, opened
from planner_executor.graph.calls.threads import run_sync
from planner_executor.graph.errors import ConfigError, DecisionRefusedError, InputError
from planner_executor.graph.ledger.database_name import DATABASE, shown
from planner_executor.graph.lifetime import OpenOnUse
from planner_executor.graph.plain_text.sanitize import check_texts
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.record.person import Approver, Person
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.runs.taking import taking, with_checked_arguments
from planner_executor.graph.settings.identity import named
from planner_executor.graph.text.notebook import changing_picture, draw_plans
from planner_executor.graph.work.report import CONCURRENCY, Report

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence

    from pydantic import JsonValue

    from planner_executor.graph.builder.graph_builder import Graph
    from planner_executor.graph.chat_models.settings import ModelSpec
    from planner_executor.graph.ledger.run_store import Redacted
    from planner_executor.graph.ledger.seal import SealKey
    from planner_executor.graph.ledger.verification import Verification
    from planner_executor.graph.plan.json_values import Json
    from planner_executor.graph.playbooks import Playbook
    from planner_executor.graph.policy.terms import Comparison
    from planner_executor.graph.record.standing_approval import StandingUse
    from planner_executor.graph.record.waiting_filter import WaitingOrder
    from planner_executor.graph.replay.report import Replay
    from planner_executor.graph.review.alike import Batch
    from planner_executor.graph.runs.alike import Outcome
    from planner_executor.graph.runs.inbox_page import Inbox
    from planner_executor.graph.runs.lists import Log
    from planner_executor.graph.runs.run import Run
    from planner_executor.graph.runs.run_page import RunPage
    from planner_executor.graph.runs.runs import Runs
    from planner_executor.graph.session import AgentSession
    from planner_executor.graph.text.audit import Audit
    from planner_executor.graph.text.event_text import Section


@with_checked_arguments
class AsyncAgent:
    """Starts, resumes, inspects and cancels runs in one database, through a graph over it.

    It opens on `async with` or first use, and closes at the end of the block, on `aclose`, with its event loop, or when
    it is garbage collected.
    """

    def __init__(self, database: str | Path = DATABASE, **options: Unpack[AgentOptions]) -> None:
        """Configure an agent; configuration errors are raised when it is opened.

        Args:
            database: An SQLite file, which is created if it is not there, or the address of a PostgreSQL database.
            options: `mcp`, MCP servers, or a file that lists them; they run until the agent closes, and their tools are
                added. The others are those of `graph.build_graph`: `tools`, `planner`, `executor`, `approval`, ...

        Raises:
            ConfigError: When it is opened: a model, a tool, an MCP server or a setting is invalid.
            LedgerUnavailableError: When it is opened: the database cannot be used.
            AgentClosedError: When it is used after it was closed.
        """
        place = shown(database)
        self._opened: OpenOnUse[Opened] = OpenOnUse(place, partial(opened, database, options))
        self._runs: OpenOnUse[Runs] = OpenOnUse(place, partial(_runs_of, self._opened))
        self._open: OpenOnUse[AgentSession] = OpenOnUse(place, partial(_session_of, self._opened, self._runs))
        draw_plans()

    @classmethod
    def open(cls, database: str | Path = DATABASE, **options: Unpack[AgentOptions]) -> Self:
        """Return an agent, with the same arguments."""
        return cls(database, **options)

    @classmethod
    def over(cls, graph: Graph, runs: Runs) -> Self:
        """Return an agent over a graph and runs that the caller opens and closes."""
        agent = cls(runs.ledger.name)
        agent._runs = OpenOnUse(runs.ledger.name, partial(_runs_of_others, runs))
        agent._open = OpenOnUse(runs.ledger.name, partial(_session_over, graph, agent._runs))
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

    def __enter__(self) -> NoReturn:
        raise ConfigError("AsyncAgent needs `async with AsyncAgent.open(...)`; in synchronous code use Agent")

    def __exit__(self, *_: object) -> None: ...

    def __await__(self) -> NoReturn:
        raise ConfigError("AsyncAgent.open(...) is not awaited; use `async with`, or await its methods, such as start")

    @property
    def graph(self) -> Graph:
        """The graph, while the agent is open."""
        return self._open.value.graph

    @property
    def runs(self) -> Runs:
        """The runs, while the agent is open."""
        return self._runs.value

    def check(self) -> None:
        """Check that the agent can be used.

        Raises:
            AgentClosedError: It was closed, or opened before this process was forked.
        """
        for part in (self._opened, self._runs, self._open):
            part.check()

    async def aclose(self) -> None:
        """Close the database and stop the MCP servers; end executing runs first."""
        async with AsyncExitStack() as closing:  # each is closed, also if one that rests on it could not be
            for part in (self._opened, self._runs, self._open):
                closing.push_async_callback(part.close)

    async def prepare(self) -> None:
        """Check the options and open the database; the graph and all that drives runs are made on first use.

        Raises:
            ConfigError: An option is invalid.
            LedgerUnavailableError: The database cannot be used.
        """
        await self._opened.get()

    async def start(
        self,
        goal: str | None = None,
        *,
        constraints: Sequence[str] = (),
        tags: Sequence[str] = (),
        plan: Json = None,
        playbook: Playbook | None = None,
        params: Mapping[str, Any] | None = None,
        thread: str | None = None,
        setup: Mapping[str, Any] | None = None,
        by: Person | None = None,
        on_progress: ProgressCallback | None = None,
    ) -> Run:
        """Start a run and return it when it waits for a decision or has ended.

        Args:
            goal: The goal; that of a playbook is its description unless you give another one.
            constraints: Constraints on the plan and its execution.
            tags: Labels to filter lists of runs by.
            plan: A plan to use instead of asking the planner.
            playbook: A playbook whose plan is used, see `Playbook.load`; its name becomes a tag of the run.
            params: The values of its parameters, by name.
            thread: The thread to start on; a new one by default.
            setup: Data that the caller needs to resume the run elsewhere, such as folder names; kept in the ledger.
            by: The person who does it, as your code knows them; the ledger says `claimed`, unless the adapter of the
                settings verifies them. Default: the user of this process.
            on_progress: Called with each step's changes as they happen.

        Raises:
            InputError: The goal is empty, a tag is not a short word, a value of a parameter does not fit, or a tool of
                the playbook is missing or another one than when it was kept.
        """
        session, thread = await self._open.get(), thread or token_hex(4)
        named: Mapping[str, Any] | None = None
        from planner_executor.graph.caller import Caller
        from planner_executor.graph.playbooks.starting import plan_here
        from planner_executor.graph.runs.playbooks import named_in

        if playbook is not None:
            if plan is not None:
                raise InputError("plan", "give a plan or a playbook, not both")
            services = session.graph.services
            plan = plan_here(playbook, params, services.toolbox.specs)
            # The limits of the playbook may count money, for which the models need prices.
            services.within(Budget.from_json(playbook.limits)).check_prices()
            described, tags = playbook.goal(params or {}), [*tags, playbook.name]
            # The record says if the goal is the caller's own: any other follows from the playbook and the values.
            own = {} if goal in (None, described) else {"goal": "given"}
            named = {**await named_in(session.runs, playbook), **own}
            goal = goal or described
        elif params is not None:
            raise InputError("params", "parameters are those of a playbook; name one")
        if goal is None:
            raise InputError("goal", "say what is to be done, or name a playbook")
        given: dict[str, Any] = {"goal": goal, "constraints": list(constraints), "tags": list(tags)}
        if plan is not None:
            given["plan"] = plan
        caller = Caller.facade(thread, setup, by=session.acts(by), playbook=named)
        return await session.go_on(given, caller, on_progress)

    async def resume(
        self,
        run: str,
        decision: Any = NotGiven.DECISION,
        *,
        unseen: bool = False,
        take_over: bool = False,
        setup: Mapping[str, Any] | None = None,
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
            setup: See `start`; recorded if the run is taken over, in place of the one on record.
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
        # A run that has ended is not taken over: nothing more will run under any terms.
        if take_over and not latest.ended:
            await session.take_over(latest, by, setup)
            # Read again, as taking it over has changed its record.
            latest = await self._latest(run)
        now = await session.resume(latest, decision, unseen, on_progress, by)
        if now.refused is not None and strict:
            raise DecisionRefusedError(latest.id, now.refused)
        return now

    async def retry(
        self,
        run: str,
        *,
        limits: Mapping[str, Any] | None = None,
        feedback: str | None = None,
        plan: Json = None,
        take_over: bool = False,
        setup: Mapping[str, Any] | None = None,
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
            setup: See `resume`.
            by: The person who does it, as your code knows them; the ledger says `claimed`, unless the adapter of the
                settings verifies them. Default: the user of this process.
            on_progress: Called with each step's changes as they happen.

        Raises:
            UnknownRunError: There is no such run.
            InputError: It has not ended, ended as `succeeded` or `rejected`, or the thread has a later run.
            MissingToolsError: A tool of the remaining steps is missing.
            OtherTermsError: It was begun under other terms than this agent's.
        """
        # Before anything is opened: a text that no checkpoint can hold is refused at once.
        check_texts("feedback", feedback or "")
        session = await self._open.get()
        before = await self._latest(run)
        if not before.ended:
            raise InputError("run", f"{before.id} has not ended; continue it instead")
        session.require_tools(before)
        if take_over:
            await session.take_over(before, by, setup)
        await session.compare_terms(before)
        from planner_executor.graph.caller import Caller, RetryChanges

        given: dict[str, Any] = {"operation": "retry", "run": before.id, **({"plan": plan} if plan is not None else {})}
        changes = RetryChanges(limits or {}, feedback)
        # Limits and feedback go by the caller: what a client writes into the input may not raise a limit.
        caller = replace(Caller.facade(before.thread, by=session.acts(by)), changes=changes)
        return await session.go_on(given, caller, on_progress)

    async def fork(
        self,
        run: str,
        step: str,
        *,
        values: Mapping[str, Any] | None = None,
        thread: str | None = None,
        take_over: bool = False,
        setup: Mapping[str, Any] | None = None,
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
            setup: See `resume`.
            by: The person who does it, as your code knows them; the ledger says `claimed`, unless the adapter of the
                settings verifies them. Default: the user of this process.
            on_progress: Called with each step's changes as they happen.

        Raises:
            UnknownRunError: There is no such run.
            OtherTermsError: It was begun under other terms than this agent's.
            InputError: There is no such step, or a value does not fit its `output`.
        """
        session, thread = await self._open.get(), thread or token_hex(4)
        from planner_executor.graph.caller import Caller
        from planner_executor.graph.runs.forking import fork_of

        forked = await session.runs.show(await session.runs.find(run))
        if take_over:
            await session.take_over(forked, by, setup)
        await session.compare_terms(forked)
        # Results are copied as of now, after the terms are known to hold.
        fork = await fork_of(session.runs, run, step, values or {}, str(await self._actor(by)))
        assert fork.source is not None
        given = {"goal": fork.source.started.goal, "constraints": list(fork.source.constraints), "plan": fork.plan}
        caller = replace(Caller.facade(thread, fork.source.setup, by=session.acts(by)), fork=fork)
        return await session.go_on(given, caller, on_progress)

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
        from planner_executor.graph.work.continuing import ByPlace, BySession  # few programs work
        from planner_executor.graph.work.server import ByServer
        from planner_executor.graph.work.worker import Worker

        session = await self._open.get()
        place = ByPlace(BySession(session), ByServer(server) if server is not None else None)
        await Worker(session.runs, place, on_report, concurrency).run(once=once)

    async def show(self, run: str) -> Run:
        """Return a run's current state, with the open review request if it waits for a decision.

        Raises:
            UnknownRunError: There is no such run.
        """
        session = await self._open.get()
        key = await session.find(run)
        latest = await session.latest(key.thread)
        return latest if latest.n == key.n else await session.runs.show(key)

    async def watch(self, run: str) -> None:
        """Draw a run's plan and the times of its steps in a notebook's cell while it is worked on, here or elsewhere.

        Returns when it has ended, or waits for a decision or is paused and stays so for two seconds; the last picture
        stays. It decides nothing: an interrupt of the cell ends the drawing and not a run that goes on elsewhere.

        Args:
            run: Its id, or its thread.

        Raises:
            ConfigError: This is no notebook.
            UnknownRunError: There is no such run.
        """
        draw = changing_picture(token_hex(8))
        await self._open.get()
        from planner_executor.graph.agent.watching import watch_until_still

        await watch_until_still(lambda: self.show(run), draw, monotonic, asyncio.sleep)

    async def edit(
        self, run: str, plan: Json, *, by: Person | None = None, on_progress: ProgressCallback | None = None
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
            OtherTermsError: It was begun under other terms than this agent's.
        """
        session, before = await self._open.get(), await self._latest(run)
        if before.ended:
            raise InputError("run", f"{before.id} has ended; retry it with the plan, or start a new run")
        if before.status in ("running", "planning"):
            raise InputError("run", f"{before.id} is executing; pause it first")
        await session.compare_terms(before)
        return await session.propose(before, plan, on_progress, by)

    async def compare_terms(self, run: str) -> Comparison | None:
        """Return how the terms of this agent differ from those of a run; None over a graph that was made otherwise.

        Raises:
            UnknownRunError: There is no such run.
            MissingToolsError: A tool of its remaining steps is missing.
            OtherTermsError: It was begun under other terms, which cannot be kept here.
        """
        session = await self._open.get()
        found = await session.runs.show(await session.runs.find(run))
        if not found.ended:
            session.require_tools(found)
        return await session.compare_terms(found)

    async def cancel(self, run: str, *, by: Person | None = None) -> Run:
        """End a run; one that executes elsewhere stops before its next call. A run that has ended stays as it is.

        The thread of a run that waited, or whose process died, tells its end too. `by` is the person who does it, as
        for `steer`.
        """
        ended = await (await self._runs.get()).cancel(run, str(await self._actor(by)))
        if ended.ended:
            await (await self._open.get()).tell_end(ended)
        return ended

    async def pause(self, run: str, *, by: Person | None = None) -> Run:
        """Ask a run that executes elsewhere to stop before its next call; it can be resumed.

        `by` is the person who does it, as for `steer`.
        """
        return await (await self._runs.get()).pause(run, str(await self._actor(by)))

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
            OtherTermsError: It was begun under other terms than this agent's.
        """
        session = await self._open.get()
        before = await self.show(run)
        if not before.ended:
            session.require_tools(before)
        if before.request is not None:  # it goes on here; elsewhere a message is all that is left
            await session.compare_terms(before)
        from planner_executor.graph.caller import Caller
        from planner_executor.graph.record.amendment import Amendment

        amendment = Amendment(tuple(add), tuple(withdraw), feedback, str(await self._actor(by)))
        is_executing = await session.runs.steer(run, amendment)
        if not is_executing and before.request is not None:
            await session.drive(None, Caller.facade(before.thread, by=session.acts(by)), on_progress)
        return await self.show(run)

    @taking(RunFilter)
    async def list(self, wanted: RunFilter) -> RunPage:
        """Return a page of runs, the latest first.

        The arguments are the fields of `graph.record.run_filter.RunFilter`: `status="waiting"`, `tag="nightly"`,
        `since=` (Unix seconds), `text="wind"`, `limit=50`, and for the next page `before=page.next`.

        Raises:
            InputError: There is no such status, or the limit is less than 1.
        """
        return await (await self._runs.get()).page(wanted)

    async def inbox(
        self,
        for_: Person | None = None,
        *,
        limit: int = 50,
        after: str | None = None,
        text: str = "",
        asks: Sequence[str] = (),
        order: WaitingOrder = "age",
    ) -> Inbox:
        """Return what needs a person: open requests, and runs that died, failed or are paused.

        Args:
            for_: Only those that this person may decide, by the rules of the policy, and has not approved yet. A person
                whom the adapter of the settings does not verify may decide nothing that has a rule. Default: all.
            limit: How many, at most.
            after: For the next page: `page.next`.
            text: Words in goal, name, tags, effects, or the name of who started the run.
            asks: What is asked, such as `run_plan`, or how a run stopped, such as `died`. Default: all.
            order: What comes first: the longest wait (`age`), the next `deadline`, the highest `cost` so far, or the
                largest `amount` of money in the effects that lists show, in whatever currency.

        Raises:
            InputError: `limit` is less than 1, `after` is no place in the inbox, or `asks` or `order` is unknown.
        """
        runs, person = await self._runs.get(), await self._actor(for_) if for_ is not None else None
        from planner_executor.graph.runs.inbox import inbox
        from planner_executor.graph.runs.inbox_filter import InboxFilter

        wanted = InboxFilter(person=person, text=text, asks=tuple(asks), order=order)
        return await inbox(runs, wanted, limit=limit, after=after)

    async def alike(self, for_: Person | None = None, *, limit: int = 50) -> Sequence[Batch]:
        """Return requests for plans that differ in arguments alone, each batch with a table of these.

        Args:
            for_: Only among those that this person may decide, see `inbox`. Default: all.
            limit: How many open requests are looked at, the longest wait first.
        """
        runs, person = await self._runs.get(), await self._actor(for_) if for_ is not None else None
        from planner_executor.graph.runs.alike import alike_requests
        from planner_executor.graph.runs.inbox_filter import InboxFilter

        return await alike_requests(runs, InboxFilter(person=person), limit)

    async def decide_alike(
        self,
        batch: Batch,
        *,
        without: Collection[str] = (),
        approve: bool = False,
        reason: str | None = None,
        feedback: str | None = None,
        stop: bool = False,
        by: Person | None = None,
    ) -> Sequence[Outcome]:
        """Decide alike requests in one go; each is judged by itself, and one that is refused leaves the others.

        Args:
            batch: One that `alike` returned: a request that is another one by now is not decided.
            without: Runs to leave out.
            approve: Whether to approve each plan.
            reason: Why, for the record.
            feedback: What to change, in the place of an approval.
            stop: Whether to end each run as rejected instead.
            by: See `resume`.

        Raises:
            InputError: Nothing is decided, or a run to leave out is none of them.
        """

        await self._runs.get()
        from planner_executor.graph.review.response import ReviewResponse
        from planner_executor.graph.runs.alike import decide_each

        async def decide(run: str, answer: Mapping[str, Any]) -> Run:
            return await self.resume(run, answer, by=by)

        said = ReviewResponse(approve=approve, reason=reason, feedback=feedback, stop=stop)
        return await decide_each(batch, without, said, decide)

    async def log(self, run: str) -> Log:
        """Return a run's ledger, event by event."""
        return await (await self._runs.get()).log(run)

    async def value(self, run: str, step: str | None = None) -> JsonValue:
        """Return the whole value of a step that succeeded, or the run's whole answer, however large.

        Raises:
            UnknownRunError: There is no such run.
            InputError: There is no such value.
        """
        return await (await self._runs.get()).value(run, step)

    async def audit(self, run: str, *only: Section) -> Audit:
        """Return a readable report of a run, also available as data; all sections, or only those named.

        Args:
            run: Its id, or its thread.
            only: Some of `run`, `plans`, `steps`, `decisions`, `policy`, `budget`.

        Raises:
            InputError: There is no such section.
        """
        runs = await self._runs.get()
        from planner_executor.graph.runs.record_service import audited

        return await audited(runs, run, *only)

    async def verify(self, run: str | Path, *, head: str | None = None, key: SealKey | None = None) -> Verification:
        """Recompute the chain of a run and report whether its record is intact.

        Args:
            run: Its id, its thread, or the path of an exported file.
            head: An earlier noted hash of one of its events, which the record must still contain.
            key: The key that must have sealed it; by default the key from the environment.
        """
        if isinstance(run, Path):
            return await run_sync(lambda: _verified_file(run, head, key))
        runs = await self._runs.get()
        from planner_executor.graph.runs.record_service import verified

        return await verified(runs, run, head, key)

    async def export(self, run: str, file: str | Path) -> Verification:
        """Write a run's whole record to a new file, which `verify` and `replay` take without the database."""
        runs = await self._runs.get()
        from planner_executor.graph.runs.record_service import exported

        return await exported(runs, run, Path(file))

    async def replay(self, run: str | Path, *, planner: ModelSpec | None = None) -> Replay:
        """Replay a run from its record alone and return the first divergence; no recorded model or tool is called.

        Args:
            run: Its id, its thread, or the `Path` of an exported file.
            planner: A model to plan in place of the recorded one.

        Raises:
            LedgerCorruptError: The record is damaged.
            InputError: The record's version is not supported.
            ConfigError: The planner is invalid.
        """
        from planner_executor.graph.replay.record_loading import replayed_file, replayed_run  # few programs replay

        if isinstance(run, Path):
            return await replayed_file(run, planner)
        return await replayed_run(await self._runs.get(), run, planner)

    async def redact(self, run: str, value: str, *, reason: str, by: Person | str | None = None) -> Redacted:
        """Remove a value from all data of a run's thread, so that its bytes are nowhere in the file.

        The chain still verifies: the events keep their digests, and a `redacted` event lists the changed events, the
        author and the reason.

        Args:
            run: Its id, or its thread. No run of the thread may be executing.
            value: A text of at least four characters, removed also from longer texts.
            reason: The reason, for the record.
            by: The person who asked for it, or only their name; see `start`. Default: the user of this process.

        Raises:
            InputError: The record cannot be read without the value.
            RunOwnedError: A run of the thread is executing.
        """
        actor, runs = await self._actor(_person(by)), await self._runs.get()
        from planner_executor.graph.runs.record_service import redacted

        return await redacted(runs, run, value, reason, str(actor))

    async def skip(self, run: str, step: str, why: str = "", *, by: Person | None = None) -> Run:
        """Leave a step of a waiting or paused run out, and with it the steps that need it; then `resume` the run.

        Args:
            run: Its id, or its thread.
            step: The step's id.
            why: The reason, for the record.
            by: The person who says so, see `start`.

        Raises:
            InputError: The step is unknown, or has succeeded; or the run has ended or is executing.
        """
        runs, actor = await self._runs.get(), await self._actor(by)
        from planner_executor.graph.runs.step_changes import skip_step

        return await skip_step(runs, run, step, why, actor)

    async def approvals(self, run: str | None = None) -> Sequence[StandingUse]:
        """Return the standing approvals that hold in any run, and those of one run, or of all that have not ended.

        Raises:
            UnknownRunError: There is no such run.
            LedgerCorruptError: A record was changed; those of a single run can be read by its name.
        """
        runs = await self._runs.get()
        from planner_executor.graph.runs.approvals import standing_approvals

        found = await standing_approvals(runs, run)
        if found.unread:
            raise found.unread[0].error
        return found.uses

    async def revoke(self, approval: str, *, by: Person | None = None) -> bool:
        """End a standing approval: no further call starts on it; see `graph.runs.approvals.revoke`.

        Args:
            approval: Its id.
            by: The person who revokes it, see `start`.

        Raises:
            InputError: There is none of that id, or it was revoked before.
        """
        runs, actor = await self._runs.get(), await self._actor(by)
        from planner_executor.graph.runs.approvals import revoke

        return await revoke(runs, approval, str(actor))

    async def supply(self, run: str, step: str, value: Json, *, by: Person | None = None) -> Run:
        """Give the result of a step of a waiting or paused run; it is checked as the step's own, when you `resume` it.

        Args:
            run: Its id, or its thread.
            step: The step's id.
            value: The result.
            by: The person who gives it, see `start`.

        Raises:
            InputError: The step is unknown, has succeeded or is a gate, or its `output` refuses the value; the policy
                has others decide; or the run has ended or is executing.
        """
        runs, actor = await self._runs.get(), await self._actor(by)
        from planner_executor.graph.runs.step_changes import supply_result

        return await supply_result(runs, run, step, value, actor)

    async def _latest(self, run: str) -> Run:
        """Return the latest run of its thread.

        Raises:
            InputError: The thread has a later run.
        """
        session = await self._open.get()
        key = await session.find(run)
        latest = await session.latest(key.thread)
        if latest.n != key.n:
            raise InputError("run", f"{run} cannot go on: {latest.id} has taken its thread since")
        return latest

    async def _actor(self, by: Person | None) -> Approver:
        return named(by, (await self._open.get()).identity)


@asynccontextmanager
async def _runs_of(agent: OpenOnUse[Opened]) -> AsyncIterator[Runs]:
    found = await agent.get()
    await run_sync(_import_runs)  # an event loop does not wait for files
    from planner_executor.graph.runs.runs import open_runs

    async with open_runs(found.database, found.key) as runs:
        yield runs


@asynccontextmanager
async def _session_of(agent: OpenOnUse[Opened], ledger: OpenOnUse[Runs]) -> AsyncIterator[AgentSession]:
    found, runs = await agent.get(), await ledger.get()
    await run_sync(_import_session)
    from planner_executor.graph.session import session_of

    async with session_of(found, runs) as session:
        yield session


@asynccontextmanager
async def _runs_of_others(runs: Runs) -> AsyncIterator[Runs]:
    await run_sync(_import_runs)
    yield runs


@asynccontextmanager
async def _session_over(graph: Graph, ledger: OpenOnUse[Runs]) -> AsyncIterator[AgentSession]:
    runs = await ledger.get()
    await run_sync(_import_session)
    from planner_executor.graph.session import AgentSession

    yield AgentSession(graph, runs)


def _person(by: Person | str | None) -> Person | None:
    """Return a person who may be given by name alone.

    Raises:
        InputError: The name is no short text.
    """
    try:
        return Person(by) if isinstance(by, str) else by
    except ValueError as error:
        raise InputError("by", str(error)) from error


def _verified_file(file: Path, head: str | None, key: SealKey | None) -> Verification:
    from planner_executor.graph.runs.record_service import verified_file

    return verified_file(file, head, key)


def _import_runs() -> None:
    import planner_executor.graph.agent.imports  # noqa: F401


def _import_session() -> None:
    import planner_executor.graph.session  # noqa: F401
