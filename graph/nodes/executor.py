"""Executor: run the approved plan, as parallel as its dependencies allow, within one call of the node."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from langchain_core.runnables import RunnableConfig

from planner_executor.graph.context import Services
from planner_executor.graph.errors import LedgerError, RunPausedError, StaleRunError
from planner_executor.graph.execution.criteria import Criteria
from planner_executor.graph.execution.dataflow import Dataflow
from planner_executor.graph.execution.progress import ProgressReporter
from planner_executor.graph.execution.step_work import StepWork
from planner_executor.graph.large_work import done_aside
from planner_executor.graph.nodes.review.message import message_about
from planner_executor.graph.nodes.review.step_changes import take_changes
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.nodes.run.current_run import open_run
from planner_executor.graph.nodes.run.events import budget_reached
from planner_executor.graph.nodes.run.fork_detection import is_fork
from planner_executor.graph.nodes.run.state_view import results_shown, state_at_end, state_update
from planner_executor.graph.nodes.run.writer import RunWriter
from planner_executor.graph.plan.canonical import digest_if_json
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.scope import in_force
from planner_executor.graph.record.events import INTERRUPTED, Draft, Executing, Paused
from planner_executor.graph.record.expansion import to_refine
from planner_executor.graph.review.human_steps import open_questions
from planner_executor.graph.route import headed
from planner_executor.graph.state import State, StateUpdate


@dataclass(frozen=True)
class Executor:
    """Node `executor`; runs only the plan whose approval is in the ledger."""

    services: Services

    async def __call__(self, state: State, config: RunnableConfig) -> StateUpdate:
        """Return the results, and the route: to a person, to a revision, or to the end."""
        run = await open_run(self.services, state, config)
        # No approval is inherited: the review begins the run of a fork, and asks about its plan (decision 3).
        if run is None or is_fork(run, state):
            return {**headed("review"), "doubts": []}
        await take_changes(run, state)
        shown = digest_if_json(state.get("plan"))
        if not run.record.ended and self._approved(run, shown) is None:
            return await self._unapproved(run)
        due = run.record.plan_state.steered or run.record.spending.replanner_is_due or run.record.ended
        writer = RunWriter(run)
        async with writer.owned(*([] if due else [_executing(run)])):
            # Looked up again: what was read before the run was owned may have changed.
            plan = self._approved(run, shown)
            if run.record.plan_state.steered or run.record.spending.replanner_is_due:
                return state_update(run, "revise", doubts=[])
            if run.record.ended or plan is None:
                return await state_at_end(run) if run.record.ended else state_update(run, "review", doubts=[])
            return await self._carry_out(writer, plan)

    async def _unapproved(self, run: RunContext) -> StateUpdate:
        """Return the way to the review, with the previews of a plan that a person proposed: a review makes none."""
        plan, revised = run.recorded_plan(), run.record.plan_state.revised
        if plan is not None and revised is not None and revised.author == "person":
            writer = RunWriter(run)
            async with writer.owned():
                await writer.preview_proposal(plan, revised)
        return state_update(run, "review", doubts=[])

    async def _carry_out(self, writer: RunWriter, plan: Plan) -> StateUpdate:
        """Run the plan as far as possible; the run is owned."""
        run, lease = writer.run, writer.lease
        assert lease is not None
        progress = ProgressReporter(run.record, plan)
        try:
            flow = await done_aside(len(plan.steps), partial(self._flow, writer, plan, progress))
            # It was not written with the lease if the record had moved since it was read.
            if not writer.opened:
                await writer.write(_executing(run))
            await flow.run()
        except StaleRunError:
            await writer.read_messages()
            if run.record.plan_state.steered and not run.record.ended:
                return state_update(run, "revise", results=results_shown(run, plan), doubts=[])
            return await state_at_end(run) if run.record.ended else state_update(run, "review", doubts=[])
        except asyncio.CancelledError:
            with suppress(LedgerError, RunPausedError):  # the event is a courtesy: intents are already on record
                await writer.read_messages()
                if not run.record.ended:
                    await run.ledger.append(lease, [Draft(Paused(reason=INTERRUPTED))])
            raise
        finally:
            progress.close()
        return await self._outcome(writer, plan, flow)

    def _approved(self, run: RunContext, shown: str | None) -> Plan | None:
        """Return the approved plan if it is exactly the plan in the state, whose digest is `shown`.

        The state is not trusted: a client may have changed its plan, so that state, record and approval must agree.
        """
        record, plan = run.record, run.approved_plan()
        if record.review_state.approval is None or plan is None:
            return None
        same = shown == plan.digest == record.plan_state.digest and in_force(record, plan, run.terms)
        return plan if same else None

    def _flow(self, writer: RunWriter, plan: Plan, progress: ProgressReporter) -> Dataflow:
        run, gate = writer.run, writer.gate(progress.tool_progress)
        progress.tally = gate.models.tally
        settings, models, toolbox = run.services.settings, run.services.models, run.services.toolbox
        criteria = Criteria(gate, models.judge, toolbox.file, settings.max_check_attempts)
        slots = asyncio.Semaphore(settings.max_concurrency)
        work = StepWork(
            run.record,
            gate,
            models.executors,
            plan.waits,
            slots,
            criteria,
            progress,
            run.services.pauses,
            settings.time_zone,
        )
        return Dataflow(plan, work, stops_early=run.replan_policy.replans_each_step(run.record))

    async def _outcome(self, writer: RunWriter, plan: Plan, flow: Dataflow) -> StateUpdate:
        """Return where the run goes now that nothing more can start.

        Raises:
            CapReachedError: Nothing is left to do but calls that a cap across runs allows later; the run pauses.
        """
        run = writer.run
        await writer.read_messages()  # messages that arrived while the last steps were running
        if run.record.ended:
            return await state_at_end(run)
        reached = {**run.record.steps.results, **flow.results}  # a pass that stops early has not come to every step
        results = await done_aside(len(plan.steps), partial(results_shown, run, plan, reached))
        if run.record.plan_state.steered:
            return state_update(run, "revise", results=results, doubts=[])
        if flow.limit is not None:
            await writer.write(budget_reached(run, flow.limit, "executor", plan))
        due = open_questions(plan, run.record)
        waiting = run.record.waiting_calls or run.record.asking_calls
        # People before planners: no revision rests on what may or may not have happened.
        if flow.uncertain_calls or flow.limit is not None or waiting or due:
            message = await done_aside(len(plan.steps), partial(message_about, run, plan, flow.uncertain_calls))
            return state_update(run, "review", results=results, doubts=flow.uncertain_calls, messages=[message])
        if to_refine(plan, run.record) or run.replan_policy.cause(plan, run.record, progressed=flow.progressed):
            return state_update(run, "revise", results=results, doubts=[])
        # Last of all: a run pauses for a cap only if nothing else can be done until then (decision 85).
        if flow.cap is not None:
            raise flow.cap
        ending = await done_aside(len(plan.steps), partial(run.ending_with, plan, reached, flow.work.values))
        await writer.end(run.replan_policy.ended(ending, run.record))
        return await state_at_end(run, results=results)


def _executing(run: RunContext) -> Draft:
    return Draft(Executing(revision=run.record.plan_state.revision))
