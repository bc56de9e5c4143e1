"""A run with a budget in a process of its own, which one of its calls kills; started by `test_budgets.py`.

Usage: budgeted_run.py FOLDER BUDGET KILL_AT, where BUDGET is JSON and KILL_AT names the call that dies: the name that a
tool is called with, or the role of a model.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, StructuredTool

from planner_executor import Agent
from planner_executor.graph.testing import step

ANY = {"type": "object", "properties": {}, "additionalProperties": True}
PLAN = {
    "steps": [
        step("a", "look", name="a"),
        step("fails", "look", name="fails", after=["a"]),
        step("think", after=["fails"]),
        step("b", "look", name="b {think_result}", after=["think"]),
    ]
}
REVISION = {"keep": ["think", "b"], "steps": [step("fails", "look", name="again", after=["a"])]}
ANSWERS = {"planner": PLAN, "replanner": REVISION, "executor": "thought"}
PRICES = {"prices": {"counting": {"input": 500.0, "output": 500.0}}}
TOKENS = 2_000
"""What each answer takes."""


class CountingModel(BaseChatModel):
    """Answers for its role, says how many tokens that took, and notes that it was asked."""

    role: str
    folder: Path
    kill_at: str = ""
    model_name: str = "counting"

    @property
    def _llm_type(self) -> str:
        return "counting"

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        note(self.folder, self.role)
        if self.kill_at == self.role:
            os.kill(os.getpid(), signal.SIGKILL)
        answer = ANSWERS[self.role]
        counted = {"input_tokens": TOKENS - 100, "output_tokens": 100, "total_tokens": TOKENS}
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text, usage_metadata=counted))])


def note(folder: Path, words: str) -> None:
    """Write down that something was called, at once for all processes."""
    with (folder / "called").open("a") as file:
        file.write(f"{words}\n")


def called(folder: Path) -> list[str]:
    """Return what was called, in order."""
    return (folder / "called").read_text().splitlines()


def options(folder: Path, kill_at: str = "") -> dict[str, Any]:
    """Return models and the tool for `Agent.open`."""

    def look(name: str) -> str:
        note(folder, name)
        if kill_at == name:
            os.kill(os.getpid(), signal.SIGKILL)
        if name == "fails":
            raise ValueError("not here")
        return f"saw {name}"

    tool: BaseTool = StructuredTool(
        name="look", description="look", args_schema=ANY, func=look, metadata={"effect": "read"}
    )
    models = {role: CountingModel(role=role, folder=folder, kill_at=kill_at) for role in ANSWERS}
    return {**models, "tools": [tool], "approval": "never", "policy": PRICES, "max_concurrency": 1}


if __name__ == "__main__":
    place, budget, kill = Path(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3]
    with Agent.open(place / "runs.db", budget=budget, **options(place, kill)) as agent:
        agent.start("g", thread="t")
