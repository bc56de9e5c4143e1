"""The plan with which a run of a playbook starts, under the tools that are there."""

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.errors import InputError
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.playbooks.playbook import Playbook
from planner_executor.graph.words.name_list import listed


def plan_here(
    playbook: Playbook, params: Mapping[str, JsonValue] | None, tools: Mapping[str, ToolSpec]
) -> dict[str, Any]:
    """Return the plan of a playbook, whose tools have to be those that it was kept with.

    Raises:
        InputError: They are others, one can write where the playbook lies, or a value does not fit.
    """
    if writers := playbook.writers(tools):
        where = f"{playbook.path} lies where {listed(writers)} can write"
        raise InputError("playbook", f"{where}; keep it in a folder that no tool changes")
    if changes := playbook.changes(tools):
        again = "look at what changed, then keep the playbook anew"
        raise InputError("playbook", f"{playbook.name}: {'; '.join(changes)}; {again}")
    return playbook.plan(params)
