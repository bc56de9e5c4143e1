from typing import Any

import pytest

from planner_executor.graph.errors import InputError
from planner_executor.graph.plan.reading import read_plan
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.playbooks.saving import kept_plan

HEAD = {"name": "mail", "version": 1, "description": "Write to Ben"}
STEPS: list[dict[str, Any]] = [
    {"id": "look", "objective": "Find Ben", "args": {"who": "Ben", "most": 3}},
    {"id": "mail", "objective": "Benign", "args": {"text": "Dear Ben, {look_result}"}, "checks": [{"matches": "Ben"}]},
]
PLACES = ["look.args.who", "look.objective", "mail.args.text", "mail.checks[0].matches", "description"]


def plan(**more: Any) -> Plan:
    parsed = read_plan({"steps": STEPS, "answer": "{mail_result}", **more}, {})
    assert parsed.plan is not None, parsed.issues
    return parsed.plan


def test_values_become_parameters_in_each_place_that_is_named() -> None:
    named = [*(("who", place) for place in PLACES if "checks" not in place), ("most", "look.args.most")]

    found = kept_plan(plan(), {}, HEAD, named, keep=["mail.checks[0].matches"])

    assert found.description == "Write to {param.who}"
    assert found.steps[0] == {
        "id": "look",
        "objective": "Find {param.who}",
        "args": {"who": "{param.who}", "most": "{param.most}"},
    }
    assert found.steps[1]["args"] == {"text": "Dear {param.who}, {look_result}"}
    assert found.parameters == {
        "who": {"type": "string", "examples": ["Ben"]},
        "most": {"type": "integer", "examples": [3]},
    }


def test_no_other_place_of_a_value_is_overlooked() -> None:
    with pytest.raises(InputError) as refused:
        kept_plan(plan(), {}, HEAD, [("who", "look.args.who")])

    assert all(place in str(refused.value) for place in PLACES[1:]) and "Benign" not in str(refused.value)
    assert "mail.objective" not in str(refused.value)


def test_a_place_may_keep_its_value() -> None:
    found = kept_plan(plan(), {}, HEAD, [("who", "look.args.who")], keep=PLACES[1:])

    assert found.steps[0]["objective"] == "Find Ben"


@pytest.mark.parametrize(
    "place",
    [
        "look.args.nobody",
        "nowhere.args.who",
        "mail.args.text",
        "look.args.who[0].x",
        "mail.checks[0].matches",
        "look.id",
    ],
)
def test_a_place_without_a_value_of_its_own_is_refused(place: str) -> None:
    with pytest.raises(InputError):
        kept_plan(plan(), {}, HEAD, [("who", place)])


def test_a_place_with_another_value_is_refused() -> None:
    with pytest.raises(InputError, match="another value"):
        kept_plan(plan(), {}, HEAD, [("who", "look.args.who"), ("who", "look.args.most")], keep=PLACES)


def test_a_plan_with_parameters_keeps_them() -> None:
    steps = [{"id": "look", "objective": "o", "args": {"who": "{param.who}"}}]
    given = plan(steps=steps, answer=None, params={"who": {"value": "Ann", "label": "user"}})

    found = kept_plan(given, {}, HEAD, [])

    assert found.parameters == {"who": {"type": "string", "examples": ["Ann"]}}
    assert found.steps[0]["args"] == {"who": "{param.who}"}


def test_a_step_that_made_up_for_a_failed_one_is_kept_without_that_one() -> None:
    revised = plan()
    step = revised.steps[0].model_copy(update={"replaces": "gone"})

    found = kept_plan(revised.model_copy(update={"steps": (step, revised.steps[1])}), {}, HEAD, [])

    assert "replaces" not in found.steps[0]
