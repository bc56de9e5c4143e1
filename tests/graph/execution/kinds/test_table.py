"""Every kind of step starts, and those that wait for another node say for what."""

from typing import Any

import pytest
from desk import at_desk

from planner_executor.graph.execution.kinds.table import kind_start
from planner_executor.graph.plan.kinds.spec import FOR_EACH_FIELDS
from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.step_kind import KINDS, StepKind
from planner_executor.graph.testing import LoggedTools, ScriptedModel

WAITING = {
    "ask": ({"ask": "Which city?"}, "waits for an answer"),
    "gate": ({"gate": "Is it good?"}, "waits for a person"),
    "refine": ({"refine": True}, "waits to be refined"),
}
WORKING: dict[str, tuple[dict[str, Any], Any]] = {
    "tool": ({"tool": "look", "args": {"q": 1}}, {"q": 1}),
    "model": ({}, "thought"),
    "gather": ({"gather": [1, 2]}, [1, 2]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_just_the_kinds_that_may_have_for_each_can_do_an_item(kind: StepKind) -> None:
    assert (kind_start(kind).item is not None) == (FOR_EACH_FIELDS[0] in kind_spec(kind).fields)


@pytest.mark.parametrize("kind", WAITING)
async def test_a_step_that_another_node_has_to_end_waits(prepared: Any, kind: str) -> None:
    fields, why = WAITING[kind]

    async with at_desk() as desk:
        result = (await (await prepared(desk, {"id": "a", "objective": "o", **fields})).run()).results["a"]

    assert (result.status, result.error) == ("pending", why)


@pytest.mark.parametrize("kind", WORKING)
async def test_a_step_with_work_of_its_own_comes_to_its_value(prepared: Any, kind: str) -> None:
    fields, value = WORKING[kind]

    async with at_desk(LoggedTools().tool("look", effect="read")) as desk:
        one = {"id": "a", "objective": "o", **fields}
        result = (await (await prepared(desk, one, model=ScriptedModel(["thought"]))).run()).results["a"]

    assert (result.status, result.value) == ("succeeded", value)
    assert set(WAITING) | set(WORKING) == set(KINDS)
