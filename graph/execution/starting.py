"""Starting a ready step of any kind."""

from collections.abc import Mapping
from functools import partial

from pydantic import JsonValue

from planner_executor.graph.errors import UnresolvedReferenceError
from planner_executor.graph.execution.conditions import is_met
from planner_executor.graph.execution.for_each import ItemOutcome, Items, items_of
from planner_executor.graph.execution.kinds.start import KindStart, StartItem
from planner_executor.graph.execution.kinds.table import kind_start
from planner_executor.graph.execution.step_outcome import NOT_NOW, StepOutcome, not_now
from planner_executor.graph.execution.step_work import Started, StepWork, evaluated
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.plan.when import CONDITION
from planner_executor.graph.policy.grants import Refused
from planner_executor.graph.record.remaining import skipped_by
from planner_executor.graph.record.trust_label import joined, label_of_tool


async def start_step(work: StepWork, step: Step) -> Started:
    """Return the step's call, its task, or its outcome if there is no work; errors become outcomes."""
    steps = work.record.steps
    # A step that failed in this pass is tried again by a retry or another revision alone.
    if steps.failed_in(step.id, work.record.plan_state.current_pass) or steps.is_skipped(step.id):
        return StepOutcome(step.id, steps.results[step.id])
    # Before the condition is looked at: a result that a person supplied counts in any case.
    if step.id in steps.supplied and (given := await work.recorded(step)) is not None:
        return (lambda: work.assess(step, given)) if step.id in steps.unchecked else given
    kind = kind_start(step.kind)
    try:
        if step.when is not None and not await is_met(work, step, step.when):
            return StepOutcome(step.id, skipped_by(str(step.when[CONDITION])))
        if step.for_each is not None and kind.item is not None:
            return await _start_each(work, step, kind, kind.item)
        return await kind.start(work, step)
    except (UnresolvedReferenceError, Refused) as error:
        return work.attempt(step).failed(str(error))
    except NOT_NOW as reason:
        return not_now(step.id, reason)


async def _start_each(work: StepWork, step: Step, kind: KindStart, start_item: StartItem) -> Started:
    items = await evaluated(step.for_each, lambda: items_of(step, work.values_for(step)))
    return await work.reusable(step, items) or (lambda: _each(work, step, items, kind, start_item))


async def _each(
    work: StepWork, step: Step, items: list[JsonValue], kind: KindStart, start_item: StartItem
) -> StepOutcome:
    attempt = work.attempt(step, items)
    tools = [label_of_tool(work.gate.run.toolbox.specs[name]) for name in step.tool_names]
    ends = Items(step, work.slots, joined([work.label_read(step), *tools]), work.reports)
    if kind.batch is not None and step.batch is not None:
        starts, numbered = range(0, len(items), step.batch), [*enumerate(items)]
        batches = [dict(numbered[start : start + step.batch]) for start in starts]
        await ends.do(([*batch], partial(kind.batch, work, step, batch)) for batch in batches)
    # What a batch did not do goes alone, unless the run has changed or waits meanwhile.
    left = [] if ends.asks else [place for place in range(len(items)) if place not in ends.done]
    await ends.do(([place], partial(_alone, work, step, start_item, place, items[place])) for place in left)
    return await work.assess(step, ends.end(attempt, len(items)))


async def _alone(
    work: StepWork, step: Step, start_item: StartItem, place: int, item: JsonValue
) -> Mapping[int, ItemOutcome]:
    return {place: await start_item(work, step, place, item)}
