"""A planner that answers with a tool call: the call is named and refused, and never made."""

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from planner_executor import Agent
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

PLAN = {"steps": [step("a", "calculator", expression="2+2")]}
BARE = [{"id": "a", "objective": "add", "tool": "calculator", "args": {"expression": "2+2"}}]
CALL = {"name": "calculator", "arguments": {"expression": "1+1"}}
NATIVE = AIMessage("", tool_calls=[{"name": "calculator", "args": {"expression": "1+1"}, "id": "1"}])


@pytest.mark.parametrize(
    "answer",
    [
        NATIVE,
        AIMessage('{"expression": "1+1"}', name="calculator"),
        CALL,
        [CALL],
        {"tool_calls": [{"type": "function", "id": "1", "function": CALL}]},
        {"tool": "calculator", "args": {"expression": "1+1"}},
        {"name": "calculator", "arguments": '{"expression": "1+1"}'},
    ],
    ids=["native", "in place of the schema's", "text", "a list", "tool_calls", "tool and args", "arguments as text"],
)
def test_whatever_its_form_the_call_is_refused_by_name_and_a_plan_is_asked_for(
    answer: Any, tmp_path: Path, tools: LoggedTools
) -> None:
    planner = ScriptedModel([answer, PLAN])

    with Agent(tmp_path / "runs.db", planner=planner, tools=[tools.tool("calculator", lambda expression: 4)]) as agent:
        run = agent.start("g")

    assert run.status == "waiting" and tools.calls == []
    assert "you called calculator; answer with a plan" in str(planner.prompts[1][-1].content)


@pytest.mark.parametrize(
    "answer", [{"name": "plan", "arguments": PLAN}, PLAN["steps"], BARE], ids=["wrapped", "steps", "a bare step"]
)
def test_a_plan_in_the_form_of_a_call_is_a_plan(answer: Any, tmp_path: Path, tools: LoggedTools) -> None:
    planner = ScriptedModel([answer])

    with Agent(tmp_path / "runs.db", planner=planner, tools=[tools.tool("calculator", lambda expression: 4)]) as agent:
        assert agent.start("g").status == "waiting"


def test_a_planner_that_calls_a_tool_by_which_it_may_look_is_told_how(tmp_path: Path, tools: LoggedTools) -> None:
    planner = ScriptedModel([CALL, {"look": [{"tool": "calculator", "args": {"expression": "1+1"}}]}, PLAN])
    own = [tools.tool("calculator", lambda expression: 4, effect="read", look=True)]

    with Agent(tmp_path / "runs.db", planner=planner, tools=own) as agent:
        run = agent.start("g")

    told = str(planner.prompts[1][-1].content)
    assert 'answer with a plan, or look with {"look": [{"tool": "calculator", "args": {}}]}' in told
    assert run.status == "waiting" and tools.named("calculator") == [{"expression": "1+1"}]
