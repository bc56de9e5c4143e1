"""Replanner: revise the remaining steps of the plan."""

from collections.abc import Mapping
from dataclasses import dataclass

from langchain_core.runnables import RunnableConfig

from planner_executor.graph.calls.meter import LimitReached
from planner_executor.graph.context import Services
from planner_executor.graph.errors import StaleRunError
from planner_executor.graph.nodes.planning import Proposal, propose_revision
from planner_executor.graph.nodes.refinement import refined
from planner_executor.graph.nodes.review.message import message_about
from planner_executor.graph.nodes.review.step_changes import take_changes
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.nodes.run.current_run import open_run
from planner_executor.graph.nodes.run.events import budget_reached
from planner_executor.graph.nodes.run.fork_detection import is_fork
from planner_executor.graph.nodes.run.state_view import results_shown, state_at_end, state_update, state_with_plan
from planner_executor.graph.nodes.run.writer import RunWriter
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.plan.shortening import joined_messages, shortened
from planner_executor.graph.policy.replanning import Cause
from planner_executor.graph.record.budget import Usage, reached
from planner_executor.graph.record.events import Draft
from planner_executor.graph.record.expansion import to_refine
from planner_executor.graph.record.no_progress import failures_of, stall_of
from planner_executor.graph.record.remaining import steps_left
from planner_executor.graph.route import headed
from planner_executor.graph.state import State, StateUpdate

WHY_CHARACTERS = 2_000
WHY: Mapping[Cause, str] = {
    "failure": "steps failed",
    "step": "a step has come to its end; keep what still holds",
    "horizon": "a step has come to its end; give the next one, or the answer",
    "steered": "the user changed what is wanted",
}


