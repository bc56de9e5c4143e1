"""The system prompt of each role."""

from collections.abc import Mapping

from planner_executor.graph.prompts.executor import EXECUTOR
from planner_executor.graph.prompts.judge import JUDGE
from planner_executor.graph.prompts.planner import PLANNER
from planner_executor.graph.prompts.refining import REFINER
from planner_executor.graph.prompts.replanner import REPLANNER

PROMPTS: Mapping[str, str] = {
    "planner": PLANNER,
    "planner, for a step that is to be refined": REFINER,
    "executor": EXECUTOR,
    "replanner": REPLANNER,
    "judge": JUDGE,
}
