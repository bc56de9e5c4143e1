"""Replanner: revise what is left of the plan."""

from dataclasses import dataclass, replace
from functools import partial

from langchain_core.runnables import RunnableConfig

from graph.calls.gate import ModelCall
from graph.context import Services
from graph.nodes.asking import message_about
from graph.plan.revision import difference, read_revision
from graph.plan.schema import Plan
from graph.planning import Proposal, propose
from graph.prompts.replanner import replanner_messages
from graph.run.ending import ending_of
from graph.run.goal import Goal
from graph.state import State, StateUpdate
from graph.story import Story, open_story


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
            return await self._revised(story)

    async def _revised(self, story: Story) -> StateUpdate:
        current = story.recorded_plan()
        if story.record.ended:
            return story.ended()
        if current is None:
            return story.update(status="waiting", doubts=[])
        if story.checkpoint in story.record.revised_at:
            return await self._next(story, current)
        proposal = await self._ask(story, current)
        if proposal.plan is None:
            return await self._give_up(story, current, proposal)
        await story.revise(proposal.plan, "replanner", _why(story, current), _dropped(story, current, proposal.plan))
        return await self._next(story, proposal.plan)

    async def _ask(self, story: Story, current: Plan) -> Proposal:
        record, settings, specs = story.record, self.services.settings, self.services.toolbox.specs
        left = settings.max_replans - record.replans - 1
        goal = Goal(record.goal, record.constraints)
        messages = replanner_messages(goal, specs.values(), current, record.results, left, record.feedback)
        read = partial(
            read_revision, current=current, succeeded=record.succeeded, tools=specs, max_steps=settings.max_steps
        )
        call = ModelCall("replanner", str(record.revision), messages)
        return await propose(story.gate(), self.services.replanner, call, read, settings.max_repairs)

    async def _next(self, story: Story, plan: Plan) -> StateUpdate:
        """A revision with steps to run goes to review; one without is the end."""
        results = story.results_shown(plan)
        if all(step.id in story.record.succeeded for step in plan.steps):
            ending = ending_of(plan, story.record.results, await story.values(plan), story.record.dropped)
            return await story.end(ending, plan=plan.to_json(), digest=plan.digest, results=results)
        return story.show_plan(plan, "waiting", results=results, messages=[message_about(story, plan)], doubts=[])

    async def _give_up(self, story: Story, current: Plan, proposal: Proposal) -> StateUpdate:
        ending = ending_of(current, story.record.results, await story.values(current), story.record.dropped)
        issues = [issue.to_json() for issue in proposal.issues]
        return await story.end(replace(ending, reason=f"{ending.reason}; {proposal.reason}"), issues=issues)


def _why(story: Story, current: Plan) -> str:
    failed = [
        f"{step.id} failed: {story.record.results[step.id].error}"
        for step in current.steps
        if story.record.failed_in(step.id, story.record.revision)
    ]
    return "; ".join(failed)[:2000] or "revised"


def _dropped(story: Story, current: Plan, revised: Plan) -> list[str]:
    """Return failed steps that the revision drops without a new step in their place."""
    diff = difference(current, revised)
    if diff.added:
        return []
    return [step for step in diff.removed if story.record.failed_in(step, story.record.revision)]
