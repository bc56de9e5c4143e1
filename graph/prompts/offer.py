"""What a planner is offered: the tools as its prompt shows them, and as the schema of its answer names them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.json_schema import plan_schema, revision_schema
from planner_executor.graph.policy.policy import Policy
from planner_executor.graph.prompts.tool_lines import tools_text


@dataclass(frozen=True)
class Offer:
    """The tools that a plan may call under a policy; what is made of them is made once."""

    tools: tuple[ToolSpec, ...]
    policy: Policy

    @classmethod
    def of(cls, tools: Mapping[str, ToolSpec], policy: Policy) -> "Offer":
        """Return the tools that the policy does not deny."""
        return cls(tuple(tool for tool in tools.values() if policy.verdict(tool) != "deny"), policy)

    def only(self, names: Collection[str]) -> "Offer":
        """Return the offer of those tools alone."""
        return replace(self, tools=tuple(tool for tool in self.tools if tool.name in names))

    @cached_property
    def text(self) -> str:
        """The lines of the tools in a prompt."""
        return tools_text(self.tools, self.policy)

    @cached_property
    def plan_schema(self) -> dict[str, Any]:
        """The schema of a plan."""
        return plan_schema(self.tools)

    @cached_property
    def revision_schema(self) -> dict[str, Any]:
        """The schema of a revision."""
        return revision_schema(self.tools)
