"""The review of a step that a person does: a gate, and a question."""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from planner_executor.graph.plan.schema import Step
from planner_executor.graph.text.review.frame import WORDS_CHARACTERS, Block, Data, Prose, name, to_markdown, words
from planner_executor.graph.text.review.values import text_lines, value_lines
from planner_executor.graph.words.name_list import counted, listed


def gate_description(step: Step, seen: Mapping[str, JsonValue], after: Sequence[str] = ()) -> str:
    """Return the question of a gate, with the results that it depends on; the steps `after` wait for it."""
    return to_markdown(_gate(step, seen, after))


def question_description(step: Step, seen: Mapping[str, JsonValue], after: Sequence[str] = ()) -> str:
    """Return a question of the plan, with the results that it depends on; the steps `after` wait for the answer."""
    return to_markdown(_question(step, seen, after))


def _gate(step: Step, seen: Mapping[str, JsonValue], after: Sequence[str]) -> Iterator[Block]:
    yield from _said(f"{name(step.id)} waits for your consent:", str(step.gate))
    yield from _results(seen)
    yield Prose(
        f"If you approve it, the run goes on{_with(after)}. Reject it with a reason to have it planned again, or "
        "without one to end the run."
    )


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
