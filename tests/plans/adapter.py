"""Replays a plan through `build_graph`: a scripted planner answers JSON text, review approves, the executor runs it.

Used by the checker of the third-party plans (see `test_third_party_plans.py`).
"""

import json
from typing import Any

from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Command

from planner_executor import build_graph
from planner_executor.graph.plan.references import escape_references
from planner_executor.graph.testing import ScriptedModel

ANYTHING = {"type": "object", "properties": {}, "additionalProperties": True}


def render_ref(step_id: str, path: list[Any]) -> str:
    """Return a reference in our syntax."""
    links = (f"[{part}]" if isinstance(part, int) else f".{json.dumps(part, ensure_ascii=False)}" for part in path)
    return f"{{{step_id}_result{''.join(links)}}}"


def escape_literal(text: str) -> str:
    """Return literal text as a plan writes it."""
    return escape_references(text)


async def execute(goal: str, steps: list[dict[str, Any]], tools: dict[str, Any]) -> dict[str, Any]:
    """Plan, approve and run; the checker's own tools note what they are called with."""
    saver = InMemorySaver(serde=JsonPlusSerializer(allowed_msgpack_modules=None))
    planner = ScriptedModel([json.dumps({"steps": steps})])
    app = build_graph(
        planner,
        tools=[_tool(name, tool) for name, tool in tools.items()],
        checkpointer=saver,
        replan="never",
        max_repairs=0,  # the planner has nothing better
    )
    config: Any = {"configurable": {"thread_id": "case"}}
    state = await app.ainvoke({"goal": goal}, config)
    if "__interrupt__" not in state:
        return {"rejected": state["reason"]}
    shown = state["__interrupt__"][0].value["digest"]
    state = await app.ainvoke(Command(resume={"type": "approve", "digest": shown}), config)
    if state["status"] != "succeeded":
        raise RuntimeError(state["reason"])
    results = state["results"]
    return {
        "results": {step: _value(result) for step, result in results.items()},
        "order": sorted(results, key=lambda step: results[step]["ended_at"]),
        "start_end": {step: (result["started_at"], result["ended_at"]) for step, result in results.items()},
    }


def _value(result: dict[str, Any]) -> Any:
    return result["value"] if "value" in result else json.loads(result["artifact"]["preview"])


def _tool(name: str, tool: Any) -> StructuredTool:
    async def run(**args: Any) -> Any:
        return await tool.ainvoke(args)

    return StructuredTool(name=name, description=name, args_schema=ANYTHING, coroutine=run, metadata={"effect": "read"})
