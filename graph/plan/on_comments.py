"""What a planner says of comments on steps, beside its plan: words, which no part of the plan rests on."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from planner_executor.graph.plan.issues import storable
from planner_executor.graph.plan.normalization import ON_COMMENTS, unwrap
from planner_executor.graph.plan.reading import ParsedPlan
from planner_executor.graph.plan.shortening import shortened

WORDS_CHARACTERS = 300
"""Most characters of one answer."""


def read_on_comments(
    raw: Any, tools: Collection[str], commented: Sequence[str], read: Callable[[Any], ParsedPlan]
) -> ParsedPlan:
    """Return what `read` makes of an answer without the key `on_comments`, with what that says of commented steps.

    What it says of anything else is left out with a note. Without comments the key is left to `read`, as every other.

    Args:
        raw: A JSON value of an answer.
        tools: The names of all tools.
        commented: The steps that a planner was asked about.
        read: Reads a plan, or what stands in its place.
    """
    found, notes = unwrap(raw, tools)
    if not commented or not isinstance(found, dict) or ON_COMMENTS not in found:
        return read(raw)
    said = _words(found[ON_COMMENTS], commented)
    if not isinstance(found[ON_COMMENTS], Mapping) or len(said) < len(found[ON_COMMENTS]):
        notes = [*notes, f"{ON_COMMENTS} says more than a text for each commented step, which was left out"]
    parsed = read({key: value for key, value in found.items() if key != ON_COMMENTS})
    return replace(parsed, notes=(*notes, *parsed.notes), on_comments=said)


def with_on_comments(schema: Mapping[str, Any], commented: Sequence[str]) -> Mapping[str, Any]:
    """Return the schema of an answer that may say something of the commented steps; without any, the schema itself."""
    if not commented:
        return schema  # models are bound to a schema by its identity
    said = {
        "type": "object",
        "properties": {step: {"type": "string"} for step in commented},
        "required": [],
        "additionalProperties": False,
    }
    return {**schema, "properties": {**schema["properties"], ON_COMMENTS: said}}


def _words(said: Any, commented: Sequence[str]) -> dict[str, str]:
    if not isinstance(said, Mapping):
        return {}
    texts = {step: " ".join(said[step].split()) for step in commented if isinstance(said.get(step), str)}
    return {step: shortened(storable(text), WORDS_CHARACTERS) for step, text in texts.items() if text}
