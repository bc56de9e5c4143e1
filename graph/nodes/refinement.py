"""Expansion of due `refine` steps: a planner plans each of them (docs/decisions/0019-refined-steps.md)."""

from planner_executor.graph.calls.gate import CallGate
from planner_executor.graph.calls.model_call import ModelCall
from planner_executor.graph.execution.step_timeout import StepLimit, StepTimedOut
from planner_executor.graph.nodes.planning import Proposal, propose
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.nodes.run.writer import RunWriter
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.prompts.refining import refining_messages
from planner_executor.graph.record.events import Draft, StepFinished
from planner_executor.graph.record.expansion import Refinement
from planner_executor.graph.record.expansion_names import names_in, places_in
from planner_executor.graph.record.results import StepResult


async def refined(writer: RunWriter, plan: Plan, steps: list[Step]) -> tuple[Plan, tuple[str, ...]]:
    """Return the plan with each of these steps expanded, and notes on normalizations.

    A step that cannot be expanded is recorded as failed.

    Raises:
        LimitReached: A limit prevents a model call.
    """
    run, gate = writer.run, writer.gate()
    notes: list[str] = []
    for step in steps:
        proposal = await _asked(writer, gate, plan, step)
        # A failure of that step alone; the others are expanded all the same.
        if proposal.plan is None:
            await writer.write(_failed(run, step, proposal))
        plan = proposal.plan or plan
        notes += proposal.notes
    return plan, tuple(dict.fromkeys(notes))


async def _asked(writer: RunWriter, gate: CallGate, plan: Plan, step: Step) -> Proposal:
    run = writer.run
    record, settings = run.record, run.services.settings
    specs = run.services.toolbox.specs
    tools = {name: spec for name, spec in specs.items() if not step.tools or name in step.tools}
    offered = run.offered(step)
    goal, seen = record.assignment.goal, run.seen_by(step)
    messages = refining_messages(goal, step, seen, offered.text, run.planner_limits, offered.lines)
    reader = Refinement(
        plan,
        step,
        record.steps.succeeded,
        tools,
        settings.max_steps,
        settings.max_depth,
        names_in(plan, step) if record.assignment.started.keeps_names else places_in(plan, step),
    )
    label = f"refine:{step.id}:{record.plan_state.revision}{record.plan_state.after_retries}"
    limits = settings.attempt_limits.lowest(step.attempt_limits)
    call = ModelCall("planner", label, messages, schema=offered.plan_schema, limits=limits)
    model, within = run.services.models.planner, StepLimit.starting(step.id, run.services.pauses, limits.timeout_s)
    asked = propose(writer, gate, model, call, offered, lambda raw: run.allowed(reader.read(raw), by_model=True))
    try:
        return await within.within(asked)
    except StepTimedOut as late:
        return Proposal(None, reason=str(late))


def _failed(run: RunContext, step: Step, proposal: Proposal) -> Draft:
    failed = StepResult("failed", error=f"it could not be refined: {proposal.reason}")
    return Draft(StepFinished(result=failed, inputs="", revision=run.record.plan_state.revision), step.id)
