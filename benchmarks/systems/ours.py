"""Ours, as `build_graph` makes it; nobody is asked, because nobody is in the other systems."""

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import BaseTool

from benchmarks.database import Database
from benchmarks.simulated import Script, SimulatedModel
from benchmarks.workloads import Workload
from planner_executor import build_graph


def build(model: SimulatedModel, tools: list[BaseTool], database: Database) -> Any:
    """Return the graph; its ledger is in the checkpointer's file."""
    return build_graph(model, tools=tools, checkpointer=database.saver, ledger=database.ledger, approval="never")


def script(workload: Workload) -> Script:
    """Answer with the plan, and then with what replaces the steps that failed."""
    left = [piece.id for piece in workload.pieces if set(piece.after) & set(workload.failing)]
    instead = [workload.step(step, "look_elsewhere") for step in workload.failing]
    answers = iter([workload.plan(), {"keep": left, "steps": instead}])

    def answer(_messages: Sequence[BaseMessage]) -> AIMessage:
        return AIMessage(json.dumps(next(answers)))

    return answer
