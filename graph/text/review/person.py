"""The review of a step that a person does: a gate, and a question."""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from planner_executor.graph.plain_text.sanitize import escaped
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.review.content import Shown, Through, Whole
from planner_executor.graph.text.review.frame import WORDS_CHARACTERS, Block, Data, Prose, name, to_markdown, words
from planner_executor.graph.text.review.layout import entry
from planner_executor.graph.text.review.values import text_lines, value_lines
from planner_executor.graph.words.name_list import counted, listed

MAX_CALLS = 20
"""Calls behind a gate that are shown."""


def gate_description(
    step: Step, seen: Mapping[str, JsonValue], after: Sequence[str] = (), through: Sequence[Through] = ()
) -> str:
    """Return the question of a gate, with the results that it depends on; the steps `after` wait for it.

    `through` are the calls with effects behind it.
    """
    return to_markdown(_gate(step, seen, after, through))


def question_description(step: Step, seen: Mapping[str, JsonValue], after: Sequence[str] = ()) -> str:
    """Return a question of the plan, with the results that it depends on; the steps `after` wait for the answer."""
    return to_markdown(_question(step, seen, after))


def _gate(
    step: Step, seen: Mapping[str, JsonValue], after: Sequence[str], through: Sequence[Through]
) -> Iterator[Block]:
    yield from _said(f"{name(step.id)} waits for your consent:", str(step.gate))
    yield from _results(seen)
    if through:
        yield Prose("The calls with effects that it lets through:")
        yield Data(tuple(line for one in through[:MAX_CALLS] for line in _through(one)))
        if len(through) > MAX_CALLS:
            yield Prose(f"And {counted(len(through) - MAX_CALLS, 'more call')}.")
    yield Prose(
        f"If you approve it, the run goes on{_with(after)}. Reject it with a reason to have it planned again, or "
        "without one to end the run."
    )


def _through(one: Through) -> Iterator[str]:
    often = f", {counted(one.items, 'time')}" if one.items is not None else ""
    yield from entry(f"{one.step}: {escaped(one.tool.name)} ({one.tool.effect}){often}")
    if one.does is not None:
        yield from entry(escaped(one.does), lead="    ")
    yield from value_lines({name: _whole(value) for name, value in one.args.items()}) or [
        "    no arguments in the plan"
    ]


def _whole(value: Shown) -> JsonValue:
    return value.value if isinstance(value, Whole) else f"{value.preview} ... {value.length} bytes in all"


def _question(step: Step, seen: Mapping[str, JsonValue], after: Sequence[str]) -> Iterator[Block]:
    yield from _said(f"{name(step.id)} asks:", str(step.ask))
    yield from _results(seen)
    yield Prose(f"Fill in answer, and the run goes on{_with(after)}. Reject to stop the run.")
    if isinstance(step.output, Mapping):
        yield Prose("The answer has to fit this JSON Schema:")
        yield Data(tuple(value_lines({"schema": dict(step.output)}, "  ")))


def _results(seen: Mapping[str, JsonValue]) -> Iterator[Block]:
    if seen:
        yield Prose("The results that it rests on:")
        yield Data(tuple(value_lines(seen, "  ")))


def _said(lead: str, text: str) -> Iterator[Block]:
    """Yield what the step says, whole: a text of several lines keeps them."""
    if len(text) > WORDS_CHARACTERS or "\n" in text:
        yield Prose(lead)
        yield Data(tuple(text_lines(text, "")))
    else:
        yield Prose(f"{lead} {words(text)}")


def _with(after: Sequence[str]) -> str:
    return f" with {counted(len(after), 'step')}: {listed([name(step) for step in after])}" if after else ""
