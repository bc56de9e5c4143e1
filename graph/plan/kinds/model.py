"""A step done by the executor model, which may call the step's tools and no others; without tools, pure reasoning."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from planner_executor.graph.plan.kinds.spec import (
    BATCH,
    FOR_EACH_FIELDS,
    KindSpec,
    Show,
    StepStyle,
    arguments,
    asks_nothing,
    calls_of_model,
    granted,
)
from planner_executor.graph.plan.schema import Step

if TYPE_CHECKING:
    from planner_executor.graph.plan.catalog import ToolSpec
    from planner_executor.graph.plan.draft import StepDraft

WITH_TOOLS = StepStyle("model", "model with tools", "spark", "stadium")
WITHOUT_TOOLS = StepStyle("reasoning", "model without tools", "thought", "rounded", dashed=True)


def _tools(draft: "StepDraft") -> list[str]:
    return draft.listed("tools")


def _faults(draft: "StepDraft", tools: "Mapping[str, ToolSpec]") -> Iterator[tuple[str, str]]:
    """Yield the faults of pinned arguments: some granted tool must take each and accept its value."""
    specs = [tools[name] for name in _tools(draft)]
    references = draft.argument_references()
    for name, value in draft.known_args.items() if specs else ():
        takers = [spec for spec in specs if spec.takes(name)]
        faults = [spec.argument_faults({name: value}, {name} if references[name] else ()) for spec in takers]
        # A tool that lacks other arguments is none that refuses this value: the model gives them.
        wrong = [[fault for fault in found if _is_about(name, fault[0])] for found in faults]
        if not takers:
            yield "args", f"none of its tools has an argument {name!r}"
        elif all(wrong):
            yield from wrong[0]


def _is_about(name: str, place: str) -> bool:
    return place == f"args.{name}" or place.startswith((f"args.{name}.", f"args.{name}["))


def _doer(step: Step, show: Show) -> str:
    tools = f"({', '.join(map(show, step.tools))})" if step.tools else ""
    return f"{show(step.executor)} model{tools}" if step.executor else f"model{tools}"


SPEC = KindSpec(
    fields=(
        "tools",
        "required_tools",
        "args",
        "literal",
        "max_calls",
        "constraints",
        "output",
        "executor",
        "checks",
        *FOR_EACH_FIELDS,
        BATCH,
    ),
    misplaced="does not go with tools",
    tools=_tools,
    faults=_faults,
    done_by="model",
    prompt=None,
    look=lambda step: WITH_TOOLS if step.tools else WITHOUT_TOOLS,
    doer=_doer,
    material=arguments,
    work=lambda fields, _: f"a model with {granted(fields)}",
    calls=calls_of_model,
    asks=asks_nothing,
)
