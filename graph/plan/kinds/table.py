"""The specification of each kind of step; a kind without one fails the type check."""

from typing import assert_never

from planner_executor.graph.plan.kinds import ask, gate, gather, model, refine, tool
from planner_executor.graph.plan.kinds.spec import KindSpec
from planner_executor.graph.plan.step_kind import StepKind


def kind_spec(kind: StepKind) -> KindSpec:
    """Return the specification of a kind of step."""
    match kind:
        case "tool":
            return tool.SPEC
        case "model":
            return model.SPEC
        case "ask":
            return ask.SPEC
        case "gate":
            return gate.SPEC
        case "refine":
            return refine.SPEC
        case "gather":
            return gather.SPEC
        case _:
            assert_never(kind)
