"""What follows if a step is skipped or gets its result from a person."""

from types import SimpleNamespace
from typing import Any

import pytest

from planner_executor.graph.desk.views.what_follows import what_follows
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.testing import step

OUTPUT = {"type": "object", "properties": {"n": {"type": "integer"}}}
STEPS = [
    {"id": "a", "objective": "o", "output": OUTPUT},
    step("b", "read", after=["a"]),
    step("c", "read", after=["b"]),
    step("d", "read"),
    step("e", "read", after=["d"]),
    {"id": "g", "objective": "o", "gate": "Go?", "depends_on": ["a"]},
]


def shown(ended: bool = False, executing: bool = False, **found: Any) -> Any:
    """A run of that plan in which `d` was skipped."""
    known = {"plan": Plan.model_validate({"steps": STEPS}), "succeeded": {}, "untaken": {}, "skipped": {"d"}, **found}
    is_skipped = known["skipped"].__contains__
    steps = SimpleNamespace(succeeded=known["succeeded"], untaken=known["untaken"], is_skipped=is_skipped)
    run = SimpleNamespace(plan=known["plan"], ended=ended, results={"d": StepResult("skipped")})
    return SimpleNamespace(run=run, record=SimpleNamespace(steps=steps), executing=executing)


def test_what_waits_for_a_step_is_skipped_with_it_and_a_result_has_the_fields_of_its_schema() -> None:
    found = what_follows(shown(), "a")

    assert found is not None
    assert [one.id for one in found.waiting] == ["b", "g"] and [one.id for one in found.skipped] == ["b", "c", "g"]
    assert [field.name for field in found.result] == ["/n"]


def test_a_gate_has_no_result_and_a_step_without_a_schema_has_one_field() -> None:
    gate, plain = what_follows(shown(), "g"), what_follows(shown(), "c")

    assert gate is not None and gate.result == () and gate.waiting == gate.skipped == []
    assert plain is not None and [(field.name, field.label) for field in plain.result] == [("", "Result")]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("a", {"succeeded": {"a": 1}}),
        ("a", {"untaken": {"a"}}),
        ("d", {}),
        ("none", {}),
        ("a", {"plan": None}),
        ("a", {"ended": True}),
        ("a", {"executing": True}),
    ],
)
def test_nothing_follows_for_what_is_settled_or_not_there(name: str, found: dict[str, Any]) -> None:
    assert what_follows(shown(**found), name) is None
