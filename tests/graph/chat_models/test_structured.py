"""Models that take no tools are found out without being asked, and structured answers keep all they say."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool

from graph.chat_models.chat import with_tools
from graph.chat_models.structured import as_text, with_schema
from graph.testing import ScriptedModel

SCHEMA = {"title": "plan", "description": "A plan.", "type": "object", "properties": {}}


@tool
def note(word: str) -> str:
    """Write a word down."""
    return word


@pytest.mark.parametrize("error", [NotImplementedError(), KeyError("tools")], ids=repr)
def test_a_model_that_cannot_bind_tools_is_asked_without(error: Exception) -> None:
    class Unable(ScriptedModel):
        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            raise error

    model = Unable(["Paris"])

    assert with_tools(model, [note]) is model
    assert with_schema(model, SCHEMA) is None
    assert model.invoke("Where?").text == "Paris"


def call(number: int, **args: Any) -> dict[str, Any]:
    return {"name": "plan", "args": args, "id": str(number)}


def test_all_that_a_structured_answer_says_becomes_its_text() -> None:
    raw = AIMessage("Sure", tool_calls=[call(1, answer="a"), call(2, answer="b")])

    said = as_text({"raw": raw, "parsed": None})

    assert (said.text, said.tool_calls) == ('Sure\n{"answer": "a"}\n{"answer": "b"}', [])


def test_arguments_that_the_client_could_not_read_are_read_as_text() -> None:
    raw = AIMessage("", invalid_tool_calls=[{"name": "plan", "args": "{'answer': 1}", "id": "1", "error": "no JSON"}])

    assert as_text({"raw": raw}).text == "{'answer': 1}"
    assert as_text({"raw": AIMessage("Paris")}).text == "Paris"
