"""The frame of a review: prose of ours, and blocks of data that words from outside cannot leave.

A description is Markdown that reads well as plain text (docs/decisions/0044-one-layout-of-a-review.md). Prose has one
line for each paragraph, so that a client or a terminal wraps it at its own width; words from outside stand in it as
code. Data are fenced and laid out for 60 columns, and each line begins with a mark or a margin of ours.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from planner_executor.graph.plain_text.columns import cut_middle
from planner_executor.graph.plain_text.markdown import code, fenced, text_markdown
from planner_executor.graph.plain_text.sanitize import escaped, one_line, visible
from planner_executor.graph.text.drawing.lettering import filled
from planner_executor.graph.text.review.layout import ITEM, relaid
from planner_executor.graph.words.name_list import counted

NAME_CHARACTERS, WORDS_CHARACTERS = 60, 600
PLAN, TEXT = "plan", "text"

_PLAIN_NAME = re.compile(r"(?!www\.)[A-Za-z][A-Za-z0-9_-]*(?:\.\d+)?")
_PLAIN_LIMIT = re.compile(r"(?:(?:[A-Za-z]+|\d[\d.]*) )*(?:calls\.)?[A-Za-z][A-Za-z0-9_-]*")
_FENCE = re.compile("(`{3,})([a-z]*)")


class Prose(NamedTuple):
    """A paragraph, or an item of a list if it begins with `- `."""

    text: str


class Data(NamedTuple):
    """Lines as they are laid out; `kind` is `plan` if they draw one."""

    lines: tuple[str, ...]
    kind: str = TEXT


Block = Prose | Data


def name(text: str) -> str:
    """Return the name of a step, a tool or a run for prose: as code if it is more than letters and digits.

    >>> name("write_file"), name("demo.1"), name("server/**send**")
    ('write_file', 'demo.1', '`server/**send**`')
    """
    told = cut_middle(one_line(text), NAME_CHARACTERS)
    return told if _PLAIN_NAME.fullmatch(told) else code(told)


def limit_name(text: str) -> str:
    """Return a limit, or how it stands, for prose: as code if it is that of a tool with more than letters and digits.

    >>> limit_name("2 of 2 calls of send"), limit_name("calls._x_")
    ('2 of 2 calls of send', '`calls._x_`')
    """
    told = one_line(text)
    return told if _PLAIN_LIMIT.fullmatch(told) else code(told)


def words(text: str) -> str:
    """Return words from outside for prose, as code; long ones without their middle."""
    return code(cut_middle(one_line(text), WORDS_CHARACTERS))


def sentences(told: Iterable[str]) -> Iterator[Prose]:
    """Yield sentences of the record as a list; each begins with words of ours or the id of a step."""
    yield from (Prose(ITEM + sentence(text)) for text in told)


def sentence(text: str) -> str:
    """Return words of the record that end a sentence of ours; no word from outside in them is markup."""
    return text_markdown(escaped(text))


def to_markdown(blocks: Iterable[Block]) -> str:
    """Return the description of these blocks."""
    return _apart(
        (block, block.text if isinstance(block, Prose) else fenced("\n".join(block.lines), block.kind))
        for block in blocks
    )


def to_blocks(description: str) -> Iterator[Block]:
    """Yield the blocks of a description, also of one of an earlier version, which is a single fence."""
    lines = iter(description.split("\n"))
    for line in lines:
        if (fence := _FENCE.fullmatch(line)) is not None:
            inner = []
            for within in lines:
                # Only as many marks as began it end a fence, and `fenced` takes more than any line of the data has.
                if within == fence[1]:
                    break
                inner.append(within)
            yield Data(tuple(inner), fence[2])
        elif line:
            yield Prose(line)


def to_text(blocks: Iterable[Block], width: int | None = None) -> str:
    """Return the blocks as plain text; prose takes at most `width` columns, of a longer word the middle is left out."""
    return visible(
        _apart(
            (block, "\n".join(block.lines if isinstance(block, Data) else _wrapped(block.text, width)))
            for block in blocks
        )
    )


def plain_description(description: str, width: int | None = None) -> str:
    """Return a description as plain text."""
    return to_text(to_blocks(description), width)


def redrawn(blocks: Iterable[Block], drawing: str) -> Iterator[Block]:
    """Yield the blocks with another drawing of the plan."""
    for block in blocks:
        yield Data(tuple(drawing.split("\n")), PLAN) if is_plan(block) else block


def widened(blocks: Iterable[Block], width: int) -> Iterator[Block]:
    """Yield the blocks with their data laid out for another width; a lone fence, of an earlier version, stays."""
    told = list(blocks)
    # The whole of an earlier description is one fence, whose lines were not laid out to be read back.
    is_framed = any(isinstance(block, Prose) for block in told)
    for one in told:
        yield Data(relaid(one.lines, width)) if is_framed and isinstance(one, Data) and one.kind == TEXT else one


def is_plan(block: Block) -> bool:
    """Whether the block is the drawing of the plan."""
    return isinstance(block, Data) and block.kind == PLAN


def more(shown: Sequence[str], most: int, what: str) -> list[str]:
    """Return at most so many entries, and the number of those left out of the middle."""
    left = len(shown) - most
    if left <= 0:
        return list(shown)
    return [
        *shown[: most - most // 3],
        f"{ITEM}... and {counted(left, f'more {what}')} here",
        *shown[len(shown) - most // 3 :],
    ]


def _wrapped(text: str, width: int | None) -> list[str]:
    if width is None:
        return [text]
    if not text.startswith(ITEM):
        return filled(text, width)
    lines = filled(text.removeprefix(ITEM), width - len(ITEM))
    return [ITEM + lines[0], *(" " * len(ITEM) + line for line in lines[1:])]


def _apart(told: Iterable[tuple[Block, str]]) -> str:
    """Join the texts of blocks: the items of a list by a line break, all others by an empty line."""
    text, before = "", None
    # A client folds two paragraphs without an empty line into one; items of a list stay apart.
    for block, words_of_it in told:
        if before is not None:
            text += "\n" if _is_item(before) and _is_item(block) else "\n\n"
        text, before = text + words_of_it, block
    return text


def _is_item(block: Block) -> bool:
    return isinstance(block, Prose) and block.text.startswith(ITEM)
