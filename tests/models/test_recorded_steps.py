"""Answers of models to model steps of earlier days, through OpenAI's client: calls are made, results taken as they are.

`step_answers.json` has those of a strong model to the steps of a trial: all answers of a conversation, in their order.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from planner_executor import build_graph
from planner_executor.graph.testing import LoggedTools, on_thread

RECORDED = json.loads((Path(__file__).parent / "step_answers.json").read_text())


def say(replies: Any, answer: str | dict[str, Any]) -> None:
    """Reply with a recorded answer in the form of OpenAI's servers."""
    if isinstance(answer, str):
        replies.say(answer)
        return
    functions = [{**call, "arguments": json.dumps(call["arguments"])} for call in answer.get("tool_calls", ())]
    calls = [{"id": f"call_{n}", "type": "function", "function": each} for n, each in enumerate(functions)]
    replies.say(answer["content"] or "", **({"tool_calls": calls, "finish": "tool_calls"} if calls else {}))


def expected(recorded: dict[str, Any]) -> Any:
    """Return what the last answer says: JSON if the step asks for it, else its text."""
    last = recorded["answers"][-1]
    text = last if isinstance(last, str) else last["content"]
    return json.loads(text) if "output" in recorded["step"] else text.strip()


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda one: f"{one['case']}-{'-'.join(map(str, one['n']))}")
def test_the_calls_of_a_step_of_the_trial_are_made_and_its_result_is_taken(
    replies: Any, recorded: dict[str, Any]
) -> None:
    for answer in recorded["answers"]:
        say(replies, answer)
    tools = LoggedTools()
    offered = [tools.tool(name, effect="read", trusted=True) for name in recorded["step"].get("tools", ())]
    graph = build_graph(executor=replies.settings(), tools=offered, approval="never")

    state = graph.invoke({"goal": "g", "plan": {"steps": [recorded["step"]]}}, on_thread())

    assert (state["status"], state["answer"]) == ("succeeded", expected(recorded)), state["reason"]
    asked = [call for each in recorded["answers"] if isinstance(each, dict) for call in each.get("tool_calls", ())]
    assert tools.calls == [(call["name"], call["arguments"]) for call in asked]
    assert len(replies.requests) == len(recorded["answers"])


def test_all_answers_of_the_trial_to_model_steps_are_cases() -> None:
    assert sum(len(recorded["answers"]) for recorded in RECORDED) == 18
