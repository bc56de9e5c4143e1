"""A gather step has its result at once; it needs a task only if it has criteria."""

from planner_executor.graph.execution.kinds.start import KindStart
from planner_executor.graph.execution.step_work import Started, StepWork, evaluated
from planner_executor.graph.plan.schema import Step


async def start(work: StepWork, step: Step) -> Started:
    """Return the combined results.

    Raises:
        UnresolvedReferenceError: A reference has no value.
    """
    value = await evaluated(step.gather, lambda: step.resolved(step.gather, work.values_for(step)))
    if on_record := await work.reusable(step, value):
        return on_record
    end = work.attempt(step, value).succeeded(value, work.label_read(step))
    return (lambda: work.assess(step, end)) if work.criteria.has(step) else end


START = KindStart(start, item=None)
