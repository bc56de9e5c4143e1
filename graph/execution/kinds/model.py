"""A model step is a loop of the executor model, once or per item of a list."""

from collections.abc import Coroutine, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.errors import ResultError, UnresolvedReferenceError
from planner_executor.graph.execution.for_each import ItemOutcome
from planner_executor.graph.execution.kinds.start import KindStart
from planner_executor.graph.execution.model_step import ModelStep, StepFailed, form_faults
from planner_executor.graph.execution.step_outcome import StepAttempt, StepOutcome
from planner_executor.graph.execution.step_timeout import StepLimit, StepTimedOut
from planner_executor.graph.execution.step_work import Started, StepWork, evaluated
from planner_executor.graph.plan.schema import ITEM, Step
from planner_executor.graph.record.values import normalise


async def start(work: StepWork, step: Step) -> Started:
    """Return the model's task, or the recorded outcome.

    Raises:
        UnresolvedReferenceError: A reference has no value.
    """
    args = await evaluated(dict(step.args), lambda: step.filled_args(work.values_for(step)))
    return await work.reusable(step, args) or (lambda: _think(work, step, args))


async def item(work: StepWork, step: Step, place: int, value: JsonValue) -> ItemOutcome:
    """Return the outcome of one item.

    Raises:
        StepFailed: The item failed.
    """
    args = await evaluated(dict(step.args), lambda: step.filled_args({**work.values_for(step), ITEM: value}))
    loop, limit = _loop(work, step, args, place), _limit(work, step)
    turns = loop.run(work.record.assignment.started.goal, work.shown(step, value), work.brief(step, place))
    try:
        result = normalise(await limit.within(turns))
    except StepTimedOut as late:
        raise StepFailed(str(late)) from late
    return ItemOutcome(result, loop.label, loop.called, loop.refusals.missing(f"{step.id}[{place}]"))


async def batch(work: StepWork, step: Step, items: Mapping[int, JsonValue]) -> Mapping[int, ItemOutcome]:
    """Return the outcomes of the items whose values came in one list and have the form of `output`.

    All others are to be done alone: a list of another length is one fault, which says nothing about any of them.
    """
    assert step.output is not None
    of_items = {name for name, found in step.argument_references.items() if any(one.step == ITEM for one in found)}
    shared: dict[str, JsonValue] = {}
    own: dict[int, dict[str, JsonValue]] = {}
    for place, value in items.items():
        with suppress(UnresolvedReferenceError):
            args = await evaluated(dict(step.args), partial(step.filled_args, {**work.values_for(step), ITEM: value}))
            shown = {name: found for name, found in work.shown(step, value).items() if name == ITEM}
            own[place] = {**shown, **{name: args.pop(name) for name in args.keys() & of_items}}
            # What refers to no item is the same in each of them.
            shared = args
    if not own:
        return {}
    loop, limit = _loop(work, step, shared, batch=own), _limit(work, step)
    results = {name: found for name, found in work.shown(step).items() if name != ITEM}
    turns = loop.run(work.record.assignment.started.goal, results, work.brief(step, None))
    try:
        values: Any = normalise(await limit.within(turns))
    except (StepFailed, StepTimedOut, ResultError):
        return {}
    # `_list_of` had the model asked again until the list was as long as the items.
    fits = {place: value for place, value in zip(own, values, strict=True) if not form_faults(value, step.output)}
    return {place: ItemOutcome(value, loop.label, loop.called) for place, value in fits.items()}


async def _think(work: StepWork, step: Step, args: Mapping[str, JsonValue]) -> StepOutcome:
    attempt, loop, limit = work.attempt(step, args), _loop(work, step, args), _limit(work, step)
    turns = loop.run(work.record.assignment.started.goal, work.shown(step), work.brief(step, None))
    end = await _outcome(attempt, loop, limit.within(turns))
    return await work.assess(step, end, lambda unmet: _outcome(attempt, loop, limit.within(loop.mend(unmet))))


async def _outcome(attempt: StepAttempt, loop: ModelStep, result: Coroutine[Any, Any, JsonValue]) -> StepOutcome:
    try:
        value = normalise(await result)
    except (StepFailed, StepTimedOut, ResultError) as error:
        return attempt.failed(str(error))
    return attempt.succeeded(value, loop.label, loop.refusals.missing(attempt.step), loop.called)


def _limit(work: StepWork, step: Step) -> StepLimit:
    return StepLimit.starting(step.id, work.clock, work.limits_of(step).timeout_s)


def _loop(
    work: StepWork,
    step: Step,
    args: Mapping[str, JsonValue],
    place: int | None = None,
    batch: Mapping[int, Mapping[str, JsonValue]] | None = None,
) -> ModelStep:
    model, labels = work.executors[step.executor], work.argument_labels(step)
    anew = work.record.begins_anew(step.id, place)
    return ModelStep(
        step,
        args,
        work.gate,
        model,
        labels,
        work.label_read(step),
        place,
        anew,
        work.limits_of(step),
        work.record.calls.openings.get((step.id, place), ()),
        frozenset(work.record.steps.answers),
        batch or {},
    )


START = KindStart(start, item, batch)