@dataclass(frozen=True)
class Replanner:
    """Node `replanner`; asks its model for one revision of the remaining steps."""

    services: Services

    async def __call__(self, state: State, config: RunnableConfig) -> StateUpdate:
        """Return the plan with the revision applied; finished steps never change."""
        run = await open_run(self.services, state, config)
        if run is None or is_fork(run, state):
            return {**headed("review"), "doubts": []}
        await take_changes(run, state)
        writer = RunWriter(run)
        async with writer.owned():
            return await self._owned(writer)

    async def _owned(self, writer: RunWriter) -> StateUpdate:
        try:
            return await self._revised(writer)
        except LimitReached as reached:
            return await self._ask_for_budget(writer, reached.limit)
        except StaleRunError:  # a person steered, paused or cancelled the run before the next request
            await writer.read_messages()
            return await self._owned(writer)

    async def _ask_for_budget(self, writer: RunWriter, limit: str) -> StateUpdate:
        """Ask a person about the current plan, since the budget prevents another revision."""
        run, plan = writer.run, writer.run.recorded_plan()
        assert plan is not None
        await writer.write(budget_reached(run, limit, "replanner", plan))
        return self._to_review(run, plan)

    async def _revised(self, writer: RunWriter) -> StateUpdate:
        run, current = writer.run, writer.run.recorded_plan()
        if run.record.ended:
            return await state_at_end(run)
        if current is None:
            return state_update(run, "review", doubts=[])
        # The process died after the revision was recorded and before its checkpoint: no model is asked again.
        if run.checkpoint in run.record.plan_state.revised_at:
            return await self._next(writer, current)
        if due := to_refine(current, run.record):
            return await self._refined(writer, current, due)
        cause = run.replan_policy.cause(current, run.record)
        if cause is None:  # the executor did not send the run here; a client's `goto` did
            return self._to_review(run, current)
        # Only failures count: a run that plans after each step would use the limit up without one.
        more = Usage(replans=int(cause == "failure"))
        if limit := reached(run.terms.bounds, run.usage, more):
            raise LimitReached(limit)
        proposal = await self._ask(writer, current, cause)
        return await self._accept(writer, current, cause, proposal)

    async def _accept(self, writer: RunWriter, current: Plan, cause: Cause, proposal: Proposal) -> StateUpdate:
        """Make the proposal the plan; without progress, ask a person, or end the run in approval mode `never`.

        A replanner that says it cannot go on ends the run in any mode: the status follows from the steps.
        """
        run = writer.run
        # After a step that went well, most answers keep the plan; an equal plan is no revision.
        if proposal.plan is not None and proposal.plan.digest == current.digest and cause == "step":
            return self._to_review(run, current)
        if proposal.cannot:
            return await self._give_up(writer, current, proposal, f"the replanner cannot go on: {proposal.reason}")
        stalled = stall_of(run.record, current, proposal.plan)
        if stalled is not None and run.terms.mode == "never":
            return await self._give_up(writer, current, proposal, proposal.reason or stalled)
        plan = proposal.plan or current
        await writer.revise(
            plan,
            "replanner",
            run.record.plan_state.steered or _why(run, current),
            cause=cause,
            failures=list(failures_of(current, run.record).values()),
            notes=proposal.notes,
            stalled=_without_progress(stalled, proposal) if stalled else None,
        )
        return await self._next(writer, plan)

    async def _refined(self, writer: RunWriter, current: Plan, due: list[Step]) -> StateUpdate:
        """Expand due steps first; failures elsewhere are revised once the expanded steps are done."""
        plan, notes = await refined(writer, current, due)
        if plan.digest != current.digest:
            why = f"refined {', '.join(step.id for step in due)}"
            await writer.revise(plan, "planner", why, cause="refined", notes=notes)
        return self._to_review(writer.run, plan)

    async def _ask(self, writer: RunWriter, current: Plan, cause: Cause) -> Proposal:
        run = writer.run
        record, models = run.record, run.services.models
        # At a horizon the next step is planned, nothing is mended: that is the planner's work.
        role, model = ("planner", models.planner) if run.replan_policy.horizon else ("replanner", models.replanner)
        # Part of the request's key: with more results the same question is another one.
        label = f"{record.plan_state.revision}:{len(record.steps.succeeded)}{record.plan_state.after_retries}"
        why = record.plan_state.steered or WHY[cause]
        return await propose_revision(writer, model, role, label, current, why, run.offered())

    async def _next(self, writer: RunWriter, plan: Plan) -> StateUpdate:
        """Route a revision to review if it has steps to run or makes no progress; otherwise end the run."""
        run = writer.run
        if run.record.plan_state.stalled is None and not steps_left(plan, run.record.steps.results):
            results = results_shown(run, plan)
            ending = await run.ending(plan)
            await writer.end(ending)
            return await state_at_end(run, plan=plan.to_json(), digest=plan.digest, results=results)
        return self._to_review(run, plan)

    def _to_review(self, run: RunContext, plan: Plan) -> StateUpdate:
        message, results = message_about(run, plan), results_shown(run, plan)
        return state_with_plan(run, plan, "review", results=results, messages=[message], doubts=[])

    async def _give_up(self, writer: RunWriter, current: Plan, proposal: Proposal, why: str) -> StateUpdate:
        """End a run that cannot go on, if no person may be asked or can help; it cannot count as succeeded."""
        ending = await writer.run.ending(current)
        status = "partial" if ending.status == "succeeded" else ending.status
        ending = ending._replace(status=status, reason=f"{ending.reason}; {why}")
        refused = [] if proposal.plan else [Draft(proposal.refusal("replanner"))]
        issues = [issue.to_json() for issue in proposal.issues]
        await writer.end(ending, *refused)
        return await state_at_end(writer.run, issues=issues)


def _without_progress(stalled: str, proposal: Proposal) -> str:
    return proposal.reason if proposal.explained else f"No progress: {stalled}. {proposal.reason}".strip()


def _why(run: RunContext, current: Plan) -> str:
    failed = [
        shortened(f"{step.id} failed: {run.record.steps.results[step.id].error}", WHY_CHARACTERS // 2)
        for step in current.steps
        if run.record.steps.failed_in(step.id, run.record.plan_state.current_pass)
    ]
    return joined_messages(failed, WHY_CHARACTERS) or "revised"
