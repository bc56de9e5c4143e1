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
from graph.policy.scope import in_force
from graph.record.ending import ending_of
from graph.record.events import Draft
from graph.record.expansion import to_refine
from graph.review.human_steps import open_questions
from graph.run_context import RunContext, open_run_context
from graph.state import State, StateUpdate


@dataclass(frozen=True)
class Executor:
    """Node `executor`; runs nothing but the plan that the ledger says was approved."""

    services: Services

    async def __call__(self, state: State, config: RunnableConfig) -> StateUpdate:
        """Return the results, and whether a person, a revision or nothing more is needed."""
        run = await open_run_context(self.services, state, config)
        if run is None or run.is_fork(state):
            return {"status": "waiting", "doubts": []}
        if not run.record.ended and self._approved(run, state) is None:
            return run.update(status="waiting", doubts=[])
        due = run.record.steered or run.record.replanner_is_due or run.record.ended
        async with run.owned(*([] if due else [_executing(run)])):
            plan = self._approved(run, state)
            if run.record.steered or run.record.replanner_is_due:
                return run.update(status="planning", doubts=[])
            if run.record.ended or plan is None:
                return run.ended() if run.record.ended else run.update(status="waiting", doubts=[])
            return await self._carry_out(run, plan)

    async def _carry_out(self, run: RunContext, plan: Plan) -> StateUpdate:
        """Run the plan as far as it goes; the run is owned."""
        assert run.lease is not None
        progress = Progress(run.record.id, len(plan.steps))
        flow = self._flow(run, plan, progress)
        try:
            if not run.opened:
                await run.write(_executing(run))
            await flow.run()
        except StaleRunError:
            await run.heed()
            if run.record.steered and not run.record.ended:
                return run.update(status="planning", results=run.results_shown(plan), doubts=[])
            return run.ended() if run.record.ended else run.update(status="waiting", doubts=[])
        except asyncio.CancelledError:
            with suppress(LedgerError, RunPausedError):  # that it was paused is a courtesy; what was begun is on record
                await run.heed()
                if not run.record.ended:
                    await run.ledger.append(run.lease, [Draft("paused", {"reason": "interrupted"})])
            raise
        finally:
            progress.close()
        return await self._outcome(run, plan, flow)

    def _approved(self, run: RunContext, state: State) -> Plan | None:
        """Return the plan in the state if the approval in force is of exactly that plan."""
        record, plan = run.record, run.approved_plan()
        if record.approval is None or plan is None:
            return None
        try:
            shown = digest(state.get("plan"))
        except (ValueError, TypeError, RecursionError):
            return None
        same = shown == plan.digest == record.digest and in_force(record, plan, run.terms)
        return plan if same else None

    def _flow(self, run: RunContext, plan: Plan, progress: Progress) -> Dataflow:
        settings, models, toolbox = self.services.settings, self.services.models, self.services.toolbox
        gate = run.gate()
        criteria = Criteria(run.record, gate, models.judge, toolbox.file, settings.max_retries)
        at_once = asyncio.Semaphore(settings.max_concurrency)
        work = StepWork(run.record, gate, toolbox, models.executors, waits_for(plan.steps), at_once, criteria)
        return Dataflow(plan, work, progress.announce, stops_early=run.replan_policy.looks_at_each_step(run.record))

    async def _outcome(self, run: RunContext, plan: Plan, flow: Dataflow) -> StateUpdate:
        await run.heed()  # what was said while the last steps were under way
        if run.record.ended:
            return run.ended()
        results = run.results_shown(plan, flow.results)
        if run.record.steered:
            return run.update(status="planning", results=results, doubts=[])
        if flow.limit is not None:
            await run.short_of(flow.limit, "executor", plan)
        due = open_questions(plan, run.record)
        if flow.doubts or flow.limit is not None or run.record.waiting_calls or due:
            said = message_about(run, plan, flow.doubts)
            return run.update(status="waiting", results=results, doubts=flow.doubts, messages=[said])
        if to_refine(plan, run.record):
            return run.update(status="planning", results=results, doubts=[])
        if run.replan_policy.cause(plan, run.record, progressed=flow.progressed):
            return run.update(status="planning", results=results, doubts=[])
        reached = {**run.record.results, **flow.results}
        ending = ending_of(plan, reached, flow.work.values, run.record.dropped, run.record.missing)
        return await run.end(run.replan_policy.ended(ending, run.record), results=results, doubts=[])


def _executing(run: RunContext) -> Draft:
    return Draft("executing", {"revision": run.record.revision})
