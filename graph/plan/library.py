"""Playbooks as planners know them, and those that are shown for a goal."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import JsonValue

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.tool_choice import ToolChoice

MOST_SHOWN = 8
"""Most playbooks that a planner is shown."""


class KnownPlaybook(NamedTuple):
    """A playbook as planners know it; see `graph.playbooks.playbook.Playbook`."""

    name: str
    version: int
    digest: str
    description: str
    parameters: Mapping[str, Mapping[str, Any]]
    steps: tuple[Mapping[str, Any], ...]
    answer: JsonValue = None

    @property
    def line(self) -> dict[str, Any]:
        """What a planner is shown of it."""
        return {"name": self.name, "description": self.description, "params": dict(self.parameters)}

    def to_json(self) -> dict[str, Any]:
        """Return the playbook as the record has it."""
        return {**self._asdict(), "parameters": dict(self.parameters), "steps": [dict(step) for step in self.steps]}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> "KnownPlaybook":
        """Return a playbook as the record has it."""
        return cls(**{**raw, "steps": tuple(raw["steps"])})

    @property
    def as_tool(self) -> ToolSpec:
        """The same in the form by which words choose."""
        return ToolSpec(self.name, self.description, {"properties": dict(self.parameters)})


Library = Mapping[str, KnownPlaybook]
NO_LIBRARY: Library = {}


def fitting(library: Library, text: str) -> tuple[KnownPlaybook, ...]:
    """Return the playbooks that a text names, or whose words fit it, a bounded number."""
    chosen = ToolChoice([one.as_tool for one in library.values()]).of(text, MOST_SHOWN)
    return tuple(one for name, one in library.items() if name in chosen)[:MOST_SHOWN]
