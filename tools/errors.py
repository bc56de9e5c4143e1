"""Every error the tools raise on purpose.

ToolException                (LangChain's)
└── ToolError
    ├── NothingHappened
    │   ├── PathRefused          .path .folder .reason
    │   ├── NoSuchFile           .path .there
    │   ├── FileNotReadable      .path .reason
    │   ├── FileNotWritten       .path .reason
    │   ├── ReportNotWritten     .path .reason
    │   ├── UrlRefused           .url .reason
    │   ├── NotConnected         .url .reason
    │   ├── RequestRejected      .url .answered .said
    │   ├── McpServerUnavailable .server .reason
    │   └── McpToolChanged       .server .tool .is_gone
    ├── WorkStopped              .reason
    ├── QueryRefused             .path .query .reason
    ├── CodeFailed               .reason
    ├── ExpressionRefused        .expression .reason
    ├── NoDocuments              .folder .skipped
    ├── DocumentNotReadable      .source .reason
    ├── NothingFound             .words .documents
    ├── NothingToSummarise
    ├── WebSearchFailed          .query .reason .advice
    ├── HostNotUsable            .origin .reason
    ├── RequestFailed            .url .reason
    ├── AnsweredWithError        .url .answered .advice
    ├── PageNotReadable          .url .reason
    ├── LogNotFound              .path .rotated .others
    ├── LogNotReadable           .source .reason
    ├── TimeNotUnderstood        .text
    ├── NoErrorsInLogs           .records
    ├── SourceNotReadable        .path .reason
    ├── McpConfigInvalid         .source .reason
    ├── McpToolFailed            .server .tool .reason
    └── McpCallLost              .server .tool

A message names the thing and says what to do next: it is what a replanner reads.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from langchain_core.tools import ToolException

from tools.url_display import shown_url


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


class NoSuchFile(NothingHappened):
    """There is no file at a path; `there` are names that may have been meant."""

    def __init__(self, path: str, there: Sequence[str]) -> None:
        self.path = path
        self.there = tuple(there)
        others = f"there are {', '.join(map(repr, there))}" if there else "there is none like it either"
        super().__init__(f"there is no file {path!r}; {others}")


class FileNotReadable(NothingHappened):
    """A file cannot be opened, is too large, or is not of the kind that is read here."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"cannot read {path!r}: {reason}")


class FileNotWritten(NothingHappened):
    """A file was neither written nor moved; what was there before is unchanged."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path!r} was not written, nothing changed: {reason}")


class ReportNotWritten(NothingHappened):
    """A report could not be stored; the file that was there before, if any, is unchanged."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"report {path!r} was not written, nothing changed: {reason}")


class UrlRefused(NothingHappened):
    """An address that must not be asked: what it is, where it leads, or nobody allowed it."""

    def __init__(self, url: str, reason: str) -> None:
        self.url = url
        self.reason = reason
        super().__init__(f"{shown_url(url)} is refused: {reason}")


class NotConnected(NothingHappened):
    """There is no way to a host; nothing was sent."""

    def __init__(self, url: str, reason: str) -> None:
        self.url = url
        self.reason = reason
        super().__init__(f"{shown_url(url)} cannot be reached: {reason}; check the address or use another source")


class RequestRejected(NothingHappened):
    """A server said that it did not do what it was asked."""

    def __init__(self, url: str, answered: str, said: str) -> None:
        self.url = url
        self.answered = answered
        self.said = said
        super().__init__(f"{shown_url(url)} rejected the request with {answered}" + (f": {said}" if said else ""))


class WorkStopped(ToolError):
    """Work in a process of its own met its bound of time or memory, or the process died."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"stopped: {reason}; ask for less, or split the file")


class QueryRefused(ToolError):
    """A query is not one that may be asked, or the file has no answer to it."""

    def __init__(self, path: str, query: str, reason: str) -> None:
        self.path = path
        self.query = query
        self.reason = reason
        shown = query if len(query) <= 200 else f"{query[:200]}…"
        super().__init__(f"{path!r} has no answer to {shown!r}: {reason}")


class CodeFailed(ToolError):
    """Python code could not be run, raised an exception, or gave a value that JSON does not have."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"the code failed: {reason}")


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

    def __init__(self, query: str, reason: str, advice: str) -> None:
        self.query = query
        self.reason = reason
        self.advice = advice
        super().__init__(f"web search for {query!r} did not answer ({reason}); {advice}")


class HostNotUsable(ToolError):
    """An entry of a list of allowed hosts does not say which host, or how."""

    def __init__(self, origin: str, reason: str) -> None:
        self.origin = origin
        self.reason = reason
        super().__init__(f"allowed host {shown_url(origin)!r}: {reason}; write it like 'https://api.example.org'")


class RequestFailed(ToolError):
    """A request was sent, or a part of it, and no usable answer came back."""

    def __init__(self, url: str, reason: str) -> None:
        self.url = url
        self.reason = reason
        super().__init__(f"{shown_url(url)} gave no usable answer: {reason}")


class AnsweredWithError(ToolError):
    """A server answered with a status that says no."""

    def __init__(self, url: str, answered: str, advice: str) -> None:
        self.url = url
        self.answered = answered
        self.advice = advice
        super().__init__(f"{shown_url(url)} answered {answered}: {advice}")


class PageNotReadable(ToolError):
    """What a server sent holds no text to read."""

    def __init__(self, url: str, reason: str) -> None:
        self.url = url
        self.reason = reason
        super().__init__(f"{shown_url(url)} is no page to read: {reason}")


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


class McpConfigInvalid(ToolError):
    """A configuration of MCP servers cannot be read or meant."""

    def __init__(self, source: str, reason: str) -> None:
        self.source = source
        self.reason = reason
        super().__init__(f"MCP servers in {source}: {reason}")


class McpServerUnavailable(NothingHappened):
    """An MCP server cannot be started or reached, or does not answer; no tool of it was called."""

    def __init__(self, server: str, reason: str) -> None:
        self.server = server
        self.reason = reason
        super().__init__(f"MCP server {server!r} cannot be used: {reason}")


class McpToolChanged(NothingHappened):
    """An MCP server offers a tool no longer as it did when its tools were listed; the tool was not called."""

    def __init__(self, server: str, tool: str, is_gone: bool) -> None:
        self.server = server
        self.tool = tool
        self.is_gone = is_gone
        change = "is no longer offered" if is_gone else "has changed its arguments or its effect"
        super().__init__(
            f"tool {tool!r} of MCP server {server!r} {change} and was not called; "
            "start again, so that it is listed, planned with and approved as it is now"
        )


class McpToolFailed(ToolError):
    """An MCP server says that a call failed, or its answer cannot be read; `reason` is the server's own words."""

    def __init__(self, server: str, tool: str, reason: str) -> None:
        self.server = server
        self.tool = tool
        self.reason = reason
        super().__init__(f"{tool!r} of MCP server {server!r} failed: {reason}")


class McpCallLost(ToolError):
    """An MCP server ended in the middle of a call, which may have had its effect."""

    def __init__(self, server: str, tool: str) -> None:
        self.server = server
        self.tool = tool
        super().__init__(
            f"MCP server {server!r} ended while it worked on {tool!r}, which may have had its effect; "
            "the server is started again when it is next needed"
        )
