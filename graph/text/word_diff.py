"""Two texts side by side, word by word; long stretches that are the same in both are folded."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import takewhile
from typing import Literal

WORDS = re.compile(r"\s+|\w+|[^\w\s]")
MOST = 400
"""Words that are compared beyond what both texts begin and end with; of more, the whole stretch has changed."""
NEAR, FOLDED = 12, 40
"""Words that stay beside a change, and how many in a row are folded without these."""


@dataclass(frozen=True)
class Piece:
    """A stretch of a text: the same in both, changed, or the same and folded."""

    kind: Literal["same", "changed", "folded"]
    text: str


def word_diff(before: str, after: str) -> tuple[Sequence[Piece], Sequence[Piece]]:
    """Return both texts in pieces, which put together are the texts.

    >>> word_diff("pay 12 EUR", "pay 15 EUR")[1]
    [Piece(kind='same', text='pay '), Piece(kind='changed', text='15'), Piece(kind='same', text=' EUR')]
    """
    was, now = WORDS.findall(before), WORDS.findall(after)
    # The comparison takes the square of the words, so what both texts begin and end with is taken off first.
    head = _common(was, now)
    tail = _common(was[head:][::-1], now[head:][::-1])
    old, new = was[head : len(was) - tail], now[head : len(now) - tail]
    if max(len(old), len(new)) > MOST:
        same: list[tuple[int, int, int]] = []
    else:
        # Without `autojunk` words that occur often, such as blanks, count too: else a long text would be one change.
        matcher = SequenceMatcher(None, old, new, autojunk=False)
        same = [(one.a, one.b, one.size) for one in matcher.get_matching_blocks()]
    # The end of both texts is a match of size 0 or more, so what differs before it is a piece as well.
    same = [(0, 0, head), *((a + head, b + head, size) for a, b, size in same)]
    same.append((len(was) - tail, len(now) - tail, tail))
    return (
        list(_pieces(was, [(a, size) for a, _, size in same])),
        list(_pieces(now, [(b, size) for _, b, size in same])),
    )


def _common(was: Sequence[str], now: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(was, now, strict=False)))


def _pieces(words: Sequence[str], same: Sequence[tuple[int, int]]) -> Iterator[Piece]:
    """Yield a text in pieces; `same` has the start and the length of what is the same."""
    at = 0
    for start, size in same:
        if start > at:
            yield Piece("changed", "".join(words[at:start]))
        at = start + size
        yield from _same(words[start:at], is_first=start == 0, is_last=at == len(words))


def _same(words: Sequence[str], *, is_first: bool, is_last: bool) -> Iterator[Piece]:
    # At the very beginning or end of a text there is a change on one side alone, so no words stay on the other.
    left, right = 0 if is_first else NEAR, len(words) - (0 if is_last else NEAR)
    if right - left < FOLDED:
        parts: list[tuple[Literal["same", "folded"], Sequence[str]]] = [("same", words)]
    else:
        parts = [("same", words[:left]), ("folded", words[left:right]), ("same", words[right:])]
    yield from (Piece(kind, "".join(part)) for kind, part in parts if part)
