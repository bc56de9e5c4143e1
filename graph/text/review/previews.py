"""What tools say that calls would do: their words, behind a margin, never ours."""

from collections.abc import Iterator, Sequence
from difflib import unified_diff

from planner_executor.graph.plain_text.sanitize import escaped
from planner_executor.graph.review.content import PreviewContent
from planner_executor.graph.text.review.frame import Block, Data, Prose, name
from planner_executor.graph.text.review.layout import entry
from planner_executor.graph.text.review.values import text_lines
from planner_executor.graph.words.name_list import counted, listed

SAID = "Previews, in the words of the tools as of when they were made; they may be wrong:"
CHANGED = "This differs from the preview that you were shown:"


def preview_blocks(previews: Sequence[PreviewContent], others: Sequence[str] = ()) -> Iterator[Block]:
    """Yield what tools say that calls would do; of those in `others` there is no preview."""
    if previews:
        yield Prose(SAID)
        yield Data(tuple(line for one in previews for line in _preview(one)))
    for one in previews:
        # After all of them: a difference is read with the preview itself in view.
        if one.was is not None:
            yield Prose(CHANGED)
            yield Data(tuple(text_lines(_difference(one.was, one.text or one.none or ""))))
    if others:
        yield Prose(f"No preview of {listed([name(place) for place in others])}.")


def _preview(one: PreviewContent) -> Iterator[str]:
    tool = escaped(one.tool)
    if one.text is None:
        yield from entry(f"{one.place}: no preview by {tool}: {escaped(one.none or '')}")
        return
    yield from entry(f"{one.place}: {tool} says:")
    yield from text_lines(one.text)
    if one.length is not None:
        yield from entry(f"and {counted(one.length - len(one.text), 'character')} more", lead="    ")


def _difference(was: str, now: str) -> str:
    lines = unified_diff(was.split("\n"), now.split("\n"), "shown", "now", lineterm="", n=1)
    return "\n".join(lines) or "the part that is not shown here differs"
