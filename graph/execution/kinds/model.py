"""A model step is a loop of the executor model, once or per item of a list."""

from collections.abc import Coroutine, Mapping
from typing import Any

from pydantic import JsonValue

from graph.calls.meter import LimitReached
from graph.calls.tool_call import CallHeld, CallUncertain
from graph.errors import ResultError
from graph.execution.for_each import ItemOutcome
from graph.execution.kinds.start import KindStart
from graph.execution.model_step import ModelStep, StepFailed
from graph.execution.step_outcome import StepAttempt, StepOutcome, for_a_person
from graph.execution.step_work import Started, StepWork, evaluated
from graph.plan.schema import ITEM, Step
from graph.record.values import normalise


async def start(work: StepWork, step: Step) -> Started:
    """Return the model's task, or the recorded outcome.

    Raises:
        UnresolvedReferenceError: A reference has no value.
    """
    args = await evaluated(dict(step.args), lambda: step.filled_args(work.values))
    return await work.reusable(step, args) or (lambda: _think(work, step, args))


async def item(work: StepWork, step: Step, place: int, value: JsonValue) -> ItemOutcome:
    """Return the outcome of one item.

    Raises:
        StepFailed: The item failed.
    """
    args = await evaluated(dict(step.args), lambda: step.filled_args({**work.values, ITEM: value}))
    loop = _loop(work, step, args, place)
    result = normalise(await loop.run(work.record.assignment.goal, {**work.before(step), ITEM: value}))
    return ItemOutcome(result, loop.label, loop.called)


async def _think(work: StepWork, step: Step, args: Mapping[str, JsonValue]) -> StepOutcome:
    attempt, loop = work.attempt(step, args), _loop(work, step, args)
    try:
        end = await _outcome(attempt, loop, loop.run(work.record.assignment.goal, work.before(step)))
    except (CallHeld, CallUncertain, LimitReached) as reason:
        return for_a_person(step.id, reason)
    return await work.assess(step, end, lambda unmet: _outcome(attempt, loop, loop.mend(unmet)))


async def _outcome(attempt: StepAttempt, loop: ModelStep, result: Coroutine[Any, Any, JsonValue]) -> StepOutcome:
    try:
        value = normalise(await result)
    except (StepFailed, ResultError) as error:
        return attempt.failed(str(error))
    return attempt.succeeded(value, loop.label, called=loop.called)


def _loop(work: StepWork, step: Step, args: Mapping[str, JsonValue], place: int | None = None) -> ModelStep:
    model, labels = work.executors[step.executor], work.argument_labels(step)
    anew = work.record.begins_anew(step.id, place)
    return ModelStep(step, args, work.gate, work.toolbox, model, labels, work.label_read(step), place, anew)


START = KindStart(start, item)
