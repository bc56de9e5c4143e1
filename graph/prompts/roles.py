"""The system prompt of each role."""

from collections.abc import Mapping

from graph.prompts.executor import EXECUTOR
from graph.prompts.judge import JUDGE
from graph.prompts.planner import PLANNER
from graph.prompts.refining import REFINER
from graph.prompts.replanner import REPLANNER

PROMPTS: Mapping[str, str] = {
    "planner": PLANNER,
    "planner, for a step that is to be refined": REFINER,
    "executor": EXECUTOR,
    "replanner": REPLANNER,
    "judge": JUDGE,
}
