"""Odd answers of models and servers to a request for a plan: each is read as what it means, or refused in words."""

import json
from typing import Any

import pytest

from planner_executor import build_graph
from planner_executor.graph.testing import LoggedTools, asked, on_thread, step

PLAN = {"steps": [step("find", "search", query="wind"), step("save", "write", text="{find_result}")]}
TEXT = json.dumps(PLAN)
FIND, SAVE = PLAN["steps"]
CALL = '{"name": "search", "arguments": {"query": "wind"}}'


def planned(replies: Any, **settings: Any) -> dict[str, Any]:
    """Return the state after a request for a plan."""
    tools = LoggedTools()
    offered = [
        tools.tool(name, schema={"type": "object", "properties": {arg: {}}, "required": [arg]}, effect=effect)
        for name, arg, effect in (("search", "query", "read"), ("write", "text", "write"))
    ]
    graph = build_graph(planner=replies.settings(**settings), tools=offered)
    state = graph.invoke({"goal": "g"}, on_thread())
    assert tools.calls == []
    return dict(state)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(f"\ufeff{TEXT}", id="a byte order mark"),
        pytest.param(f"\\boxed{{{TEXT}}}", id="boxed, as in answers to sums"),
        pytest.param(f"<answer>\n{TEXT}\n</answer>", id="in a tag of its own"),
        pytest.param(f"plan = {PLAN!r}", id="assigned in Python"),
        pytest.param(f"assistant\n{TEXT}<|im_end|>", id="marks of the chat template"),
        pytest.param(f"{TEXT}\n<think>Was that right?</think>", id="thoughts after it"),
        pytest.param(f"<think>a <think>b</think> c</think>{TEXT}", id="thoughts in thoughts"),
        pytest.param(TEXT.replace(': "', ':\u00a0"'), id="spaces that do not break"),
        pytest.param({**PLAN, "cannot": None}, id="the other form left empty"),
    ],
)
def test_a_plan_in_odd_clothes_needs_no_repair(replies: Any, answer: Any) -> None:
    replies.say(answer)

    shown = asked(planned(replies))

    assert shown["action_requests"][0]["args"]["plan"]["steps"] == PLAN["steps"]
    assert len(replies.requests) == 1


def test_thoughts_in_a_field_of_their_own_are_no_part_of_the_answer(replies: Any) -> None:
    replies.say(TEXT, reasoning_content='{"steps": []}')

    shown = asked(planned(replies))

    assert shown["action_requests"][0]["args"]["plan"]["steps"] == PLAN["steps"]


def test_an_answer_in_parts_is_read_if_no_schema_is_sent_which_the_client_would_read_as_text(replies: Any) -> None:
    message = {
        "role": "assistant",
        "content": [{"type": "text", "text": TEXT[:40]}, {"type": "text", "text": TEXT[40:]}],
    }
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    replies.reply({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})

    shown = asked(planned(replies, structured_output=False))

    assert shown["action_requests"][0]["args"]["plan"]["steps"] == PLAN["steps"]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        pytest.param('Action: search\nAction Input: {"query": "wind"}', "a plan has steps, answer", id="ReAct"),
        pytest.param(f"[TOOL_CALLS] [{CALL}]", "you called search; answer with a plan", id="a call as text"),
        pytest.param(f"<|python_tag|>{CALL}", "you called search; answer with a plan", id="another call as text"),
        pytest.param("search(query='wind')", "holds no JSON object", id="a call as code"),
        pytest.param(f"{json.dumps(FIND)}\n{json.dumps(SAVE)}", "2 differing JSON values", id="a step a line"),
        pytest.param({"steps": {"find": FIND, "save": SAVE}}, "steps must be a list", id="steps by their ids"),
        pytest.param("steps:\n  - id: find\n    tool: search\n", "holds no JSON object", id="YAML"),
        pytest.param({"plan": TEXT}, 'must be an object with "steps"', id="a plan as text within JSON"),
        pytest.param({"tasks": PLAN["steps"]}, "unknown key 'tasks'", id="a name of another system"),
        pytest.param({"steps": [step("<id>")]}, "must be a letter", id="the format itself"),
        pytest.param({"type": "object", "properties": {"steps": {}}}, "unknown key 'type'", id="the schema itself"),
        pytest.param(TEXT.replace('{"id": "save"', '..., {"id": "save"'), "cannot be read", id="an ellipsis"),
        pytest.param(TEXT.replace('"', "&quot;"), "cannot be read", id="marks of HTML"),
        pytest.param("I cannot do this: no tool sends mail.", "holds no JSON object", id="a refusal in prose"),
        pytest.param({"steps": [], "cannot": True}, "say why, and what would help", id="a refusal without a reason"),
        pytest.param({**PLAN, "cannot": "no"}, "it stands beside steps", id="a refusal beside a plan"),
    ],
)
def test_what_is_no_plan_is_told_to_the_model_which_mends_it(replies: Any, answer: Any, words: str) -> None:
    replies.say(answer)
    replies.say(TEXT)

    shown = asked(planned(replies))

    assert words in replies.requests[1][2]["messages"][-1]["content"]
    assert shown["action_requests"][0]["args"]["plan"]["steps"] == PLAN["steps"]
