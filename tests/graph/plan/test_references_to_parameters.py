"""`{param.<name>}` in a plan with parameters: found, checked, shown and filled in; elsewhere it is text."""

from typing import Any

import pytest

from planner_executor.graph.errors import UnresolvedReferenceError
from planner_executor.graph.plan.params import Param
from planner_executor.graph.plan.references import (
    Parameter,
    Reference,
    moved_parameters,
    parameter_faults,
    parameters_in,
    pieces,
    resolve,
    with_parameters,
)

VALUES: dict[str, Any] = {"who": {"name": "Ann", "tags": ["x"]}, "n": 3}
PARAMS = {name: Param(value=value, label="user") for name, value in VALUES.items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{param.n}", 3),
        ("{param.who}", VALUES["who"]),
        ("to {param.who.name}", "to Ann"),
        ("{param.who.name} {param.n}", "Ann 3"),
        ("{param.n} of {param.who.tags}", '3 of ["x"]'),
        ("{{param.n}} of {param.n}", "{{param.n}} of 3"),
        ("{a_result} of {param.n}", "{a_result} of 3"),
        ("$${param.n}", "$3"),
        ("$$$$${param.n}", "$$$3"),
        ("$$$$$${param.n}", "$$$3"),
        ({"{param.n}": ["{param.n}"]}, {"{param.n}": [3]}),
    ],
)
def test_people_read_the_values_of_parameters_and_references_as_they_are(text: Any, expected: Any) -> None:
    assert with_parameters(text, VALUES) == expected


def test_in_a_plan_without_parameters_their_notation_is_text() -> None:
    text = "to {param.who}"

    assert with_parameters(text, {}) == resolve(text, {}) == resolve(text, {}, {}) == text
    assert pieces(text) == (text,)


def test_parameters_and_references_are_filled_in_together() -> None:
    args = {"a": "{param.n}", "b": "{s_result} to {param.who.name}, {{param.n}}"}

    assert resolve(args, {"s": 5}, VALUES) == {"a": 3, "b": "5 to Ann, {param.n}"}


@pytest.mark.parametrize("written", ["{param.whom}", "{param.who.at}", "{param.who[0]}", "{param.who.tags[*]}"])
def test_what_is_not_among_the_parameters_has_no_value(written: str) -> None:
    with pytest.raises(UnresolvedReferenceError):
        resolve(written, {}, VALUES)


def test_parameters_share_the_bound_of_references_on_what_they_give() -> None:
    with pytest.raises(UnresolvedReferenceError, match="refer to a smaller part"):
        resolve(["{param.big}"] * 51, {}, {"big": "x" * 1_000_000})


@pytest.mark.parametrize(
    ("parameter", "fault"),
    [
        (Parameter("n", ""), None),
        (Parameter("n", ".x[0]"), None),
        (Parameter("m", ""), "{param.m} names no parameter; the plan has n, who"),
        (Parameter("who", "[*]"), "{param.who[*]} has a path that is no chain of fields and indexes"),
    ],
)
def test_a_parameter_is_one_of_the_plan_with_a_chain_of_fields(parameter: Parameter, fault: str | None) -> None:
    assert parameter.fault(VALUES) == fault


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("{param.n} of {param.who.name}", []),
        ("{param.m} {param.m}", ["{param.m} names no parameter; the plan has n, who"]),
        ("{param.who[*]}", ["{param.who[*]} has a path that is no chain of fields and indexes"]),
        ("{param.who.at}", ["reference {param.who.at}: .at is not there; the value is an object with name, tags"]),
        (
            "{a_result[?n == '{param.n}']}",
            [
                "{a_result[?n == '{param.n}']} holds a parameter, which nothing is filled in for; "
                "compare it in when, or in a step"
            ],
        ),
        ("{a_result[?n == 'param.n']}", []),
    ],
)
def test_each_parameter_that_stands_for_nothing_is_named_once(text: str, faults: list[str]) -> None:
    assert [*parameter_faults({"x": [text]}, PARAMS)] == faults


def test_parameters_are_found_in_values_in_their_order() -> None:
    value = {"{param.key}": ["{param.n}", "{{param.m}} {a_result} {param.who.name}"]}

    assert parameters_in(value) == (Parameter("n", ""), Parameter("who", ".name"))
    assert pieces("{a_result}", with_params=True) == (Reference("a", ""),)


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        ("to {param.who.mail}", "to {s_result.who.mail}"),
        ("$${param.who}", "$${s_result.who}"),
        ("{param.other} {param.who}", "{param.other} {s_result.who}"),
        ("{{param.who}}", "{{param.who}}"),
        ("{who_result}", "{who_result}"),
        ("{a_result}", "{a_result}"),
    ],
)
def test_only_parameters_with_another_name_move(text: str, moved: str) -> None:
    assert moved_parameters([text], {"who": "s_result.who"}) == [moved]
