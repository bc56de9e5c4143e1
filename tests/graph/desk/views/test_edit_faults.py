"""What is wrong with an edited plan: each fault at its field."""

from types import SimpleNamespace
from typing import Any

import pytest

from planner_executor.graph.desk.views.edit_faults import FormFault, by_step, changes_of, read_edit
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.reading import ParsedPlan
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.projection import project
from planner_executor.graph.testing import LEAST

TOOLS = {
    name: ToolSpec(name, "", {"properties": {"to": {"type": "string"}}, "additionalProperties": True})
    for name in ("send", "look")
}
TERMS = ExecutionTerms(TOOLS)
A, B = ({"id": name, "objective": "o", "tool": "send", "args": {"to": "x"}} for name in "ab")


def shown(plan: dict[str, Any] | None, **succeeded: str) -> Any:
    """A run with a plan, of which some steps have succeeded."""
    record: Any = project([Event(1, "run_started", None, 0.0, LEAST["run_started"])])
    current = Plan.model_validate(plan) if plan is not None else None
    steps = SimpleNamespace(succeeded=succeeded)
    record = SimpleNamespace(steps=steps, assignment=record.assignment, plan_state=record.plan_state)
    return SimpleNamespace(run=SimpleNamespace(plan=current), record=record)


def test_a_step_that_has_succeeded_cannot_change() -> None:
    other = {"steps": [{**A, "objective": "p"}, B]}

    assert read_edit(shown({"steps": [A, B]}), other, TERMS).plan == Plan.model_validate(other)
    assert read_edit(shown({"steps": [A, B]}), {"keep": ["a"], "steps": []}, TERMS).plan is None
    assert read_edit(shown(None, a="x"), other, TERMS).plan == Plan.model_validate(other)
    assert "a" in [one.step for one in read_edit(shown({"steps": [A, B]}, a="x"), other, TERMS).issues]


def test_what_the_rules_of_the_run_forbid_is_a_fault_of_an_edit() -> None:
    parsed = read_edit(shown(None), {"steps": [{"id": "a", "objective": "o", "executor": "x"}]}, TERMS)

    assert parsed.plan is None and [(one.step, one.field) for one in parsed.issues] == [("a", "executor")]
    assert read_edit(shown(None), {"steps": [{}]}, TERMS).plan is None


def test_changes_are_told_of_a_plan_that_could_be_read() -> None:
    before = Plan.model_validate({"steps": [A]})

    assert changes_of(before, ParsedPlan(Plan.model_validate({"steps": [A, B]}), ())) == "added: b"
    assert changes_of(before, ParsedPlan(None, ())) == ""


@pytest.mark.parametrize(
    ("issue", "fault"),
    [
        (Issue("a", "tool", "m"), FormFault("a", "step:a:does", "tool", "m")),
        (Issue("a", "tools[0]", "m"), FormFault("a", "step:a:does", "tools[0]", "m")),
        (Issue("a", "gate", "m"), FormFault("a", "step:a:question", "gate", "m")),
        (Issue("b", "objective", "m"), FormFault("b", "new:1:objective", "objective", "m")),
        (Issue("a", "args.to", "m"), FormFault("a", "step:a:args/to", "args.to", "m")),
        (Issue("a", "args", "m"), FormFault("a", "step:a:args/to", "args", "m")),
        (Issue("a", "max_calls", "m"), FormFault("a", "step:a:max_calls", "max_calls", "m")),
        (Issue("none", "tool", "m"), FormFault("none", "", "tool", "m")),
        (Issue(None, "answer", "m"), FormFault("", "", "answer", "m")),
    ],
)
def test_a_fault_stands_at_its_field(issue: Issue, fault: FormFault) -> None:
    assert by_step([issue], {"steps": [A, B]}, TOOLS, {"b": "new:1:"}) == {fault.step: [fault]}


def test_faults_of_a_step_stand_together() -> None:
    issues = [Issue(name, "tool", "m") for name in ("a", "b", "a")]

    found = by_step(issues, {"steps": [A, B]}, TOOLS, {})

    assert {name: len(faults) for name, faults in found.items()} == {"a": 2, "b": 1}
