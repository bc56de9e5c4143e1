"""The steps of a plan as rows of a list."""

from collections.abc import Sequence
from dataclasses import dataclass

from planner_executor.graph.desk.records import ShownRun
from planner_executor.graph.desk.views.step_marks import NO_MARKS, Mark, StepMarks
from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.stream_event import preview_of
from planner_executor.graph.text.drawing.labels import waits_within


@dataclass(frozen=True)
class StepRow:
    """One step, for a list."""

    id: str
    status: str
    objective: str
    doer: str
    waits: tuple[str, ...]
    result: StepResult | None
    preview: str
    marks: tuple[Mark, ...]


def step_rows(shown: ShownRun, marks: StepMarks = NO_MARKS) -> Sequence[StepRow]:
    """Return the steps of the plan in force, in plan order, with their marks."""
    plan = shown.run.plan
    if plan is None:
        return ()
    waits, statuses = waits_within(plan), shown.run.step_status
    rows = []
    for step in plan.steps:
        result = shown.run.results.get(step.id)
        preview = str(preview_of(result) or "") if result is not None else ""
        doer = kind_spec(step.kind).doer(step, str)
        its = marks.get(step.id, ())
        rows.append(StepRow(step.id, statuses[step.id], step.objective, doer, waits[step.id], result, preview, its))
    return rows
