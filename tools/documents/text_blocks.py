"""Lines of Markdown or plain text -> passages."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from planner_executor.tools.documents.passages import Block, Passage, cut_long

_HEADING = re.compile(r"^ {0,3}(#{1,6})(?:\s|$)")
_UNDERLINE = re.compile(r"^ {0,3}(=+|-+|~+)\s*$")
_ITEM = re.compile(r"^(\s*)([-*+•]|(\d{1,9})[.)])\s+(?:\[[ xX]\]\s+)?(?=\S)")
_QUOTE = re.compile(r"^(?: {0,3}> ?)+")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})([^`]*)$")
_LINK_TARGET = re.compile(r"^ {0,3}\[[^\]]+\]:\s*\S+")
_TAGS_ONLY = re.compile(r"^\s*(?:</?[A-Za-z][^<>]*>\s*)+$")
_FRONT_MATTER_LINES = 100


def text_blocks(source: str, lines: Iterable[str], *, markup: bool, first_line: int = 1) -> Iterator[Passage]:
    """Yield the passages of a text in order: paragraphs, list items, table rows, code.

    Args:
        source: The name that goes into each passage.
        lines: Without line ends.
        markup: Whether the text is Markdown; in plain text `#` and indentation mean nothing.
        first_line: The number of the first line in its file.
    """
    reader = _Reader(source, markup=markup)
    numbered = list(enumerate(lines, first_line))
    for number, line in numbered[_front_matter([line for _, line in numbered]) if markup else 0 :]:
        reader.take(number, line)
    for passage in reader.end():
        yield from cut_long(passage)


def _front_matter(lines: list[str]) -> int:
    """Return how many lines of metadata stand before a Markdown text."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    ends = (n for n, line in enumerate(lines[1:_FRONT_MATTER_LINES], 2) if line.rstrip() in {"---", "..."})
    return next(ends, 0)


def _is_ruler(signs: str) -> bool:
    one_sign = len(signs) >= 3 and len(set(signs)) == 1 and signs[0] in "-*_=~"
    return one_sign or {"|", "-"} <= set(signs) <= set("|:-+")


@dataclass
class _Reader:
    """Reads line by line; one block is open at a time."""

    source: str
    markup: bool
    found: list[Passage] = field(default_factory=list)
    headings: list[tuple[int, str]] = field(default_factory=list)
    bare_heading: Passage | None = None
    block: Block | None = None
    held: list[str] = field(default_factory=list)
    first: int = 0
    fence: str | None = None
    in_comment: bool = False
    in_list: bool = False

    def take(self, number: int, raw: str) -> None:
        if self.markup and (self._in_fence(number, raw) or self._in_comment(raw)):
            return
        line = _QUOTE.sub("", raw) if self.markup else raw
        if not line.strip() or self._is_heading(number, line) or self._is_dressing(line):
            self._close()
        elif self.markup and line.lstrip().startswith("|"):
            self._open(number, line, "row")
            self._close()
        elif item := self._item(line):
            self._open(number, line[item.end() :], "item")
            self.in_list = True
        elif self.block is None:
            self._start(number, line)
        else:
            self.held.append(line)

    def end(self) -> list[Passage]:
        self._close()
        self._keep_bare_heading()
        return self.found

    def _in_fence(self, number: int, line: str) -> bool:
        match = _FENCE.match(line)
        if self.fence is not None:
            if match and match[1].startswith(self.fence) and not match[2].strip():
                self.fence = None
                self._close()
            else:
                self.held.append(line)
            return True
        if match:
            self.fence = match[1]
            self._open(number + 1, None, "code")
        return match is not None

    def _in_comment(self, line: str) -> bool:
        if not self.in_comment and not line.lstrip().startswith("<!--"):
            return False
        self._close()
        self.in_comment = "-->" not in line
        return True

    def _is_heading(self, number: int, line: str) -> bool:
        if self.markup and (match := _HEADING.match(line)):
            self._close()
            self._head(number, len(match[1]), line[match.end() :].strip().rstrip("#").rstrip())
            return True
        # In Markdown the whole paragraph before it is the title, and tildes underline nothing; plain text knows one
        # line only.
        underlined = self.block == "paragraph" and (self.markup or len(self.held) == 1) and _UNDERLINE.match(line)
        if underlined and (not self.markup or underlined[1][0] != "~"):
            title, first, self.held = " ".join(part.strip() for part in self.held), self.first, []
            self._head(first, 1 if underlined[1][0] == "=" else 2, title)
        return bool(underlined)

    def _is_dressing(self, line: str) -> bool:
        if _is_ruler("".join(line.split())):
            return True
        return self.markup and bool(_LINK_TARGET.match(line) or _TAGS_ONLY.match(line))

    def _head(self, number: int, level: int, title: str) -> None:
        if not self.headings or level <= self.headings[-1][0]:
            self._keep_bare_heading()
        self.in_list = False
        outer = [(depth, text) for depth, text in self.headings if depth < level]
        above = tuple(text for _, text in outer)
        self.headings = [*outer, (level, title)] if title else outer
        self.bare_heading = Passage(self.source, title, "heading", number, None, above) if title else None

    def _keep_bare_heading(self) -> None:
        """Make a passage of a heading that nothing stands below; any other is found with what does."""
        if self.bare_heading:
            self.found.append(self.bare_heading)
        self.bare_heading = None

    def _item(self, line: str) -> re.Match[str] | None:
        """Return the sign of a list's item, and what stands before it; a number within a paragraph is none."""
        match = _ITEM.match(line)
        if match is None or (len(match[1]) >= 4 and not self.in_list and self.markup):
            return None
        # As in CommonMark only a list from 1 on may begin within a paragraph: a line may happen to begin with a year.
        return None if self.block == "paragraph" and match[3] not in (None, "1") else match

    def _start(self, number: int, line: str) -> None:
        indented = line.startswith(("    ", "\t"))
        if not indented:
            self.in_list = False
        self._open(number, line, "code" if self.markup and indented and not self.in_list else "paragraph")

    def _open(self, number: int, line: str | None, block: Block) -> None:
        self._close()
        self.block, self.first, self.held = block, number, [] if line is None else [line]

    def _close(self) -> None:
        block, held = self.block, self.held
        self.block, self.held = None, []
        if block is None or not any(line.strip() for line in held):
            return
        text = "\n".join(line.rstrip() if block == "code" else line.strip() for line in held)
        headings = tuple(title for _, title in self.headings)
        self.found.append(Passage(self.source, text, block, self.first, None, headings))
        self.bare_heading = None
