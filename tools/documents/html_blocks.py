"""HTML -> passages whose line numbers point at the source."""

from collections.abc import Iterator
from html import unescape

from planner_executor.tools.documents.html_tokens import html_tokens
from planner_executor.tools.documents.passages import Block, Passage, cut_long

_UNSEEN = {"script", "style", "template", "noscript", "svg", "nav", "iframe"}
_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
_OTHER_BLOCKS = """
address article aside blockquote body br caption dd details div dl dt figcaption figure footer form head header
hr html li main ol p pre section summary table tbody tfoot thead title tr ul
"""
_BLOCKS = _HEADINGS | set(_OTHER_BLOCKS.split())
_KIND: dict[str, Block] = {"li": "item", "dd": "item", "tr": "row", "pre": "code"}


def html_blocks(source: str, text: str) -> tuple[str | None, Iterator[Passage]]:
    """Return the title, or None, and the passages of a page in order."""
    reader = _Reader(source)
    for kind, value, line in html_tokens(text):
        if kind == "text":
            reader.take_words(value, line)
        elif kind == "start":
            reader.start_tag(value, line)
        else:
            reader.end_tag(value)
    reader.end_block("")
    return reader.title, (part for passage in reader.found for part in cut_long(passage))


class _Reader:
    """Collects words by source line until a block ends."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.title: str | None = None
        self.found: list[Passage] = []
        self.headings: list[tuple[int, str]] = []
        self.block: str = ""
        self.unseen: list[str] = []
        self.held: dict[int, list[str]] = {}

    def start_tag(self, tag: str, line: int) -> None:
        if tag in _UNSEEN:
            self.unseen.append(tag)
        if tag in _BLOCKS:
            self.end_block(tag)
        elif tag in {"td", "th"}:
            self._hold(line, " ")

    def end_tag(self, tag: str) -> None:
        if tag in self.unseen:
            del self.unseen[self.unseen.index(tag) :]
        if tag in _BLOCKS:
            self.end_block("")

    def take_words(self, words: str, first: int) -> None:
        if not self.unseen:
            for line, piece in enumerate(words.split("\n"), first):
                self._hold(line, unescape(piece))

    def _hold(self, line: int, piece: str) -> None:
        self.held.setdefault(line, []).append(piece)

    def end_block(self, next_block: str) -> None:
        """Make a passage of the words held, and start the next block."""
        held = {line: words for line, pieces in self.held.items() if (words := " ".join("".join(pieces).split()))}
        block, self.block, self.held = self.block, next_block, {}
        if not held:
            return
        first, last = min(held), max(held)
        # Lines without words stay as empty ones: `cut_long` counts the places of its parts from the first line.
        text = "\n".join(held.get(line, "") for line in range(first, last + 1))
        if block == "title":
            self.title = self.title or " ".join(text.split())
        elif block in _HEADINGS:
            self._head(first, int(block[1]), text)
        else:
            headings = tuple(title for _, title in self.headings)
            self.found.append(Passage(self.source, text, _KIND.get(block, "paragraph"), first, None, headings))

    def _head(self, line: int, level: int, text: str) -> None:
        outer = [(depth, title) for depth, title in self.headings if depth < level]
        above = tuple(title for _, title in outer)
        self.found.append(Passage(self.source, text, "heading", line, None, above))
        self.headings = [*outer, (level, " ".join(text.split()))]
