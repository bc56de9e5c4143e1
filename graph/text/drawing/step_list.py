"""A plan on a narrow terminal: a list, with an entry of a few lines for each step."""

from collections.abc import Iterator, Mapping

from planner_executor.graph.plain_text.columns import cut_middle
from planner_executor.graph.plan.schedule import Waits
from planner_executor.graph.text.drawing.labels import some
from planner_executor.graph.text.drawing.lettering import word_lines
from planner_executor.graph.text.drawing.statuses import LOOKS
from planner_executor.graph.text.drawing.step_words import StepWords

MARGIN = "    "
OBJECTIVE_LINES, CALL_LINES = 4, 3


def step_list(steps: list[StepWords], waits: Waits, words: Mapping[str, str | None], width: int) -> list[str]:
    """Return the entries of the steps, in lines of at most `width` columns that break between words."""
    return [line for step in steps for line in _entry(step, waits[step.id], words[step.id], width)]


def _entry(step: StepWords, befores: tuple[str, ...], word: str | None, width: int) -> Iterator[str]:
    mark, status = (LOOKS[word].mark, f": {word}") if word else ("●", "")
    yield f"{mark} {cut_middle(step.id, width - 2 - len(status))}{status}"
    room = width - len(MARGIN)
    for line in word_lines(step.objective, room, OBJECTIVE_LINES):
        yield MARGIN + line
    for line in word_lines(step.call, room, CALL_LINES):
        yield MARGIN + line
    if befores:
        names = [cut_middle(name, room - len("after , +1000")) for name in befores]
        yield f"{MARGIN}after {some(names, room - len('after '))}"
