"""The part of the asynchronous facade for runs under way: show, edit, pause, steer and cancel them."""

from collections.abc import Sequence

from pydantic import JsonValue

from planner_executor.graph.agent_lifetime import AgentLifetime
from planner_executor.graph.agent_records import AgentRecords
from planner_executor.graph.agent_session import ProgressCallback
from planner_executor.graph.caller import Caller
from planner_executor.graph.errors import InputError
from planner_executor.graph.identity import named
from planner_executor.graph.policy.terms import Comparison
from planner_executor.graph.record.amendment import Amendment
from planner_executor.graph.record.person import Approver, Person
from planner_executor.graph.runs import Run, Runs


class AgentControl(AgentLifetime, AgentRecords):
    """Runs under way, whoever executes them."""

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
            OtherTermsError: It was begun under other terms than this agent's.
        """
        session, before = await self._open.get(), await self._latest(run)
        if before.ended:
            raise InputError("run", f"{before.id} has ended; retry it with the plan, or start a new run")
        if before.status in ("running", "planning"):
            raise InputError("run", f"{before.id} is executing; pause it first")
        await session.compare_terms(before)
        await session.propose(before, plan, on_progress, by)
        return await session.latest(before.thread)

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

        `by` is the person who does it, as for `steer`.
        """
        return await (await self._all_runs()).cancel(run, str(await self._actor(by)))

    async def pause(self, run: str, *, by: Person | None = None) -> Run:
        """Ask a run that executes elsewhere to stop before its next call; it can be resumed.

        `by` is the person who does it, as for `steer`.
        """
        return await (await self._all_runs()).pause(run, str(await self._actor(by)))

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
