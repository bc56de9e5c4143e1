"""Refusals keep their reasons: values in them are shortened, reasons never are."""

from typing import Any

import pytest

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.inline_schema import schema_errors
from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.reading import read_plan
from planner_executor.graph.plan.shortening import joined_messages, short_repr, shortened

LONG = {"text": "x" * 50_000}
ENUM = {"enum": ["y" * 5_000, "z" * 5_000]}


@pytest.mark.parametrize(
    ("schema", "value", "reason"),
    [
        ({"type": "string"}, LONG, "is not of type 'string'"),
        ({"type": "array", "items": {"type": "integer"}}, [LONG], "is not of type 'integer'"),
        ({"maxLength": 5}, "x" * 50_000, "is too long"),
        (ENUM, LONG, "is not one of"),
        (
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
            LONG,
            "it is not of type 'null'; it is not of type 'string'",
        ),
        ({"pattern": "^a$"}, "x" * 50_000, "does not match '^a$'"),
        ({"additionalProperties": False}, LONG | {"q" * 9_000: 1}, "were unexpected"),
        ({"const": "y" * 5_000}, LONG, "was expected"),
    ],
)
def test_a_long_value_never_hides_why_it_does_not_fit(schema: dict[str, Any], value: Any, reason: str) -> None:
    spec = ToolSpec("tool", "", {"type": "object", "properties": {"a": schema}})
    plan = [{"id": "s", "objective": "o", "tool": "tool", "args": {"a": value}}]

    messages = [issue.message for issue in read_plan(plan, {"tool": spec}).issues]

    assert [reason in message and len(message) <= 1_000 for message in messages] == [True]
    assert all(reason in message and len(message) <= 1_000 for message in schema_errors(schema, value))


def test_long_names_of_all_kinds_leave_room_for_what_is_wrong() -> None:
    name = "n" * 20_000
    step = {"id": "s", "objective": "o", name: 1, "tool": name, "depends_on": [name]}

    issues = read_plan({"steps": [step], name: 1}, {}).issues

    reasons = {"a step has id", "a plan has steps", "unknown tool", "no step"}
    assert all(any(reason in str(issue) for issue in issues) for reason in reasons)
    assert all(len(str(issue)) < 1_300 for issue in issues)


def test_an_issue_keeps_both_ends_of_its_message() -> None:
    issue = Issue("s" * 5_000, "f" * 5_000, "begins here " + "x" * 5_000 + " and ends there")

    assert issue.message.startswith("begins here") and issue.message.endswith("and ends there")
    assert len(str(issue)) < 1_300


def test_of_many_messages_whole_ones_are_shown_and_the_others_counted() -> None:
    assert joined_messages([f"step_{n} is wrong" for n in range(100)], 60) == (
        "step_0 is wrong; step_1 is wrong; step_2 is wrong; and 97 more"
    )
    assert joined_messages(["x" * 100 + " why"], 50).endswith(" why")
    assert joined_messages([]) == ""


def test_what_is_short_stays_as_it_is() -> None:
    assert (shortened("abc", 3), short_repr("abc"), joined_messages(["a", "b"])) == ("abc", "'abc'", "a; b")


@pytest.mark.parametrize(
    ("most", "told"),
    [
        (19, "aaaa; bbbb; cccc; and 1 more"),
        (16, "aaaa; bbbb; cccc; and 1 more"),
        (15, "aaaa; bbbb; and 2 more"),
        (3, "a…a; and 3 more"),
    ],
)
def test_messages_are_joined_as_far_as_they_fit_with_what_stands_between_them(most: int, told: str) -> None:
    assert joined_messages(["aaaa", "bbbb", "cccc", "dddd"], most) == told


def test_a_value_of_so_many_characters_is_told_whole() -> None:
    assert short_repr("x" * 118) == f"'{'x' * 118}'" and short_repr("x" * 119).endswith("… (121 characters)")


def test_so_many_reasons_are_told_each_in_a_fifth_of_the_message() -> None:
    types = ["array", "boolean", "integer", "null"]

    def told(schema: dict[str, Any]) -> str:
        (message,) = schema_errors(schema, "x")
        return message.partition(" (")[2]

    assert told({"anyOf": [{"type": one} for one in types[:3]]}).endswith("; it is not of type 'integer')")
    assert told({"anyOf": [{"type": one} for one in types]}).endswith("'integer'; and 1 more)")
    assert len(told({"anyOf": [{"const": "y" * 5_000}]})) == 201
