"""The input of a summary: any nesting of texts, passages and search results -> a flat list of pieces."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from planner_executor.tools.documents.text_blocks import text_blocks
from planner_executor.tools.embedded_json import json_pieces

_DEEPEST = 20
_LONGEST_WHOLE = 4000
_NOT_PROSE = {"heading", "code"}


@dataclass(frozen=True)
class Piece:
    """Text to choose sentences from, its place, and the query that found it."""

    text: str
    source: str | None = None
    line: int | None = None
    page: int | None = None
    heading: str | None = None
    title: str | None = None
    query: str | None = None
    block: str | None = None


def normalize_pieces(given: object) -> list[Piece]:
    """Return paragraphs, list items and table rows in the order given; headings and code are left out.

    JSON inside a text is parsed too: a plan may put search results into a sentence.
    """
    return [
        part
        for piece in _flatten(given, Piece(""), _DEEPEST)
        for part in ([piece] if piece.block and len(piece.text) <= _LONGEST_WHOLE else _paragraphs(piece))
        if part.block not in _NOT_PROSE and part.text.strip()
    ]


def _flatten(given: object, around: Piece, depth: int) -> Iterator[Piece]:
    if depth == 0:
        return
    if isinstance(given, str):
        for words, value in json_pieces(given):
            if value is None:
                yield replace(around, text=words)
            else:
                yield from _flatten(value, around, depth - 1)
    elif isinstance(given, list):
        for item in given:
            yield from _flatten(item, around, depth - 1)
    elif isinstance(given, dict):
        yield from _flatten_object(given, around, depth)


def _flatten_object(given: dict[str, Any], around: Piece, depth: int) -> Iterator[Piece]:
    around = replace(around, query=_text(given.get("query")) or around.query)
    for key in ("passages", "statements", "results"):
        if isinstance(given.get(key), list):
            yield from _flatten(given[key], around, depth - 1)
            return
    text = _text(given.get("text")) or _text(given.get("snippet"))
    if text is None:
        for value in given.values():
            yield from _flatten(value, around, depth - 1)
        return
    yield Piece(
        text,
        source=_text(given.get("source")) or _text(given.get("url")),
        line=_number(given.get("line")),
        page=_number(given.get("page")),
        heading=_text(given.get("heading")),
        title=_text(given.get("title")),
        query=around.query,
        block=_text(given.get("block")) or ("paragraph" if "url" in given else None),
    )


def _paragraphs(piece: Piece) -> Iterator[Piece]:
    """Split a text like a document, so that headings and code are recognised."""
    source = piece.source or "://"  # a text of unknown origin may have markup, and web pages are read as Markdown
    markup = "://" in source or PurePosixPath(source).suffix.lower() in {".md", ".markdown"}
    lines = piece.text.replace("\r\n", "\n").split("\n")
    for passage in text_blocks("", lines, markup=markup, first_line=piece.line or 1):
        yield replace(
            piece,
            text=passage.text,
            line=passage.line if piece.line is not None else None,
            heading=passage.headings[-1] if passage.headings else piece.heading,
            block=passage.block,
        )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
