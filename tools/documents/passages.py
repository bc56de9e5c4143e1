"""Documents and passages: what can be found and cited."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

Kind = Literal["markdown", "text", "html", "pdf"]
Block = Literal["paragraph", "item", "row", "heading", "code"]

_LONGEST_PASSAGE = 1600
_BIBLIOGRAPHY = re.compile(
    r"(?:[\d.]+\s+)?(?:references|bibliography|works cited|literature(?: cited)?|further reading|external links)",
    re.IGNORECASE,
)
_ENTRY = re.compile(r"https?://|\bdoi\b|\b(?:19|20)\d\d\b|^\W*\[\w+\]", re.IGNORECASE | re.MULTILINE)
"""What an entry has: a link, a DOI, a year, or a mark such as [3]. Without one, "References" is a section of prose."""


@dataclass(frozen=True)
class Passage:
    """A piece of a document that makes sense alone, word for word.

    Line i of `text`, counted from 0, stands on line `line + i` of the source file (for a PDF: on `page`), so a
    citation can be opened and its words found there.
    """

    source: str
    text: str
    block: Block
    line: int | None = None
    page: int | None = None
    headings: tuple[str, ...] = ()

    @property
    def end_line(self) -> int | None:
        """Last line of the passage, counted from 1."""
        return None if self.line is None else self.line + self.text.count("\n")

    @property
    def is_bibliography(self) -> bool:
        """Whether the passage is an entry of a bibliography."""
        last = self.headings[-1] if self.headings else ""
        return bool(_BIBLIOGRAPHY.fullmatch(last.strip()) and _ENTRY.search(self.text))

    def to_json(self) -> dict[str, Any]:
        """Return the passage as JSON, as in the results of tools."""
        return {
            "source": self.source,
            "line": self.line,
            "end_line": self.end_line,
            "page": self.page,
            "heading": self.headings[-1] if self.headings else None,
            "block": self.block,
            "text": self.text,
        }


@dataclass(frozen=True)
class Document:
    """A file of the folder, read into passages; `size` counts lines, or pages of a PDF."""

    source: str
    kind: Kind
    title: str
    size: int
    passages: tuple[Passage, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the document's entry in `list_documents`."""
        unit = "pages" if self.kind == "pdf" else "lines"
        return {"source": self.source, "kind": self.kind, unit: self.size, "title": self.title}


def cut_long(passage: Passage) -> Iterator[Passage]:
    """Yield the passage; if it is too long, its parts in order."""
    if len(passage.text) <= _LONGEST_PASSAGE:
        yield passage
        return
    held: list[str] = []
    first = passage.line
    for offset, line in enumerate(passage.text.split("\n")):
        here = None if passage.line is None else passage.line + offset
        if held and sum(map(len, held)) + len(line) > _LONGEST_PASSAGE:
            yield from _worded(passage, held, first)
            held = []
        if not held:
            first = here
        if len(line) <= _LONGEST_PASSAGE:
            held.append(line)
        else:
            yield from (replace(passage, text=piece, line=here) for piece in _pieces(line))
    yield from _worded(passage, held, first)


def _worded(passage: Passage, lines: list[str], first: int | None) -> Iterator[Passage]:
    if any(line.strip() for line in lines):
        yield replace(passage, text="\n".join(lines), line=first)


def _pieces(line: str) -> Iterator[str]:
    """Cut one very long line behind a sentence, or else a word."""
    start = 0
    while len(line) - start > _LONGEST_PASSAGE:
        window = line[start : start + _LONGEST_PASSAGE]
        cut = window.rfind(". ") + 1 or window.rfind(" ")
        cut = cut if cut > 0 else _LONGEST_PASSAGE
        if piece := window[:cut].strip():
            yield piece
        start += cut
    if rest := line[start:].strip():
        yield rest
