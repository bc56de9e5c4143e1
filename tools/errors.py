"""Every error the tools raise on purpose.

ToolException                (LangChain's)
└── ToolError
    ├── NothingHappened
    │   ├── PathRefused          .path .folder .reason
    │   └── ReportNotWritten     .path .reason
    ├── ExpressionRefused        .expression .reason
    ├── NoDocuments              .folder .skipped
    ├── DocumentNotReadable      .source .reason
    ├── NothingFound             .words .documents
    ├── NothingToSummarise
    ├── WebSearchFailed          .query .reason
    ├── LogNotFound              .path .rotated .others
    ├── LogNotReadable           .source .reason
    ├── TimeNotUnderstood        .text
    ├── NoErrorsInLogs           .records
    └── SourceNotReadable        .path .reason

A message names the thing and says what to do next: it is what a replanner reads.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from langchain_core.tools import ToolException


class ToolError(ToolException):
    """Base class: catch this to catch every deliberate error of the tools."""


class NothingHappened(ToolError):
    """The effect certainly did not happen.

    A tool whose calls must not be repeated raises this, and nothing else, when a retry is harmless: every other
    error of such a tool leaves open whether its effect took place, and a person is asked.
    """


class PathRefused(NothingHappened):
    """A path leads out of the one folder that the tool may use, or cannot name a file there."""

    def __init__(self, path: str, folder: Path, reason: str) -> None:
        self.path = path
        self.folder = folder
        self.reason = reason
        super().__init__(f"path {path!r} {reason}; give a relative path inside {str(folder)!r}, such as 'notes.md'")


class ReportNotWritten(NothingHappened):
    """A report could not be stored; the file that was there before, if any, is unchanged."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"report {path!r} was not written, nothing changed: {reason}")


class ExpressionRefused(ToolError):
    """An expression is not plain arithmetic, has no value, or is too large to compute."""

    def __init__(self, expression: str, reason: str) -> None:
        self.expression = expression
        self.reason = reason
        shown = expression if len(expression) <= 80 else f"{expression[:80]}…"
        super().__init__(f"cannot compute {shown!r}: {reason}")


class NoDocuments(ToolError):
    """The documents folder is missing or holds nothing that can be read."""

    def __init__(self, folder: Path, accepted: tuple[str, ...], skipped: Mapping[str, str]) -> None:
        self.folder = folder
        self.skipped = dict(skipped)
        state = "holds no readable document" if folder.is_dir() else "is not a folder"
        few = "; ".join(f"{source}: {reason}" for source, reason in list(skipped.items())[:5])
        super().__init__(
            f"documents folder {str(folder)!r} {state}; put files ending in {', '.join(accepted)} there"
            + (f" (skipped {len(skipped)}: {few})" if few else "")
        )


class DocumentNotReadable(ToolError):
    """One document of the folder cannot be read, or not at that place."""

    def __init__(self, source: str, reason: str) -> None:
        self.source = source
        self.reason = reason
        super().__init__(f"cannot read document {source!r}: {reason}")


class NothingFound(ToolError):
    """No document holds any word of a query."""

    def __init__(self, words: tuple[str, ...], documents: int) -> None:
        self.words = words
        self.documents = documents
        tried = f"none of the words {', '.join(words)} occurs" if words else "the query holds no word to look for"
        super().__init__(f"{tried} in the {documents} documents looked through; search with other words")


class NothingToSummarise(ToolError):
    """The input holds no sentence."""

    def __init__(self, given: str) -> None:
        super().__init__(f"nothing to summarise in {given}; give a text, passages, or results of search_documents")


class WebSearchFailed(ToolError):
    """The web search gave no answer."""

    def __init__(self, query: str, reason: str) -> None:
        self.query = query
        self.reason = reason
        super().__init__(
            f"web search for {query!r} did not answer ({reason}); search local documents instead or try again later"
        )


class LogNotFound(ToolError):
    """No log fits a path or pattern; what is there instead is named, rotated copies first."""

    def __init__(self, path: str, rotated: Mapping[str, str], others: Sequence[str]) -> None:
        self.path = path
        self.rotated = dict(rotated)
        self.others = tuple(others)
        copies = ", ".join(f"{source} ({period})" for source, period in rotated.items())
        said = [f"no log fits {path!r}"]
        said += [f"rotated copies of it are there: {copies}"] if copies else []
        said += [f"other logs: {', '.join(others[:12])}"] if others else []
        super().__init__("; ".join(said) if len(said) > 1 else f"{said[0]}, and there are no others in the folder")


class LogNotReadable(ToolError):
    """A log is damaged, no text, or cannot be opened."""

    def __init__(self, source: str, reason: str) -> None:
        self.source = source
        self.reason = reason
        super().__init__(f"cannot read log {source!r}: {reason}")


class TimeNotUnderstood(ToolError):
    """A bound of time is not written as one."""

    def __init__(self, text: str) -> None:
        self.text = text
        super().__init__(f"{text!r} is no time; write it like 2026-09-15T08:14:07Z")


class NoErrorsInLogs(ToolError):
    """None of the records given tells of an error."""

    def __init__(self, records: int) -> None:
        self.records = records
        super().__init__(f"none of the {records} records is an error; read other logs, rotated ones, or another time")


class SourceNotReadable(ToolError):
    """A source file cannot be read, or has no such line."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"cannot read source {path!r}: {reason}")
