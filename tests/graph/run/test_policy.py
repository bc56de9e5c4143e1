"""What runs without a person, and what an approval covers."""

from typing import Any

import pytest

from graph.plan.catalog import ToolSpec
from graph.plan.schema import Plan, Step
from graph.run.policy import ApprovalMode, binding_of, needs_person

TOOLS = {
    "read": ToolSpec("read", "", {}, effect="read"),
    "write": ToolSpec("write", "", {}, effect="write", idempotent=True),
    "undeclared": ToolSpec("undeclared", "", {}),
}


def plan(*tools: str, granted: tuple[str, ...] = ()) -> Plan:
    steps = [Step(id=f"s{place}", objective="o", tool=tool) for place, tool in enumerate(tools)]
    return Plan(steps=(*steps, Step(id="model", objective="o", tools=granted)))


@pytest.mark.parametrize("mode", ["always", "side_effects", "never"])
@pytest.mark.parametrize("given", [plan("read"), plan(), plan("read", granted=("read",)), Plan(answer="42")])
def test_a_plan_that_only_reads_needs_a_person_only_where_every_plan_does(given: Plan, mode: ApprovalMode) -> None:
    assert needs_person(given, TOOLS, mode) == (mode == "always")


@pytest.mark.parametrize("mode", ["always", "side_effects", "never"])
@pytest.mark.parametrize(
    "given", [plan("write"), plan("read", "undeclared"), plan(granted=("read", "write")), plan(granted=("undeclared",))]
)
def test_one_effect_anywhere_needs_a_person(given: Plan, mode: ApprovalMode) -> None:
    assert needs_person(given, TOOLS, mode) == (mode != "never")


def changed(name: str, **fields: Any) -> dict[str, ToolSpec]:
    return {**TOOLS, name: ToolSpec(name, "", **{"schema": {}, "effect": "read", **fields})}


def test_the_binding_is_the_same_for_the_same_plan_and_tools() -> None:
    assert binding_of(plan("read"), dict(reversed(TOOLS.items()))) == binding_of(plan("read"), TOOLS)


@pytest.mark.parametrize("given", [plan("read", "read"), plan("write"), plan("read", granted=("read",)), Plan()])
def test_another_plan_has_another_binding(given: Plan) -> None:
    assert binding_of(given, TOOLS) != binding_of(plan("read"), TOOLS)


@pytest.mark.parametrize(
    "fields", [{"effect": "external"}, {"idempotent": True}, {"schema": {"type": "object"}}], ids=str
)
def test_a_tool_that_changes_its_face_changes_the_binding(fields: dict[str, Any]) -> None:
    assert binding_of(plan("read"), changed("read", **fields)) != binding_of(plan("read"), TOOLS)


def test_a_granted_tool_counts_as_well() -> None:
    given = plan(granted=("read",))

    assert binding_of(given, changed("read", effect="write")) != binding_of(given, TOOLS)


def test_a_tool_that_the_plan_does_not_name_does_not_count() -> None:
    assert binding_of(plan("read"), changed("write")) == binding_of(plan("read"), TOOLS)


def test_a_tool_that_has_gone_changes_the_binding() -> None:
    assert binding_of(plan("read"), {}) != binding_of(plan("read"), TOOLS)
