"""What is compared: ours, and others in our own words, as small and as fair as we could make them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from langchain_core.tools import BaseTool

from benchmarks.database import Database
from benchmarks.simulated import Script, SimulatedModel
from benchmarks.systems import ours, plan_and_execute, program, react, waves
from benchmarks.workloads import Workload

GOAL = "Find out what there is to know"


@dataclass(frozen=True, eq=False)
class System:
    """A way to run a workload: its graph, what the graph is given, and what the model answers."""

    name: str
    build: Callable[[SimulatedModel, list[BaseTool], Database], Any]
    script: Callable[[Workload], Script]
    given: dict[str, Any]


OURS = System("ours", ours.build, ours.script, {"goal": GOAL})
PLAN_AND_EXECUTE = System(
    "plan-and-execute, replanning after each step",
    plan_and_execute.build,
    plan_and_execute.script,
    {"goal": GOAL},
)
PROGRAM = System("one program", program.build, program.script, {"messages": [("user", GOAL)]})
REACT = System("ReAct, one call at a time", react.build, react.one_by_one, {"messages": [("user", GOAL)]})
REACT_PARALLEL = System("ReAct, parallel calls", react.build, react.in_parallel, {"messages": [("user", GOAL)]})
WAVES = System("waves with Send", waves.build, waves.script, {"goal": GOAL})
