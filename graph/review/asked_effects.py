"""What a request asks for, effect by effect, in the words of the tools: `refund 129.90 EUR`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.plain_text.sanitize import visible_json
from planner_executor.graph.record.asked_effect import AskedEffect
from planner_executor.graph.review.content import (
    CallContent,
    GateContent,
    PlanContent,
    ReviewContent,
    StepContent,
    Tool,
    UncertainContent,
)
from planner_executor.graph.review.request import ReviewRequest

FIRST, WORDS = 4, 160
"""Effects that lists show of a request, and the characters of each."""
VALUE = 60
"""Characters of an argument."""


def asked_effects(review: ReviewContent, actions: Sequence[Mapping[str, Any]]) -> Iterator[AskedEffect]:
    """Yield the effects of a request with these actions, in their order."""
    for content, action in zip(review.actions, actions, strict=True):
        args = action["args"]
        match content:
            # A plan that cannot run is as it was written, perhaps without a list
            # of steps; then nothing is left to do either.
            case PlanContent():
                planned = {step["id"]: step.get("args", {}) for step in args["plan"]["steps"]} if content.left else {}
                tools = {tool.name: tool for tool in content.tools if tool.acts}
                for step in content.left:
                    yield from _of_step(step, planned[step.id], tools)
            case CallContent() if content.tool is not None and content.tool.acts:
                yield _effect(content.tool, content.does, args["args"])
            case UncertainContent() if content.tool is not None:
                yield _effect(content.tool, content.does, args["args"])
            case GateContent():
                for one in content.through:
                    yield _effect(one.tool, one.does, {})
            case _:
                pass


def first_effects(request: ReviewRequest) -> tuple[tuple[AskedEffect, ...], int]:
    """Return the first effects of a request, cut for lists, and the number of the others."""
    # Only actions with content have an entry in `review`: the two are walked side by side.
    found = list(
        asked_effects(request.review, [action.to_json() for action in request.actions if action.content is not None])
    )
    return tuple(replace(one, words=_cut(one.words, WORDS)) for one in found[:FIRST]), len(found[FIRST:])


def _of_step(step: StepContent, args: Mapping[str, JsonValue], tools: Mapping[str, Tool]) -> Iterator[AskedEffect]:
    named = [name for name in tools if step.id in tools[name].steps]
    often = f", for each of at most {step.most_items}" if step.most_items is not None else ""
    for name in named:
        made = _effect(tools[name], step.does.get(name), args)
        yield AskedEffect(made.words + often, made.effect, made.undo)


def _effect(tool: Tool, does: str | None, args: Mapping[str, JsonValue]) -> AskedEffect:
    """Return a call in the words of its tool; a tool without words is named, with its arguments."""
    told = ", ".join(f"{name}: {_short(value)}" for name, value in args.items())
    return AskedEffect(does or f"{tool.name} {told}".strip(), tool.effect, tool.reversible)


def _short(value: JsonValue) -> str:
    return _cut(value if isinstance(value, str) else visible_json(value), VALUE)


def _cut(text: str, characters: int) -> str:
    """Return a text with a mark where it was cut, by which a redaction finds the beginning of a value there."""
    return text if len(text) <= characters else f"{text[: characters - 1]}…"
