"""What runs without a person."""

from collections.abc import Mapping
from typing import Literal

from graph.plan.canonical import digest
from graph.plan.catalog import ToolSpec
from graph.plan.schema import Plan

ApprovalMode = Literal["always", "side_effects", "never"]


def needs_person(plan: Plan, tools: Mapping[str, ToolSpec], mode: ApprovalMode) -> bool:
    """Whether a person has to approve the plan before it runs."""
    if mode == "side_effects":
        return any(tools[name].effect != "read" for step in plan.steps for name in step.tool_names)
    return mode == "always"


def binding_of(plan: Plan, tools: Mapping[str, ToolSpec]) -> str:
    """Return the digest of all that an approval of `plan` covers: the plan, and the tools it names as they are now."""
    names = sorted({name for step in plan.steps for name in step.tool_names})
    return digest({"plan": plan.digest, "tools": {name: tools[name].face for name in names if name in tools}})
