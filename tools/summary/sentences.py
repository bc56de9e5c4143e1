"""A paragraph -> its sentences, word for word, each with the lines it stands on."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from planner_executor.tools.summary.normalize import Piece

_END = re.compile(r"""[.!?…]["'\u201d\u2019)\]*_`]*(?=\s+["'\u201c\u2018(\[*_`]*\.?[^\W_a-z])|[\u3002\uff01\uff1f]""")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|ca|approx|No|[Ff]ig|Mr|Mrs|Ms|Dr|Prof|St|Inc|al|[A-Z])\.$")
_LINK = re.compile(r"!?\[([^\[\]]{0,500})\]\([^()]{0,2000}\)|<?https?://\S+")
_WORDY = re.compile(r"[^\W\d_]{2,}")
_OPENING = re.compile(r"""^["'\u201c\u2018(\[*_`~]*\.?[^\W_a-z]|^[`*_]""")
_LEAST_WORDS = 5
_MOST_WORDS = 70


@dataclass(frozen=True)
class Sentence:
    """Verbatim words of a piece, line breaks as spaces; `rank` is the piece's place among those given."""

    text: str
    piece: Piece
    rank: int
    line: int | None
    end_line: int | None


def sentences_of(pieces: Iterable[Piece]) -> list[Sentence]:
    """Return all sentences in order, none twice."""
    found: dict[str, Sentence] = {}
    for rank, piece in enumerate(pieces):
        for start, end in _spans(piece.text):
            text = " ".join(piece.text[start:end].split())
            line = None if piece.line is None else piece.line + piece.text.count("\n", 0, start)
            end_line = None if line is None else line + piece.text.count("\n", start, end)
            found.setdefault(text.casefold().strip(" .*_`"), Sentence(text, piece, rank, line, end_line))
    return list(found.values())


def is_statement(sentence: Sentence) -> bool:
    """Whether a sentence makes sense alone: not a fragment, a table row, a link or a lead-in."""
    words = _LINK.sub(lambda link: link[1] or "", sentence.text).split()
    wordy = sum(bool(_WORDY.search(word)) for word in words)
    return (
        sentence.piece.block != "row"
        and _LEAST_WORDS <= len(words) <= _MOST_WORDS
        and wordy >= 0.6 * len(words)
        and _LINK.sub("", sentence.text).strip(" .*-") != ""
        and not sentence.text.rstrip("*_`").endswith((":", "…"))
        and bool(_OPENING.match(sentence.text))
        and _is_whole(sentence.text)
    )


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each sentence; no cut inside code, brackets or bold words, nor behind `e.g.`."""
    start = 0
    for match in _END.finditer(text):
        part = text[start : match.end()]
        if _is_whole(part) and not _ABBREVIATION.search(part):
            yield from _trimmed(text, start, match.end())
            start = match.end()
    yield from _trimmed(text, start, len(text))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    part = text[start:end]
    if part.strip():
        yield start + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip())


def _is_whole(text: str) -> bool:
    closed = text.count("(") <= text.count(")") and text.count("[") <= text.count("]")
    return closed and text.count("`") % 2 == 0 and text.count("**") % 2 == 0
