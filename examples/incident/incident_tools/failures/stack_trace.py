"""Python's tracebacks in log texts."""

import re
from dataclasses import dataclass

START = "Traceback (most recent call last)"

_FRAME = re.compile(r'^\s*File "(?P<file>[^"\n]{1,1000})", line (?P<line>\d{1,7}), in (?P<function>.{1,200})$')
_MARKS = re.compile(r"^\s*[~^]+\s*$")
_RAISED = re.compile(r"^(?P<exception>[A-Za-z_][\w.]{0,200})(?:: (?P<message>.*))?$")
_LIBRARY = re.compile(r"(?:^|/)(?:site-packages|dist-packages|lib/python\d[\d.]*)/|^<")
_MOST_LINES = 2_000


@dataclass(frozen=True)
class Frame:
    """One call on the way to the exception; `expression` is the part that Python underlines, if any."""

    file: str
    line: int
    function: str
    statement: str = ""
    expression: str = ""

    @property
    def is_library(self) -> bool:
        """Whether its file belongs to Python or to an installed package."""
        return _LIBRARY.search(self.file.replace("\\", "/")) is not None


@dataclass(frozen=True)
class Trace:
    """An exception and its frames, outermost first."""

    exception: str
    message: str
    frames: tuple[Frame, ...]


def traces_in(text: str) -> list[Trace]:
    """Return the tracebacks in a text in order: a chain of exceptions begins with its cause."""
    lines = text.split("\n")[:_MOST_LINES]
    starts = [number for number, line in enumerate(lines) if START in line]
    ends = [*starts[1:], len(lines)][: len(starts)]
    return [trace for start, end in zip(starts, ends, strict=True) if (trace := _trace(lines[start + 1 : end]))]


def _trace(lines: list[str]) -> Trace | None:
    frames: list[Frame] = []
    for number, line in enumerate(lines):
        if match := _FRAME.match(line):
            below = [*lines[number + 1 : number + 3], "", ""]
            frames.append(_frame(match, below[0], below[1]))
        elif frames and not line.startswith((" ", "\t")) and (raised := _RAISED.match(line)):
            return Trace(raised["exception"], raised["message"] or "", tuple(frames))
    return None


def _frame(match: re.Match[str], statement: str, marks: str) -> Frame:
    if _FRAME.match(statement) or not statement.startswith((" ", "\t")):
        statement = ""
    marked = ""
    if statement and _MARKS.match(marks):
        marked = statement[len(marks) - len(marks.lstrip()) : len(marks.rstrip())].strip()
    return Frame(match["file"], int(match["line"]), match["function"], statement.strip(), marked)
