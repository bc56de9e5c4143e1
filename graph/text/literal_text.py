"""Notes in a review on literal text that looks like a reference, and in which nothing is substituted."""

from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from planner_executor.graph.plan.json_values import texts_in
from planner_executor.graph.plan.reference_spans import spans
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.plan.when import of_when
from planner_executor.graph.text.drawing.labels import plain
from planner_executor.graph.words.name_list import listed

MOST_NAMED = 3
MAX_LINES = 30
SHOWN_CHARACTERS = 80


def literal_lines(steps: Sequence[Step], plan: Plan) -> list[str]:
    """Return a line for each argument, and for the answer, with literal text in the form of a reference.

    >>> literal_lines([step := Step(id="b", objective="o", args={"note": "see {{a_result}}"})], Plan(steps=(step,)))
    ['- b: {a_result} in note is text, not a reference']
    """
    lines = [*(line for step in steps for line in _of_step(step)), *_of_answer(plan.answer)]
    more = len(lines) - MAX_LINES
    return [*lines[:MAX_LINES], *([f"- and {more} more with text in the form of references"] if more > 0 else [])]


def text_note(args: JsonValue) -> str:
    """Return a note on arguments of a call with text in the form of a reference, or an empty text."""
    found = _named(args, {False, True})
    return f" ({found} in it is text, not a reference)" if found else ""


def _of_step(step: Step) -> Iterator[str]:
    for name, value in step.args.items():
        if name in step.literal:
            yield f"- {step.id}: {_cut(name)} is taken as it is written, nothing in it is a reference"
        # The whole argument is literal in the other case, whatever in it looks like a reference.
        elif found := _named(value, {True}):
            yield f"- {step.id}: {found} in {_cut(name)} is text, not a reference"
    if found := _named([step.for_each, step.gather, of_when(step.when)], {True}):
        yield f"- {step.id}: {found} is text, not a reference"


def _of_answer(answer: JsonValue) -> Iterator[str]:
    if found := _named(answer, {True}):
        yield f"- answer: {found} is text, not a reference"


def _named(value: JsonValue, literal: set[bool]) -> str:
    """Return a list of the texts in the form of a reference, with doubled braces or without."""
    found = (
        text[span.start : span.stop] for text in texts_in(value) for span in spans(text) if span.is_literal in literal
    )
    return listed(list(dict.fromkeys(map(_cut, found))), MOST_NAMED)


def _cut(text: str) -> str:
    # Cut before it is made plain: an argument may be a megabyte, and an escape is longer than what it stands for.
    text = plain(text[: 2 * SHOWN_CHARACTERS])
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."
