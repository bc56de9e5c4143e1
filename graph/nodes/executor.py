"""Executor: carry out the approved plan, as parallel as its dependencies allow, within one call of the node."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass

from langchain_core.runnables import RunnableConfig

from graph.context import Services
from graph.errors import LedgerError, RunPausedError, StaleRunError
from graph.execution.criteria import Criteria
from graph.execution.dataflow import Dataflow
from graph.execution.progress import Progress
from graph.execution.step_work import StepWork
from graph.nodes.asking import message_about
from graph.plan.canonical import digest
from graph.plan.schedule import waits_for
from graph.plan.schema import Plan
from graph.run.ending import ending_of
from graph.run.events import Draft
from graph.run.questions import open_questions
from graph.run.refining import to_refine
from graph.run.scope import in_force
from graph.state import State, StateUpdate
from graph.story import Story, open_story


@dataclass(frozen=True)
class Executor:
    """Node `executor`; runs nothing but the plan that the ledger says was approved."""

    services: Services

    async def __call__(self, state: State, config: RunnableConfig) -> StateUpdate:
        """Return the results, and whether a person, a revision or nothing more is needed."""
        story = await open_story(self.services, state, config)
        if story is None or story.is_fork(state):
            return {"status": "waiting", "doubts": []}
        if not story.record.ended and self._approved(story, state) is None:
            return story.update(status="waiting", doubts=[])
        due = story.record.steered or story.record.replanner_is_due or story.record.ended
        async with story.owned(*([] if due else [_executing(story)])):
            plan = self._approved(story, state)
            if story.record.steered or story.record.replanner_is_due:
                return story.update(status="planning", doubts=[])
            if story.record.ended or plan is None:
                return story.ended() if story.record.ended else story.update(status="waiting", doubts=[])
            return await self._carry_out(story, plan)

    async def _carry_out(self, story: Story, plan: Plan) -> StateUpdate:
        """Run the plan as far as it goes; the run is owned."""
        assert story.lease is not None
        progress = Progress(story.record.id, len(plan.steps))
        flow = self._flow(story, plan, progress)
        try:
            if not story.opened:
                await story.write(_executing(story))
            await flow.run()
        except StaleRunError:
            await story.heed()
            if story.record.steered and not story.record.ended:
                return story.update(status="planning", results=story.results_shown(plan), doubts=[])
            return story.ended() if story.record.ended else story.update(status="waiting", doubts=[])
        except asyncio.CancelledError:
            with suppress(LedgerError, RunPausedError):  # that it was paused is a courtesy; what was begun is on record
                await story.heed()
                if not story.record.ended:
                    await story.ledger.append(story.lease, [Draft("paused", {"reason": "interrupted"})])
            raise
        finally:
            progress.close()
        return await self._outcome(story, plan, flow)

    def _approved(self, story: Story, state: State) -> Plan | None:
        """Return the plan in the state if the approval in force is of exactly that plan."""
        record, plan = story.record, story.approved_plan()
        if record.approval is None or plan is None:
            return None
        try:
            shown = digest(state.get("plan"))
        except (ValueError, TypeError, RecursionError):
            return None
        same = shown == plan.digest == record.digest and in_force(record, plan, story.terms)
        return plan if same else None

    def _flow(self, story: Story, plan: Plan, progress: Progress) -> Dataflow:
        settings, models, toolbox = self.services.settings, self.services.models, self.services.toolbox
        gate = story.gate()
        criteria = Criteria(story.record, gate, models.judge, toolbox.file, settings.max_retries)
        at_once = asyncio.Semaphore(settings.max_concurrency)
        work = StepWork(story.record, gate, toolbox, models.executors, waits_for(plan.steps), at_once, criteria)
        return Dataflow(plan, work, progress.announce, stops_early=story.outlook.looks_at_each_step(story.record))

    async def _outcome(self, story: Story, plan: Plan, flow: Dataflow) -> StateUpdate:
        await story.heed()  # what was said while the last steps were under way
        if story.record.ended:
            return story.ended()
        results = story.results_shown(plan, flow.results)
        if story.record.steered:
            return story.update(status="planning", results=results, doubts=[])
        if flow.limit is not None:
            await story.short_of(flow.limit, "executor", plan)
        due = open_questions(plan, story.record)
        if flow.doubts or flow.limit is not None or story.record.waiting_calls or due:
            said = message_about(story, plan, flow.doubts)
            return story.update(status="waiting", results=results, doubts=flow.doubts, messages=[said])
        if to_refine(plan, story.record):
            return story.update(status="planning", results=results, doubts=[])
        if story.outlook.cause(plan, story.record, progressed=flow.progressed):
            return story.update(status="planning", results=results, doubts=[])
        reached = {**story.record.results, **flow.results}
        ending = ending_of(plan, reached, flow.work.values, story.record.dropped, story.record.missing)
        return await story.end(story.outlook.ended(ending, story.record), results=results, doubts=[])


def _executing(story: Story) -> Draft:
    return Draft("executing", {"revision": story.record.revision})
