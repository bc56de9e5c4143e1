"""Recorded plans as models."""

import json
from typing import Any

from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.recorded_plans import RecordedPlans

MOST = 4


def raw(number: int = 0) -> dict[str, Any]:
    return {"steps": [], "answer": number}


def test_a_recorded_plan_is_validated_once() -> None:
    plans, recorded = RecordedPlans(), raw()

    assert plans.plan_of(recorded) is plans.plan_of(recorded)
    assert plans.plan_of(recorded) == Plan(answer=0)


def test_another_record_of_an_equal_plan_is_another_plan() -> None:
    plans, recorded = RecordedPlans(), raw()

    assert plans.plan_of(json.loads(json.dumps(recorded))) is not plans.plan_of(recorded)


def test_the_plan_that_was_recorded_is_the_model_of_its_record() -> None:
    plans, recorded, plan = RecordedPlans(), raw(), Plan(answer=0)

    assert plans.keep(recorded, plan) is plan
    assert plans.plan_of(recorded) is plan


def test_the_plan_that_nobody_asked_for_longest_goes_first() -> None:
    plans, recorded = RecordedPlans(), [raw(number) for number in range(MOST + 1)]
    first, second = map(plans.plan_of, recorded[:2])
    for one in recorded[2:MOST]:
        plans.plan_of(one)
    assert plans.plan_of(recorded[0]) is first

    plans.plan_of(recorded[MOST])

    assert plans.plan_of(recorded[0]) is first
    assert plans.plan_of(recorded[1]) is not second
