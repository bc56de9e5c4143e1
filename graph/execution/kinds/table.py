"""How each kind of step starts; a kind without a start fails the type check."""

from typing import assert_never

from planner_executor.graph.execution.kinds import ask, gate, gather, model, refine, tool
from planner_executor.graph.execution.kinds.start import KindStart
from planner_executor.graph.plan.step_kind import StepKind


def kind_start(kind: StepKind) -> KindStart:
    """Return how a kind of step starts."""
    match kind:
        case "tool":
            return tool.START
        case "model":
            return model.START
        case "ask":
            return ask.START
        case "gate":
            return gate.START
        case "refine":
            return refine.START
        case "gather":
            return gather.START
        case _:
            assert_never(kind)
