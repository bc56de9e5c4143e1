"""What a person has to know of a step at a glance, as marks: each has a colour, a shape and words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from planner_executor.graph.desk.records import ShownRun
from planner_executor.graph.desk.views.origins import input_label
from planner_executor.graph.plan.catalog import Effect, ToolSpec
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.policy.inheritance import result_labels
from planner_executor.graph.text.drawing.labels import waits_within


@dataclass(frozen=True)
class Mark:
    """A mark: its name, which says its colour, its words, and its shape as an SVG path around 0, 0."""

    name: str
    words: str
    path: str


EFFECTS: Mapping[Effect, Mark] = {
    "external": Mark("leaves", "leaves the machine", "M-6 3.5L1 -3.5L-1.5 -6H6V1.5L3.5 -1L-3.5 6z"),
    "write": Mark("writes", "writes here", "M-5 -5h10v10h-10z"),
    "read": Mark("reads", "reads", "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0zm2.5 0a2.5 2.5 0 1 1 5 0a2.5 2.5 0 1 1 -5 0z"),
}
"""The effects of tools, the strongest first."""
HELD = Mark("held", "held for a person", "M-5 -5.5h3.6v11h-3.6zM1.4 -5.5h3.6v11h-3.6z")
UNTRUSTED = Mark("untrusted", "untrusted input", "M0 -6.5L7 5.5H-7z")
ALL: tuple[Mark, ...] = (*EFFECTS.values(), HELD, UNTRUSTED)

StepMarks = Mapping[str, tuple[Mark, ...]]
NO_MARKS: StepMarks = MappingProxyType({})


def step_marks(shown: ShownRun, plan: Plan, tools: Mapping[str, ToolSpec]) -> StepMarks:
    """Return the marks of each step; `tools` are those that the run was configured with, by name."""
    results, waits = result_labels(shown.record, plan, tools), waits_within(plan)
    held = {one.step for one in shown.record.waiting_calls}

    def marks(step: Step) -> Iterator[Mark]:
        # A tool that the record does not know is one that declares nothing.
        does = {tools[name].effect if name in tools else "external" for name in step.tool_names}
        yield from [mark for effect, mark in EFFECTS.items() if effect in does][:1]
        if step.id in held:
            yield HELD
        if input_label(shown.record, step, results, waits[step.id]).untrusted:
            yield UNTRUSTED

    return {step.id: tuple(marks(step)) for step in plan.steps}
