"""A look: calls of marked tools that a planner asks for before it proposes a plan."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.json_values import json_faults
from planner_executor.graph.plan.normalization import LOOK, unwrap
from planner_executor.graph.plan.reading import ParsedPlan
from planner_executor.graph.words.name_list import listed

MOST_LOOKS_OF_A_RUN = 24


@dataclass(frozen=True)
class Look:
    """One call."""

    tool: str
    args: Mapping[str, JsonValue]


@dataclass(frozen=True)
class ParsedLook(ParsedPlan):
    """What a model wants to look at in place of a plan."""

    looks: tuple[Look, ...] = ()


def read_or_look(
    raw: Any, tools: Collection[str], marked: Collection[str], read: Callable[[Any], ParsedPlan]
) -> ParsedPlan:
    """Return what a model wants to look at in place of a plan, or what `read` makes of a plan that it gave.

    Args:
        raw: A JSON value of an answer.
        tools: The names of all tools.
        marked: The names of those that may look.
        read: Reads a plan.
    """
    found, _ = unwrap(raw, tools)
    if not isinstance(found, dict) or LOOK not in found:
        return read(raw)
    # A plan beside it would rest on what has not been looked at yet.
    if beside := [key for key, value in found.items() if key != LOOK and value != []]:
        why = f"it stands beside {', '.join(map(str, beside))}; look first, alone, or give a plan"
        return ParsedPlan(None, (Issue(None, LOOK, why),))
    if not marked:
        return ParsedPlan(None, (Issue(None, LOOK, "no tool may look before the plan; answer with a plan"),))
    wanted = found[LOOK] if isinstance(found[LOOK], list) else [found[LOOK]]
    faults = [_fault(one, marked) for one in wanted]
    issues = [Issue(None, f"{LOOK}[{place}]", fault) for place, fault in enumerate(faults) if fault is not None]
    if issues or not wanted:
        return ParsedPlan(None, tuple(issues) or (Issue(None, LOOK, "it is empty; name a call, or give a plan"),))
    return ParsedLook(None, looks=tuple(Look(one["tool"], one.get("args") or {}) for one in wanted))


def _fault(wanted: Any, marked: Collection[str]) -> str | None:
    """Return why an entry is no call of a marked tool, None if it is one."""
    if not isinstance(wanted, dict) or not set(wanted) <= {"tool", "args"}:
        return 'a call is {"tool": "<name>", "args": {...}}'
    if wanted.get("tool") not in marked:
        return f"{wanted.get('tool')!r} may not look; {listed(sorted(marked))} may"
    if not isinstance(wanted.get("args") or {}, dict) or json_faults(wanted):
        return "args must be an object that JSON can carry"
    return None
