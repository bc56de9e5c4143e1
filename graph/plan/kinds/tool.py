"""A step that makes one tool call; no model is involved."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from planner_executor.graph.plan.kinds.spec import FOR_EACH_FIELDS, KindSpec, Show, StepStyle, arguments, asks_nothing
from planner_executor.graph.plan.schema import Step

if TYPE_CHECKING:
    from planner_executor.graph.plan.catalog import ToolSpec
    from planner_executor.graph.plan.draft import StepDraft

LOOK = StepStyle("tool", "tool call", "gear", "rectangle")


def _tools(draft: "StepDraft") -> list[str]:
    tool = draft.fields.get("tool")
    return [tool] if isinstance(tool, str) else []


def _faults(draft: "StepDraft", tools: "Mapping[str, ToolSpec]") -> Iterable[tuple[str, str]]:
    """Return the arguments' faults under the tool's schema; references are checked once they are resolved."""
    unresolved = {name for name, found in draft.argument_references().items() if found}
    return [fault for name in _tools(draft) for fault in tools[name].argument_faults(draft.known_args, unresolved)]


def _work(fields: Mapping[str, Any], _: Show) -> str:
    return str(fields["tool"])


def _calls(step: Step, name: Show) -> str:
    return f"calls {name(step.tool)}"


SPEC = KindSpec(
    fields=("args", "literal", "checks", *FOR_EACH_FIELDS),
    misplaced="is for steps with tools; this one makes exactly one call",
    tools=_tools,
    faults=_faults,
    done_by="tool",
    prompt=None,
    look=lambda _: LOOK,
    doer=lambda step, show: show(step.tool),
    material=arguments,
    work=_work,
    calls=_calls,
    asks=asks_nothing,
)
