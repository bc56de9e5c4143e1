"""The plans that docs/plan-format.md shows can be shown for approval, and its line for each kind of step runs."""

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from langchain_core.messages import AIMessage
from langgraph.types import Command

from planner_executor import build_graph, default_tools
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.reading import read_plan
from planner_executor.graph.plan.revision import read_revision
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.plan.step_kind import StepKind
from planner_executor.graph.testing import ScriptedModel, asked, on_thread, step

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(r"```json\n(.*?)```", (ROOT / "docs" / "plan-format.md").read_text(), re.DOTALL)
KINDS = next(block for block in BLOCKS if '"refine"' in block)
SEARCH = AIMessage("", tool_calls=[{"name": "search_documents", "args": {"query": "wind"}, "id": "1"}])


@pytest.fixture
def own(tmp_path: Path) -> Any:
    return default_tools(documents=ROOT / "examples" / "renewable-energy", workspace=tmp_path)


@pytest.fixture
def specs(own: Any) -> dict[str, ToolSpec]:
    hotels = ToolSpec("search_hotels", "Find hotels.", {"properties": {"city": {"type": "string"}}})
    return {"search_hotels": hotels, **Toolbox(own).specs}


@pytest.mark.parametrize("block", BLOCKS)
def test_a_plan_that_is_shown_has_no_fault(block: str, specs: dict[str, ToolSpec]) -> None:
    raw = json.loads(block)
    current = Plan.model_validate({"steps": [step("step_1"), step("step_2"), step("step_4", after=["step_2"])]})

    if "look" in raw:  # asks for calls before there is a plan
        assert set(raw) == {"look"} and all(call["tool"] in specs for call in raw["look"])
        return
    reading = read_revision(raw, current, ["step_1"], specs) if "keep" in raw else read_plan(raw, specs)

    assert reading.issues == ()


def test_each_kind_of_step_is_one_line_that_runs(own: Any, specs: dict[str, ToolSpec], saver: Any) -> None:
    lines, plan = KINDS.splitlines()[1:], read_plan(json.loads(KINDS), specs).plan
    assert plan is not None and len(plan.steps) == len(lines)
    assert {one.kind for one in plan.steps} == set(get_args(StepKind)) and any(one.for_each for one in plan.steps)
    planner = ScriptedModel([KINDS, {"steps": [step("any", "search_documents", query="wind")]}])
    dear, cheap = ScriptedModel([SEARCH, "found"]), ScriptedModel(["thought"])
    graph = build_graph(planner, dear, executors={"cheap": cheap}, tools=own, checkpointer=saver)

    asked(graph.invoke({"goal": "g"}, on_thread()))
    reader = {"type": "edit", "edited_action": {"name": "answer_question", "args": {"answer": "Ann"}}}
    gate = asked(graph.invoke(Command(resume={"decisions": [{"type": "approve"}, reader]}), on_thread()))
    state = graph.invoke(Command(resume={"type": "approve"}), on_thread())

    assert gate["action_requests"][0]["args"]["args"] == {"thought": "thought"}
    assert state["status"] == "succeeded" and set(state["answer"]) == {"gate", "vague", "together"}
