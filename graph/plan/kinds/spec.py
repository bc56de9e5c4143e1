"""The specification of a kind of step, apart from how it starts (`graph.execution.kinds`)."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, assert_never

from pydantic import JsonValue

from planner_executor.graph.plan.schema import Step
from planner_executor.graph.words.name_list import counted

if TYPE_CHECKING:
    from planner_executor.graph.plan.catalog import ToolSpec
    from planner_executor.graph.plan.draft import StepDraft

FOR_EACH_FIELDS = ("for_each", "max_items", "max_failures")
"""The fields of a step that runs once per item of a list."""
BATCH = "batch"

DoneBy = Literal["tool", "model", "person", "planner", "nobody"]
"""Who does a step: a tool call, the executor model, a person's answer or consent, a planner, nobody (no work)."""
Icon = Literal["gear", "spark", "thought", "question", "barrier", "branches", "junction"]
Shape = Literal["rectangle", "stadium", "rounded", "parallelogram", "hexagon", "subroutine", "trapezoid"]

Show = Callable[[Any], str]
"""Formats a value for one kind of reader: shortened, escaped."""


class StepStyle(NamedTuple):
    """How drawings show a step: `name` and `role` name its kind; a dashed frame means that its work is still open."""

    name: str
    role: str
    icon: Icon
    shape: Shape
    dashed: bool = False


class KindSpec(NamedTuple):
    """A kind of step: its fields, rules, doer and texts. No field has a default, so that a new kind defines them all.

    Args:
        fields: Fields allowed besides the one that names the kind and those of every step.
        misplaced: Message for any other field.
        tools: Returns the tools that the checks of a draft may name in `called`.
        faults: Returns (field, fault) for a draft of this kind and the catalog; the draft's tools are known.
        done_by: Who does the step.
        prompt: Explanation for planners, None if the first sentences of the plan format cover it.
        look: Returns how drawings show the step.
        doer: Returns who does the step, in a few words; tool names are formatted with `Show`.
        material: Returns the input of the step: a text, or arguments by name; an unnamed value has the key "".
        work: Returns a description for the audit, from the step's JSON, which may be redacted.
        calls: Returns the calls it may make, for the review of steps with effects; formats the names of tools.
        asks: Returns the question to a person when the step is due, None if there is no question.
    """

    fields: tuple[str, ...]
    misplaced: str
    tools: "Callable[[StepDraft], list[str]]"
    faults: "Callable[[StepDraft, Mapping[str, ToolSpec]], Iterable[tuple[str, str]]]"
    done_by: DoneBy
    prompt: str | None
    look: Callable[[Step], StepStyle]
    doer: Callable[[Step, Show], str]
    material: Callable[[Step], str | dict[str, JsonValue]]
    work: Callable[[Mapping[str, Any], Show], str]
    calls: Callable[[Step, Show], str]
    asks: Callable[[Step], str | None]

    @property
    def is_judged(self) -> bool:
        """Whether a judge, if there is one, judges the success criteria of such a step."""
        return self.done_by not in ("person", "planner")

    @property
    def calls_tools(self) -> bool:
        """Whether such a step calls the tools that it names."""
        match self.done_by:
            case "tool" | "model":
                return True
            case "person" | "planner" | "nobody":
                return False
            case _:
                assert_never(self.done_by)


def no_tools(_: "StepDraft") -> list[str]:
    """Return no tools, for kinds that call no tool."""
    return []


def no_faults(_: "StepDraft", __: "Mapping[str, ToolSpec]") -> Iterable[tuple[str, str]]:
    """Return no faults, for kinds without rules beyond their fields."""
    return ()


def no_calls(_: Step, __: Show) -> str:
    """Return the description of a step without tools."""
    return "calls nothing"


def asks_nothing(_: Step) -> None:
    """Return no question, for kinds that involve no person."""
    return


def granted(fields: Mapping[str, Any]) -> str:
    """Return the names of the tools that a step's JSON grants a model.

    >>> granted({"tools": ["search", "read"]}), granted({})
    ('search, read', 'no tools')
    """
    return ", ".join(fields.get("tools") or ()) or "no tools"


def calls_of_model(step: Step, name: Show) -> str:
    """Return the tools that a model may call, and how often."""
    often = f", up to {counted(step.max_calls, 'time')} each" if step.max_calls else ""
    return f"a model may call {', '.join(map(name, step.tools))}{often}"


def arguments(step: Step) -> dict[str, JsonValue]:
    """Return a step's arguments, with the list of items under `of`."""
    return {**({} if step.for_each is None else {"of": step.for_each}), **step.args}
