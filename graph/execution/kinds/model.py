"""A model step is a loop of the executor model, once or per item of a list."""

from collections.abc import Coroutine, Mapping
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.errors import ResultError
from planner_executor.graph.execution.for_each import ItemOutcome
from planner_executor.graph.execution.kinds.start import KindStart
from planner_executor.graph.execution.model_step import ModelStep, StepFailed
from planner_executor.graph.execution.step_outcome import NOT_NOW, StepAttempt, StepOutcome, not_now
from planner_executor.graph.execution.step_timeout import StepLimit, StepTimedOut
from planner_executor.graph.execution.step_work import Started, StepWork, evaluated
from planner_executor.graph.plan.schema import ITEM, Step
from planner_executor.graph.record.values import normalise


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
    loop, limit = _loop(work, step, args, place), _limit(work, step)
    turns = loop.run(work.record.assignment.goal, work.shown(step, value), work.brief(step, place))
    try:
        result = normalise(await limit.within(turns))
    except StepTimedOut as late:
        raise StepFailed(str(late)) from late
    return ItemOutcome(result, loop.label, loop.called, loop.refusals.missing(f"{step.id}[{place}]"))


async def _think(work: StepWork, step: Step, args: Mapping[str, JsonValue]) -> StepOutcome:
    attempt, loop, limit = work.attempt(step, args), _loop(work, step, args), _limit(work, step)
    try:
        turns = loop.run(work.record.assignment.goal, work.shown(step), work.brief(step, None))
        end = await _outcome(attempt, loop, limit.within(turns))
    except NOT_NOW as reason:
        return not_now(step.id, reason)
    return await work.assess(step, end, lambda unmet: _outcome(attempt, loop, limit.within(loop.mend(unmet))))


async def _outcome(attempt: StepAttempt, loop: ModelStep, result: Coroutine[Any, Any, JsonValue]) -> StepOutcome:
    try:
        value = normalise(await result)
    except (StepFailed, StepTimedOut, ResultError) as error:
        return attempt.failed(str(error))
    return attempt.succeeded(value, loop.label, loop.refusals.missing(attempt.step), loop.called)


def _limit(work: StepWork, step: Step) -> StepLimit:
    return StepLimit.starting(step.id, work.clock, work.limits_of(step).timeout_s)


def _loop(work: StepWork, step: Step, args: Mapping[str, JsonValue], place: int | None = None) -> ModelStep:
    model, labels = work.executors[step.executor], work.argument_labels(step)
    anew = work.record.begins_anew(step.id, place)
    return ModelStep(
        step,
        args,
        work.gate,
        work.toolbox,
        model,
        labels,
        work.label_read(step),
        place,
        anew,
        work.limits_of(step),
        work.record.calls.openings.get((step.id, place), ()),
        frozenset(work.record.steps.answers),
    )


START = KindStart(start, item)
