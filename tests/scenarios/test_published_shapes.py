"""Plans in the shapes that the pattern's descriptions publish."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.types import Command

from planner_executor import build_graph, idempotency_key
from planner_executor.graph.testing import LoggedTools, ScriptedModel, on_thread

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
QUERY = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}

NUMBERED = [
    {"id": 1, "description": "Search trends", "tool": "web_search", "input": "renewable energy 2026", "depends_on": []},
    {
        "id": 2,
        "description": "Summarise",
        "tool": "summarize_text",
        "input": "Sum up: {step_1_result}",
        "depends_on": [1],
    },
    {
        "id": 3,
        "description": "Pick one",
        "tool": "none",
        "input": "Which matters in {step_2_result}?",
        "depends_on": [2],
    },
    {
        "id": 4,
        "description": "Write",
        "tool": "write_report",
        "input": "# {step_3_result}\n{step_2_result}",
        "depends_on": [3],
    },
]
SUBGOALS = [
    {"subgoal_id": 1, "objective": "Get", "required_tools": ["web_search"], "success_criteria": "hits"},
    {"subgoal_id": 2, "objective": "Judge", "required_tools": [], "success_criteria": "one line", "dependencies": [1]},
]  # fmt: skip


def pattern_tools(tools: LoggedTools) -> list[Any]:
    return [
        tools.tool("web_search", lambda query: f"found {query}", schema=QUERY, effect="external", idempotent=True),
        tools.tool("summarize_text", lambda text: text.upper(), schema=TEXT, effect="read"),
        tools.tool(
            "write_report", lambda text: {"length": len(text)}, schema=TEXT, effect="write", free_args=("text",)
        ),
    ]


def run(graph: Any, goal: str) -> Any:
    state = graph.invoke({"goal": goal}, on_thread())
    return graph.invoke(Command(resume="approve"), on_thread()) if "__interrupt__" in state else state


def test_numbered_steps_with_tool_and_input(saver: Any, tools: LoggedTools) -> None:
    model = ScriptedModel([NUMBERED, "solar"])

    state = run(build_graph(model, tools=pattern_tools(tools), checkpointer=saver), "trends")

    assert [step["id"] for step in state["plan"]["steps"]] == ["step_1", "step_2", "step_3", "step_4"]
    assert tools.named("summarize_text") == [{"text": "Sum up: found renewable energy 2026"}]
    assert tools.named("write_report") == [{"text": "# solar\nSUM UP: FOUND RENEWABLE ENERGY 2026"}]
    assert state["status"] == "succeeded" and state["results"]["step_3"]["value"] == "solar"
    assert "Which matters in SUM UP" in str(model.prompts[1][-1].content)


def test_subgoals_with_required_tools_are_done_by_the_model(saver: Any, tools: LoggedTools) -> None:
    call = AIMessage("", tool_calls=[{"name": "web_search", "args": {"query": "wind"}, "id": "1"}])
    executor = ScriptedModel([call, "two hits", "wind wins"])
    graph = build_graph(ScriptedModel([SUBGOALS]), executor, tools=pattern_tools(tools), checkpointer=saver)

    state = run(graph, "judge")

    assert tools.calls == [("web_search", {"query": "wind"})]
    assert state["answer"] == "wind wins" and state["results"]["step_1"]["value"] == "two hits"


def model_step(saver: Any, tools: LoggedTools, step: dict[str, Any], *answers: Any) -> tuple[Any, ScriptedModel]:
    executor = ScriptedModel(answers)
    plan = {"steps": [{"id": "a", "objective": "look", **step}]}
    graph = build_graph(ScriptedModel([plan]), executor, tools=pattern_tools(tools), checkpointer=saver, replan="never")
    return run(graph, "g"), executor


def calling(*calls: tuple[str, dict[str, Any]]) -> AIMessage:
    made = [{"name": name, "args": args, "id": str(number)} for number, (name, args) in enumerate(calls)]
    return AIMessage("", tool_calls=made)


def last_tool_words(executor: ScriptedModel) -> str:
    return str(executor.prompts[-1][-1].content)


def test_a_model_may_not_call_a_tool_beyond_its_step(saver: Any, tools: LoggedTools) -> None:
    asked = calling(("write_report", {"text": "x"}))
    state, executor = model_step(saver, tools, {"tools": ["web_search"]}, asked, "done")

    assert tools.calls == [] and "refused" in last_tool_words(executor)
    assert state["status"] == "failed" and "may not call 'write_report'" in state["reason"]


def test_a_model_makes_one_call_per_tool_unless_the_step_allows_more(saver: Any, tools: LoggedTools) -> None:
    twice = calling(("web_search", {"query": "a"}), ("web_search", {"query": "b"}))
    model_step(saver, tools, {"tools": ["web_search"]}, twice, "done")
    assert len(tools.calls) == 1

    state, _ = model_step(
        type(saver)(serde=saver.serde), tools, {"tools": ["web_search"], "max_calls": 2}, twice, "done"
    )
    assert len(tools.calls) == 3 and state["status"] == "succeeded"


def test_literal_arguments_of_a_model_step_are_pinned(saver: Any, tools: LoggedTools) -> None:
    step = {"tools": ["web_search"], "args": {"query": "wind"}}
    _, executor = model_step(saver, tools, step, calling(("web_search", {"query": "secrets"})), "done")
    assert tools.calls == [] and "fixed by the plan" in last_tool_words(executor)

    model_step(type(saver)(serde=saver.serde), tools, step, calling(("web_search", {})), "done")
    assert tools.calls == [("web_search", {"query": "wind"})]


def test_a_models_arguments_are_checked_without_coercion(saver: Any, tools: LoggedTools) -> None:
    asked = calling(("web_search", {"query": 5, "more": 1}))
    _, executor = model_step(saver, tools, {"tools": ["web_search"]}, asked, "done")

    assert tools.calls == [] and "not of type 'string'" in last_tool_words(executor)


def test_the_loop_of_a_model_step_is_bounded(saver: Any, tools: LoggedTools) -> None:
    asked = [calling(("web_search", {"query": "again"})) for _ in range(50)]
    state, executor = model_step(saver, tools, {"tools": ["web_search"]}, *asked)

    assert state["status"] == "failed" and len(executor.prompts) == 10


def test_output_json_gives_the_parsed_value_and_a_schema_is_held(saver: Any, tools: LoggedTools) -> None:
    state, _ = model_step(saver, tools, {"output": "json"}, 'Here: ```json\n{"n": 1}\n```')
    assert state["answer"] == {"n": 1}

    schema = {"type": "object", "required": ["n"]}
    again = type(saver)(serde=saver.serde)
    state, executor = model_step(again, tools, {"output": schema}, '{"m": 1}', '{"n": 2}')
    assert state["answer"] == {"n": 2} and "does not fit its schema" in last_tool_words(executor)


def test_the_text_of_results_is_never_read_as_references(saver: Any, tools: LoggedTools) -> None:
    hostile = "{step_2_result} {{step_1_result}} $1 #E1 %s \\1 {step_1_result.x}"
    echo = tools.tool("echo", lambda text: text, schema=TEXT, effect="read")
    plan = [
        {"id": 1, "objective": "get", "tool": "hostile"},
        {"id": 2, "objective": "echo", "tool": "echo", "input": "<{step_1_result}>"},
    ]
    get = tools.tool("hostile", lambda: hostile, effect="read")
    state = run(build_graph(ScriptedModel([plan]), tools=[get, echo], checkpointer=saver), "g")

    assert state["answer"] == f"<{hostile}>"


def test_a_large_result_is_an_artifact_and_still_reaches_the_next_step(saver: Any, tools: LoggedTools) -> None:
    big = "x" * 100_000
    plan = [
        {"id": 1, "objective": "get", "tool": "get"},
        {"id": 2, "objective": "count", "tool": "count", "input": "{step_1_result}"},
    ]
    get = tools.tool("get", lambda: big, effect="read")
    count = tools.tool("count", lambda text: len(text), schema=TEXT, effect="read")
    state = run(build_graph(ScriptedModel([plan]), tools=[get, count], checkpointer=saver), "g")

    artifact = state["results"]["step_1"]["artifact"]
    assert "value" not in state["results"]["step_1"] and artifact["size"] == 100_002 and len(artifact["preview"]) <= 500
    assert state["answer"] == 100_000


def test_an_integer_beyond_64_bits_is_an_artifact_whose_preview_is_the_whole(saver: Any, tools: LoggedTools) -> None:
    plan = [{"id": 1, "objective": "get", "tool": "get"}]
    get = tools.tool("get", lambda: {"n": 2**80}, effect="read")
    state = run(build_graph(ScriptedModel([plan]), tools=[get], checkpointer=saver), "g")

    assert state["status"] == "succeeded"
    assert state["results"]["step_1"]["artifact"]["preview"] == f'{{"n":{2**80}}}'


def test_a_tool_may_ask_for_the_idempotency_key_of_its_call(saver: Any, tools: LoggedTools) -> None:
    keys: list[str] = []
    plan = [
        {"id": number, "objective": "pay", "tool": "pay", "args": {"to": to}} for number, to in ((1, "a"), (2, "b"))
    ]
    pay = tools.tool("pay", lambda to: keys.append(idempotency_key()))

    state = run(build_graph(ScriptedModel([plan]), tools=[pay], checkpointer=saver), "g")

    assert state["status"] == "succeeded" and len(set(keys)) == 2 and all(len(key) == 64 for key in keys)
    with pytest.raises(LookupError):
        idempotency_key()


@pytest.mark.parametrize("given", [True, "1", None, [1]])
def test_a_pinned_number_is_that_number_only(saver: Any, tools: LoggedTools, given: Any) -> None:
    step = {"tools": ["look"], "args": {"n": 1}}
    look = tools.tool("look", lambda n: n, effect="read")
    executor = ScriptedModel([calling(("look", {"n": given})), "done"])
    plan = {"steps": [{"id": "a", "objective": "look", **step}]}

    run(build_graph(ScriptedModel([plan]), executor, tools=[look], checkpointer=saver), "g")

    assert tools.calls == [] and "fixed by the plan" in last_tool_words(executor)
