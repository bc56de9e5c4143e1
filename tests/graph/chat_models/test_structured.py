"""Models that take no tools are found out without being asked, and structured answers keep all they say."""

from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool

from planner_executor.graph.chat_models.chat import Chat, ModelRequest, with_tools
from planner_executor.graph.chat_models.structured import MAX_BINDINGS, Bindings, as_text, with_schema
from planner_executor.graph.testing import ScriptedModel

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


@pytest.mark.parametrize(("names", "kept"), [(["add"], "add"), (["plan"], None), (["add", "plan"], None)])
def test_a_call_of_another_tool_than_the_schemas_is_named(names: list[str], kept: str | None) -> None:
    raw = AIMessage("", tool_calls=[{"name": name, "args": {"a": 1}, "id": name} for name in names])

    assert as_text({"raw": raw}, "plan").name == kept


class Counting(BaseCallbackHandler):
    """Counts what LangChain runs."""

    def __init__(self) -> None:
        self.models, self.chains = 0, 0

    def on_chat_model_start(self, *_: Any, **__: Any) -> None:
        self.models += 1

    def on_chain_start(self, *_: Any, **__: Any) -> None:
        self.chains += 1


@pytest.mark.parametrize("schema", [SCHEMA, None])
async def test_a_model_is_asked_alone_and_only_an_answer_by_schema_becomes_text(schema: Any) -> None:
    class Able(ScriptedModel):
        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            return self

    counting = Counting()
    model = Able([AIMessage("Sure", tool_calls=[call(1, answer="a")])])
    request = ModelRequest([HumanMessage("Where?")], schema=schema, config={"callbacks": [counting]})

    answer = await Chat(model).once(request)

    assert (counting.models, counting.chains) == (1, 0)
    assert (answer.text, len(answer.tool_calls)) == (('Sure\n{"answer": "a"}', 0) if schema else ("Sure", 1))


async def test_a_structured_model_of_another_make_is_asked_as_it_is() -> None:
    class Own(ScriptedModel):
        def with_structured_output(self, schema: Any, **kwargs: Any) -> Any:
            return RunnableLambda(lambda _: {"raw": AIMessage("", tool_calls=[call(1, answer="a")]), "parsed": None})

    answer = await Chat(Own([])).once(ModelRequest([HumanMessage("Where?")], schema=SCHEMA))

    assert answer.text == '{"answer": "a"}'


def test_a_model_is_bound_to_a_schema_once_and_few_bindings_are_held() -> None:
    bound: list[Any] = []

    class Counted(ScriptedModel):
        def with_structured_output(self, schema: Any, **kwargs: Any) -> Any:
            bound.append(schema["title"])
            return RunnableLambda(lambda _: {"raw": AIMessage("Paris")})

    model, bindings = Counted([]), Bindings()
    schemas = [{**SCHEMA, "title": f"plan{number}"} for number in range(MAX_BINDINGS + 1)]
    found = [bindings.with_schema(model, schema) for _ in range(3) for schema in schemas[:2]]
    assert bound == ["plan0", "plan1"] and found[0] is found[2] is not found[1]
    assert bindings.with_schema(Counted([]), schemas[0]) is not found[0]

    for schema in schemas:
        bindings.with_schema(model, schema)
    assert len(bindings._held) <= MAX_BINDINGS
