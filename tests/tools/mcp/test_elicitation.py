"""Forms of servers: rebuilt from plain fields, and refused in words if a person cannot be asked that here."""

import json
from typing import Any

import pytest
from langchain_core.tools import ToolException
from mcp.types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    InputRequiredResult,
)

from planner_executor import McpServers
from planner_executor.tools.call_questions import CallReplies
from planner_executor.tools.mcp.elicitation import (
    MAX_QUESTIONS,
    MAX_STATE,
    Unanswerable,
    form_schema,
    input_needed,
    responses,
)

Small = Any
FORM = {"type": "object", "properties": {"size": {"type": "string"}}, "required": ["size"]}


def asks(schema: dict[str, Any] = FORM, message: str = "Which size?") -> ElicitRequest:
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def form(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields}


def test_a_form_keeps_what_fields_may_say_and_nothing_that_costs_time() -> None:
    asked = form(
        size={"type": "string", "enum": ["S", "M"], "title": "Size", "pattern": "(a+)+$", "$ref": "http://a"},
        count={"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}], "default": None, "title": "Count"},
        tags={"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]}},
        kind={"type": "string", "oneOf": [{"const": "x", "title": "X"}]},
    )

    found = form_schema({**asked, "required": ["size", "gone"], "additionalProperties": True})

    assert found == {
        "type": "object",
        "properties": {
            "size": {"type": "string", "enum": ["S", "M"], "title": "Size"},
            "count": {"type": "integer", "minimum": 1, "default": None, "title": "Count"},
            "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
            "kind": {"type": "string", "enum": ["x"]},
        },
        "required": ["size"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"type": "string"},
        form(),
        form(a={"type": "object", "properties": {}}),
        form(a={"$ref": "#/$defs/A"}, b={"type": ["string", "null"]}),
        form(a="text"),
        form(a={"type": "array", "items": {"type": "array"}}),
        form(**{f"f{number}": {"type": "string"} for number in range(31)}),
    ],
)
def test_what_is_no_form_of_plain_fields_is_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(Unanswerable, match="give what it asks for as an argument"):
        form_schema(asked)


@pytest.mark.parametrize(
    ("result", "why"),
    [
        (
            InputRequiredResult(
                input_requests={
                    "a": ElicitRequest(params=ElicitRequestURLParams(message="in", url="https://a.example"))
                }
            ),
            "addresses of servers are not opened here",
        ),
        (
            InputRequiredResult(
                input_requests={"a": CreateMessageRequest(params=CreateMessageRequestParams(messages=[], max_tokens=1))}
            ),
            "sampling/createMessage, which is not offered here",
        ),
        (InputRequiredResult(request_state="later"), "without a question"),
        (InputRequiredResult(input_requests={"a": asks()}, request_state="x" * (MAX_STATE + 1)), "kept until"),
        (InputRequiredResult(input_requests={f"q{n}": asks() for n in range(MAX_QUESTIONS + 1)}), "11 questions"),
    ],
)
def test_what_no_person_can_be_asked_is_refused_in_words(result: InputRequiredResult, why: str) -> None:
    with pytest.raises(Unanswerable, match=why):
        input_needed(result)


def test_answers_and_refusals_reach_the_server_under_the_ids_of_its_questions() -> None:
    told = responses(CallReplies("s", {"a": {"size": "M"}, "b": None}))

    assert {name: (one.action, one.content) for name, one in told.items()} == {
        "a": ("accept", {"size": "M"}),
        "b": ("decline", None),
    }


def test_a_server_of_an_earlier_revision_is_not_told_that_people_answer(small: Small) -> None:
    with McpServers({"small": small.entry()}) as servers:
        assert servers.tools()

    offered = [json.loads(line) for line in (small.folder / "offered").read_text().splitlines()]
    assert offered and all("elicitation" not in one for one in offered)


async def test_a_server_that_asks_while_a_call_is_held_open_is_told_why_not_and_what_else(small: Small) -> None:
    with McpServers({"small": small.entry()}) as servers:
        (survey,) = [tool for tool in servers.tools() if tool.name.endswith("survey")]
        with pytest.raises(ToolException, match=r"nobody can be asked while a call is held open.*as an argument"):
            await survey.ainvoke({})
