"""A tool step is one call through the gate, once or per item of a list."""

from collections.abc import Mapping

from pydantic import JsonValue

from planner_executor.graph.calls.tool_call import Admitted, Finished
from planner_executor.graph.execution.for_each import ItemOutcome
from planner_executor.graph.execution.kinds.start import KindStart
from planner_executor.graph.execution.model_step import StepFailed, finished_alone
from planner_executor.graph.execution.step_outcome import StepOutcome
from planner_executor.graph.execution.step_work import Started, StepWork, Task, evaluated
from planner_executor.graph.plan.schema import ITEM, Step
from planner_executor.graph.policy.grants import Refused


async def start(work: StepWork, step: Step) -> Started:
    """Return the step's call, its outcome if the call is on record, or a task that waits for the call's turn.

    Raises:
        UnresolvedReferenceError: A reference has no value.
        Refused, CallHeld, CallUncertain, LimitReached: See `CallGate.admit`.
    """
    assert step.tool is not None
    args = await evaluated(dict(step.args), lambda: step.filled_args(work.values_for(step)))
    # A preview takes its time, in which the other steps that are ready start.
    if work.gate.previews.may_be_made(step.tool) and step.id not in work.record.steps.succeeded:
        return lambda: _admit_aside(work, step, args)
    admitted = await work.gate.admit(step, step.tool, args, work.argument_labels(step))
    if isinstance(admitted, Finished):
        return _recalled(work, step, admitted)
    return (lambda: _make_in_turn(work, step, admitted)) if admitted.has_turn else admitted


async def _admit_aside(work: StepWork, step: Step, args: Mapping[str, JsonValue]) -> StepOutcome:
    try:
        admitted = await work.gate.admit(step, str(step.tool), args, work.argument_labels(step))
    except Refused as refusal:
        return work.attempt(step).failed(str(refusal))
    if isinstance(admitted, Finished):
        found = _recalled(work, step, admitted)
        return found if isinstance(found, StepOutcome) else await found()
    return await _make_in_turn(work, step, admitted)


async def make(work: StepWork, step: Step, admitted: Admitted) -> StepOutcome:
    """Make the step's call; its intent is already written."""
    try:
        end = StepOutcome.of_call(await work.gate.perform(admitted))
        return await work.assess(step, end, lambda _: _repeat(work, admitted))
    finally:
        work.gate.effects.end_turn(admitted.call)


async def item(work: StepWork, step: Step, place: int, value: JsonValue) -> ItemOutcome:
    """Return the outcome of one item.

    Raises:
        StepFailed: The item failed.
    """
    assert step.tool is not None
    args = await evaluated(dict(step.args), lambda: step.filled_args({**work.values_for(step), ITEM: value}))
    admitted = await work.gate.admit(step, step.tool, args, work.argument_labels(step), item=place)
    finished = await finished_alone(work.gate, admitted)
    if finished.result.status != "succeeded":
        raise StepFailed(str(finished.result.error))
    return ItemOutcome(finished.value, finished.call.label, {step.tool: 1})


def _recalled(work: StepWork, step: Step, finished: Finished) -> StepOutcome | Task:
    """Return the outcome of a step whose call is on record, and succeeded: a step's own call is not recalled otherwise.

    The recorded outcome of the step may differ from that of the call: other criteria rejected the result, or a person
    stated that the call of another step happened.
    """
    end = StepOutcome.of_call(finished, on_record=True)
    unchecked, criteria = step.id in work.record.steps.unchecked, work.criteria.has(step)
    if step.id in work.record.steps.succeeded and not unchecked:
        return end
    if not (unchecked and criteria):
        end = work.attempt(step).succeeded(end.value, end.label, called=end.called)
    if not criteria:
        return end
    is_its_turn = work.gate.effects.take_turn(finished.call)  # the same call of a step that is ready too has to wait
    admitted = Admitted(finished.call, work.gate.limits(step, finished.call))
    return lambda: _reassess(work, step, end, admitted, is_its_turn=is_its_turn)


async def _reassess(
    work: StepWork, step: Step, end: StepOutcome, admitted: Admitted, *, is_its_turn: bool
) -> StepOutcome:
    try:
        return await work.assess(step, end, lambda _: _repeat(work, admitted))
    finally:
        if is_its_turn:
            work.gate.effects.end_turn(admitted.call)


async def _make_in_turn(work: StepWork, step: Step, admitted: Admitted) -> StepOutcome:
    await work.gate.commit_in_turn(admitted)
    return await make(work, step, admitted)


async def _repeat(work: StepWork, admitted: Admitted) -> StepOutcome:
    again = work.gate.again(admitted)
    await work.gate.commit_in_turn(again)
    return StepOutcome.of_call(await work.gate.perform(again))


START = KindStart(start, item)
