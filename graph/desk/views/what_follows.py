"""What follows if a step is skipped, or gets its result from a person: said before anybody does it."""

from collections.abc import Sequence
from dataclasses import dataclass

from planner_executor.graph.desk.records import ShownRun
from planner_executor.graph.desk.views.schema_form import FormField, fields_of
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.record.remaining import skipped_in
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.text.drawing.labels import waits_within


@dataclass(frozen=True)
class WhatFollows:
    """The steps that wait for a step, those that are skipped with it, and the fields of a result, none for a gate."""

    waiting: Sequence[Step]
    skipped: Sequence[Step]
    result: Sequence[FormField]


def what_follows(shown: ShownRun, name: str) -> WhatFollows | None:
    """Return what follows for a step of the plan in force; None if it can be neither skipped nor given a result."""
    plan, record = shown.run.plan, shown.record
    is_settled = name in record.steps.succeeded or name in record.steps.untaken or record.steps.is_skipped(name)
    if plan is None or name not in plan.by_id or shown.run.ended or shown.executing or is_settled:
        return None
    results = shown.run.results
    # With the step skipped and without: what it adds are the steps that its skipping takes along.
    before, after = (skipped_in(plan, {**results, **more}) for more in ({}, {name: StepResult("skipped")}))
    return WhatFollows(
        waiting=[plan.by_id[one] for one, waits in waits_within(plan).items() if name in waits],
        skipped=[plan.by_id[one] for one in after if one != name and one not in before],
        # Only a decision passes a gate, so it can be given no result.
        result=result_fields(plan.by_id[name]) if plan.by_id[name].kind != "gate" else (),
    )


def result_fields(step: Step) -> Sequence[FormField]:
    """Return the fields for the result of a step."""
    return fields_of(step.output, label="Result")
