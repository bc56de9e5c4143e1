"""What is to be known of a kind of step, apart from how it starts (`graph.execution.kinds`)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import JsonValue

from graph.plan.catalog import ToolSpec
from graph.plan.draft import StepDraft
from graph.plan.schema import Step

EACH = ("for_each", "max_items", "max_failures")
"""The fields of a step that is done for each item of a list."""

DoneBy = Literal["tool", "model", "person", "planner", "nobody"]
"""Who does a step: one call, the executor model, an answer or consent, a planner that makes steps of it, no work."""
Icon = Literal["gear", "spark", "thought", "question", "barrier", "branches", "junction"]
Shape = Literal["rectangle", "stadium", "rounded", "parallelogram", "hexagon", "subroutine", "trapezoid"]

Show = Callable[[Any], str]
"""Returns a value as the reader at hand is to see it: cut, escaped."""


@dataclass(frozen=True)
class Look:
    """How drawings show a step: `name` and `role` tell its kind, a frame is dashed if what it will do is still open."""

    name: str
    role: str
    icon: Icon
    shape: Shape
    dashed: bool = False


@dataclass(frozen=True)
class KindSpec:
    """A kind of step: its fields, its rules, who does it, its words. All of it is needed: nothing has a default.

    Args:
        fields: What may stand beside the field that names the kind and the fields of every step.
        misplaced: What is wrong with any other field.
        tools: The tools that a draft's checks may name as called.
        faults: (field, fault) of a draft of this kind whose tools, by name, are known.
        done_by: Who does it.
        prompt: The words that explain it to planners, None if the first sentences of the plan format do.
        look: How drawings show it.
        doer: Who does it, in a few words; names of tools as `Show` has them.
        material: What it is done with: words, or arguments by name; a value without a name stands under "".
        work: What it does, for the audit, from the JSON of a step that may be redacted.
        calls: What it may call and with what, for the review of steps with effects; shows names, then values.
        asks: What a person is asked when it is due, None if nobody is.
    """

    fields: tuple[str, ...]
    misplaced: str
    tools: Callable[[StepDraft], list[str]]
    faults: Callable[[StepDraft, Mapping[str, ToolSpec]], Iterable[tuple[str, str]]]
    done_by: DoneBy
    prompt: str | None
    look: Callable[[Step], Look]
    doer: Callable[[Step, Show], str]
    material: Callable[[Step], str | dict[str, JsonValue]]
    work: Callable[[Mapping[str, Any], Show], str]
    calls: Callable[[Step, Show, Show], str]
    asks: Callable[[Step], str | None]


def no_tools(_: StepDraft) -> list[str]:
    """Return the tools of a step that calls none."""
    return []


def no_faults(_: StepDraft, __: Mapping[str, ToolSpec]) -> Iterable[tuple[str, str]]:
    """Return the faults of a kind that has no rules beyond its fields."""
    return ()


def no_calls(_: Step, __: Show, ___: Show) -> str:
    """Return what a step calls that has no tools."""
    return "calls nothing"


def asks_nobody(_: Step) -> None:
    """Return what a person is asked by a step that asks nobody."""
    return


def granted(fields: Mapping[str, Any]) -> str:
    """Return the names of the tools that a step's JSON grants a model.

    >>> granted({"tools": ["search", "read"]}), granted({})
    ('search, read', 'no tools')
    """
    return ", ".join(fields.get("tools") or ()) or "no tools"


def calls_of_model(step: Step, name: Show, value: Show) -> str:
    """Return which tools a model may call and with what."""
    args = value(dict(step.args)) if step.args else "arguments of its own"
    often = f"up to {step.max_calls} times each, " if step.max_calls else ""
    return f"a model may call {name(', '.join(step.tools))}, {often}with {args}"


def arguments(step: Step) -> dict[str, JsonValue]:
    """Return a step's arguments, and the list that it goes through under `of`."""
    return {**({} if step.for_each is None else {"of": step.for_each}), **step.args}
