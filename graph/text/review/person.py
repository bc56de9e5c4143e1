"""The review of a step that a person does: a gate, and a question."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.plain_text.sanitize import escaped
from planner_executor.graph.review.content import GateContent, QuestionContent, Through
from planner_executor.graph.text.review.effects import REVERSIBLE
from planner_executor.graph.text.review.frame import WORDS_CHARACTERS, Block, Data, Prose, name, words
from planner_executor.graph.text.review.layout import entry
from planner_executor.graph.text.review.values import plain_value, text_lines, value_lines
from planner_executor.graph.words.name_list import counted, listed

MAX_CALLS = 20
"""Calls behind a gate that are shown."""
NO_ARGUMENTS = "no arguments in the plan"


def gate_blocks(gate: GateContent, asked: Mapping[str, Any]) -> Iterator[Block]:
    """Yield the question of a gate, with the results that it depends on, and the calls with effects behind it."""
    yield from _said(f"{name(gate.step)} waits for your consent:", gate.words)
    yield from _results(asked["args"])
    if gate.through:
        yield Prose("The calls with effects that it lets through:")
        # The words of a gate come first and the calls after them: a person consents to the calls.
        yield Data(tuple(line for one in gate.through[:MAX_CALLS] for line in _through(one)))
        if len(gate.through) > MAX_CALLS:
            yield Prose(f"And {counted(len(gate.through) - MAX_CALLS, 'more call')}.")
    yield Prose(
        f"If you approve it, the run goes on{_with(gate.steps)}. Reject it with a reason to have it planned again, or "
        "without one to end the run."
    )


def question_blocks(question: QuestionContent, asked: Mapping[str, Any]) -> Iterator[Block]:
    """Yield a question of the plan, with the results that it depends on."""
    yield from _said(f"{name(question.step)} asks:", str(asked["question"]))
    yield from _results({step: plain_value(value) for step, value in question.results.items()})
    yield Prose(f"Fill in answer, and the run goes on{_with(question.steps)}. Reject to stop the run.")
    if isinstance(question.answer, Mapping):
        yield Prose("The answer has to fit this JSON Schema:")
        yield Data(tuple(value_lines({"schema": dict(question.answer)}, "  ")))


def _through(one: Through) -> Iterator[str]:
    often = f", {counted(one.items, 'time')}" if one.items is not None else ""
    undo = REVERSIBLE[one.tool.reversible].removesuffix(":")
    yield from entry(f"{one.step}: {escaped(one.tool.name)} ({one.tool.effect}){often}, {undo}")
    if one.does is not None:
        yield from entry(escaped(one.does), lead="    ")
    yield from value_lines({name: plain_value(value) for name, value in one.args.items()}) or [f"    {NO_ARGUMENTS}"]


def _results(seen: Mapping[str, JsonValue]) -> Iterator[Block]:
    if seen:
        yield Prose("The results that it rests on:")
        yield Data(tuple(value_lines(seen, "  ")))


def _said(lead: str, text: str) -> Iterator[Block]:
    """Yield what the step says, whole: a text of several lines keeps them."""
    # As data, behind a margin: within prose a text of several lines could begin one that looks like ours.
    if len(text) > WORDS_CHARACTERS or "\n" in text:
        yield Prose(lead)
        yield Data(tuple(text_lines(text, "")))
    else:
        yield Prose(f"{lead} {words(text)}")


def _with(after: Sequence[str]) -> str:
    return f" with {counted(len(after), 'step')}: {listed([name(step) for step in after])}" if after else ""
