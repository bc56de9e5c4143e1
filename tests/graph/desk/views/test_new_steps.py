"""Steps that a person adds to a plan in the form."""

import pytest

from planner_executor.graph.desk.views.new_steps import empty_step, in_order, new_steps
from planner_executor.graph.errors import InputError


def test_the_forms_of_new_steps_are_those_in_which_something_is_written() -> None:
    fields = {"new:1:id": "a", "new:2:kind": "gate", "2:id": "b", "new:x:id": "c", "new:3:after:new:1": "on"}

    assert new_steps(fields) == {"1": {"id": "a"}, "3": {"after:new:1": "on"}}


def test_a_new_step_has_an_id_and_the_field_of_its_kind() -> None:
    assert empty_step("1", {"id": "a"}) == {"id": "a", "tool": ""}
    assert empty_step("1", {"id": "a", "kind": "model"}) == {"id": "a"}
    assert empty_step("1", {"id": "a", "kind": "gate"}) == {"id": "a", "gate": ""}
    with pytest.raises(InputError, match="new step 1"):
        empty_step("1", {"kind": "gate"})


def test_what_an_order_does_not_name_comes_last() -> None:
    steps = [("c", "C"), ("a", "A"), ("b", "B")]

    assert in_order(steps, "b,,a") == in_order(steps, "b,b,a") == ["B", "A", "C"]
    assert in_order(steps, "") == ["C", "A", "B"]
