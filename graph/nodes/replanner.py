"""Replanner: revise what is left of the plan."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from langchain_core.runnables import RunnableConfig

from graph.calls.meter import BudgetReached
from graph.calls.model_gate import ModelCall
from graph.context import Services
from graph.nodes.asking import message_about
from graph.plan.json_schema import revision_schema
from graph.plan.revision import read_revision
from graph.plan.schema import Plan, Step
from graph.plan.shortening import joined_messages, shortened
from graph.planning import Proposal, propose
from graph.prompts.replanner import replanner_messages
from graph.refining import refined
from graph.run.budget import Usage, reached
from graph.run.goal import Goal
from graph.run.next_move import Cause
from graph.run.refining import to_refine
from graph.run.stall import failures_of, stall_of
from graph.state import State, StateUpdate
from graph.story import Story, open_story

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
        story = await open_story(self.services, state, config)
        if story is None or story.is_fork(state):
            return {"status": "waiting", "doubts": []}
        async with story.owned():
            try:
                return await self._revised(story)
            except BudgetReached as reached:
                return await self._short(story, reached.limit)

    async def _short(self, story: Story, limit: str) -> StateUpdate:
        """The budget does not allow another revision: a person is asked about the plan as it is."""
        plan = story.recorded_plan()
        assert plan is not None
        await story.short_of(limit, "replanner", plan)
        return self._to_review(story, plan)

    async def _revised(self, story: Story) -> StateUpdate:
        current = story.recorded_plan()
        if story.record.ended:
            return story.ended()
        if current is None:
            return story.update(status="waiting", doubts=[])
        if story.checkpoint in story.record.revised_at:
            return await self._next(story, current)
        if due := to_refine(current, story.record):
            return await self._refined(story, current, due)
        cause = story.outlook.cause(current, story.record) or "failure"
        more = Usage(replans=int(cause == "failure"))
        if limit := reached(story.terms.bounds, story.record.usage, more):
            raise BudgetReached(limit)
        proposal = await self._ask(story, current, cause)
        return await self._taken(story, current, cause, proposal)

    async def _taken(self, story: Story, current: Plan, cause: Cause, proposal: Proposal) -> StateUpdate:
        """Make the proposal the plan; one that gets no further is for a person, and the end where nobody is asked."""
        if proposal.plan is not None and proposal.plan.digest == current.digest and cause == "step":
            return self._to_review(story, current)
        stalled = stall_of(story.record, current, proposal.plan)
        if stalled is not None and story.terms.mode == "never":
            return await self._give_up(story, current, proposal, stalled)
        plan = proposal.plan or current
        await story.revise(
            plan,
            "replanner",
            story.record.steered or _why(story, current),
            cause=cause,
            failures=list(failures_of(current, story.record).values()),
            notes=proposal.notes,
            stalled=f"No progress: {stalled}. {proposal.reason}".strip() if stalled else None,
        )
        return await self._next(story, plan)

    async def _refined(self, story: Story, current: Plan, due: list[Step]) -> StateUpdate:
        """Steps that are due to be refined come first: what failed elsewhere is revised when they are done."""
        plan, notes = await refined(story, current, due)
        if plan.digest != current.digest:
            why = f"refined {', '.join(step.id for step in due)}"
            await story.revise(plan, "planner", why, cause="refined", notes=notes)
        return self._to_review(story, plan)

    async def _ask(self, story: Story, current: Plan, cause: Cause) -> Proposal:
        record, settings, specs = story.record, self.services.settings, self.services.toolbox.specs
        goal, horizon = Goal(record.goal, record.constraints), story.outlook.horizon
        why = record.steered or WHY[cause]
        offered = story.offered()
        messages = replanner_messages(goal, offered, current, record, why, story.told_limits, horizon)
        read = partial(
            read_revision, current=current, succeeded=record.succeeded, tools=specs, max_steps=settings.max_steps
        )
        schema = revision_schema(tuple(tool["name"] for tool in offered))
        models, most = self.services.models, settings.max_repairs
        role, model = ("planner", models.planner) if horizon else ("replanner", models.replanner)
        call = ModelCall(role, f"{record.revision}:{len(record.succeeded)}", messages, schema=schema)
        return await propose(story.gate().models, model, call, lambda raw: story.planned(read(raw)), most)

    async def _next(self, story: Story, plan: Plan) -> StateUpdate:
        """A revision with steps to run goes to review, as does what gets no further; one without is the end."""
        if story.record.stalled is None and all(step.id in story.record.succeeded for step in plan.steps):
            results = story.results_shown(plan)
            ending = await story.ending(plan)
            return await story.end(ending, plan=plan.to_json(), digest=plan.digest, results=results)
        return self._to_review(story, plan)

    def _to_review(self, story: Story, plan: Plan) -> StateUpdate:
        said, results = message_about(story, plan), story.results_shown(plan)
        return story.show_plan(plan, "waiting", results=results, messages=[said], doubts=[])

    async def _give_up(self, story: Story, current: Plan, proposal: Proposal, why: str) -> StateUpdate:
        """Without a person who could help, a run that gets no further ends; its goal was never said to be reached."""
        ending = await story.ending(current)
        status = "partial" if ending.status == "succeeded" else ending.status
        ending = replace(ending, status=status, reason=f"{ending.reason}; {proposal.reason or why}")
        refused = [] if proposal.plan else [proposal.refusal("replanner")]
        issues = [issue.to_json() for issue in proposal.issues]
        return await story.end(ending, *refused, issues=issues)


def _why(story: Story, current: Plan) -> str:
    failed = [
        shortened(f"{step.id} failed: {story.record.results[step.id].error}", WHY_CHARACTERS // 2)
        for step in current.steps
        if story.record.failed_in(step.id, story.record.revision)
    ]
    return joined_messages(failed, WHY_CHARACTERS) or "revised"
