"""The system prompt of each role, without the tools."""

from collections.abc import Mapping

from planner_executor.graph.prompts.executor import EXECUTOR
from planner_executor.graph.prompts.judge import JUDGE
from planner_executor.graph.prompts.planner import FORMAT, PLANNER
from planner_executor.graph.prompts.refining import REFINER
from planner_executor.graph.prompts.replanner import REPLANNER

PROMPTS: Mapping[str, str] = {
    "planner": f"{FORMAT}\n{PLANNER}",
    "planner, for a step that is to be refined": f"{FORMAT}\n{REFINER}",
    "executor": EXECUTOR,
    "replanner": f"{FORMAT}\n{REPLANNER}",
    "judge": JUDGE,
}
