"""A run in a process of its own whose tool or model kills that process; started by `test_kill.py`.

Usage: crashing_run.py DATABASE LOG KILL_AT [PLANS], where KILL_AT names the call that dies (`after:c` once its effect
is done; `model` once the script of the model is at its end) and PLANS is which of `PLANS` the planner gives.
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatResult
from langchain_core.tools import BaseTool, StructuredTool

from planner_executor import Agent
from planner_executor.graph.testing import ScriptedModel, step

ANY = {"type": "object", "properties": {}, "additionalProperties": True}
NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
PLAN = {
    "steps": [
        step("a", "look", name="a"),
        step("b", "look", name="b"),
        step("c", "pay", name="c", after=["a", "b"]),
        step("d", "look", name="d", after=["c"]),
    ],
    "answer": ["{a_result}", "{c_result}", "{d_result}"],
}
REFINED = [
    {
        "steps": [
            step("a", "look", name="a"),
            {"id": "work", "objective": "work", "refine": True, "tools": ["look"], "depends_on": ["a"]},
        ],
        "answer": ["{a_result}", "{work_result}"],
    },
    {
        "steps": [
            step("x", "look", name="b"),
            {"id": "y", "objective": "dig", "refine": True, "tools": ["look"], "depends_on": ["x"]},
        ],
        "answer": ["{x_result}", "{y_result}"],
    },
    {"steps": [step("p", "look", name="c"), step("q", "look", name="d", after=["p"])], "answer": "{q_result}"},
]
OF_A = {"of": "{a_result}", "condition": "@ == 'did a'"}
BRANCH = [
    {
        "steps": [
            step("a", "look", name="a"),
            {**step("b", "look", name="b"), "when": {**OF_A, "condition": "@ != 'did a'"}},
            {**step("c", "pay", name="c"), "when": OF_A},
            {**step("d", "look", name="d", after=["b", "c"]), "run_if": "any"},
        ],
        "answer": ["{b_result}", "{c_result}", "{d_result}"],
    }
]
"""`c` is done, and `b` is not, since of their conditions one is true."""
EACH = [
    {
        "steps": [
            {
                "id": "each",
                "objective": "look at each",
                "tool": "look",
                "args": {"name": "{item_result}"},
                "for_each": ["a", "b", "c", "d"],
            }
        ]
    }
]


def asks_for(name: str, tool: str = "look") -> AIMessage:
    """Return a model's turn that asks for a call."""
    return AIMessage("", tool_calls=[{"name": tool, "args": {"name": name}, "id": name}])


LOOP = [
    {"steps": [{"id": "loop", "objective": "look around", "tools": ["look"], "max_calls": 3}]},
    *map(asks_for, ("a", "odd", "c")),
    "looked around",
]
POLICY: dict[str, Any] = {"tools": {"pay": {"args": {"name": {"one_of": ["c", "d"]}}}}}
PREVIEWING = {"leaving_previews": ["order"]}
OWN_STEP = {"id": "rent", "objective": "pay the rent", "tools": ["pay"]}
REFUSED: dict[str, list[Any]] = {
    "policy": [{"steps": [OWN_STEP]}, asks_for("too much", "pay")],
    "pinned": [{"steps": [{**OWN_STEP, "args": {"name": "c"}}]}, asks_for("d", "pay")],
    "another tool": [{"steps": [{**OWN_STEP, "tools": ["look"]}]}, asks_for("c", "pay")],
    "number of calls": [{"steps": [OWN_STEP]}, asks_for("c", "pay"), asks_for("d", "pay")],
}
"""Runs whose model asks for a call that a rule refuses."""
PLANS: dict[str, list[Any]] = {
    "chain": [PLAN],
    "refined": REFINED,
    "branch": BRANCH,
    "each": EACH,
    "loop": LOOP,
    "previewed": [{"steps": [step("o", "order", name="o")]}],
    **REFUSED,
}


class MortalModel(ScriptedModel):
    """Answers from its script, and kills its process when it is asked for more."""

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        if not self._answers:
            os.kill(os.getpid(), signal.SIGKILL)
        return super()._generate(*args, **kwargs)


def tools(log: Path, kill_at: str) -> list[BaseTool]:
    def effect(name: str) -> str:
        if kill_at == f"before:{name}":
            os.kill(os.getpid(), signal.SIGKILL)
        with log.open("a") as file:
            file.write(f"{name}\n")
        if kill_at == f"after:{name}":
            os.kill(os.getpid(), signal.SIGKILL)
        if name == "odd":
            raise ValueError("nothing odd here")
        return f"did {name}"

    look = StructuredTool(name="look", description="look", args_schema=ANY, func=effect, metadata={"effect": "read"})
    pay = StructuredTool(name="pay", description="pay", args_schema=ANY, func=effect)
    seen = {"effect": "external", "preview": lambda name: effect(f"preview-{name}")}
    order = StructuredTool(name="order", description="order", args_schema=NAME, func=effect, metadata=seen)
    return [look, pay, order]


if __name__ == "__main__":
    database, log_name, kill, *named = sys.argv[1:]
    plans = PLANS[named[0] if named else "chain"]
    model = MortalModel(plans) if kill == "model" else ScriptedModel(plans)
    own = tools(Path(log_name), kill)
    policy = PREVIEWING if named == ["previewed"] else POLICY
    with Agent.open(database, planner=model, tools=own, policy=policy, replan="never", max_concurrency=1) as agent:
        run = agent.start("pay once", thread="crash")
        agent.resume(run.id, "approve")
