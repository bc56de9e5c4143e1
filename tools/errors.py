"""Every error that the tools raise on purpose.

ToolException                (LangChain's)
└── ToolError
    ├── NothingHappened
    │   ├── PathRefused          .path .folder .reason
    │   ├── NoSuchFile           .path .similar
    │   ├── FileNotReadable      .path .reason
    │   ├── FileNotWritten       .path .reason
    │   ├── UrlRefused           .url .reason
    │   ├── NotConnected         .url .reason             (Transient too)
    │   └── McpUnavailable       .server .reason
    │       └── McpUnreachable                            (Transient too)
    ├── Transient
    ├── McpCallFailed            .server .tool .reason
    │   └── McpConnectionLost                             (Transient too)
    ├── RequestFailed            .url .reason
    │   └── ServerBusy                                    (Transient too)
    ├── SourceNotReadable        .source .reason
    ├── NothingFound
    ├── InputRefused             .reason
    ├── WorkStopped              .reason
    └── ConfigInvalid            .source .reason

A class exists if some caller catches it, or if several tools fail in that way. A message names the thing, what is wrong
and the next move: it is what a replanner reads.
"""

from collections.abc import Sequence
from pathlib import Path

from langchain_core.tools import ToolException

from planner_executor.tools.url_display import display_url


class ToolError(ToolException):
    """Base class: catch this to catch every deliberate error of the tools.

    Raised itself if no caller needs to tell the failure apart.
    """


class NothingHappened(ToolError):
    """The effect certainly did not happen.

    A tool whose calls must not be repeated raises this, and nothing else, if a retry is harmless. Every other error of
    such a tool leaves open whether its effect took place, and a person is asked.
    """


class Transient(ToolError):
    """The call failed for a reason that may be gone soon, such as a service that is busy.

    A call that may be repeated is then made again, as often as its step's `attempts` allow.
    """


class PathRefused(NothingHappened):
    """A path leads out of the one folder that the tool may use, or cannot name a file there."""

    def __init__(self, path: str, folder: Path, reason: str) -> None:
        self.path, self.folder, self.reason = path, folder, reason
        super().__init__(f"path {path!r} {reason}; give a relative path inside {str(folder)!r}, such as 'notes.md'")


class NoSuchFile(NothingHappened):
    """There is no file at a path; `similar` are existing paths that may have been meant."""

    def __init__(self, path: str, similar: Sequence[str]) -> None:
        self.path, self.similar = path, tuple(similar)
        others = f"there are {', '.join(map(repr, similar))}" if similar else "no other file has a similar name"
        super().__init__(f"there is no file {path!r}; {others}")


class FileNotReadable(NothingHappened):
    """A file of the workspace cannot be opened, is too large, or is not of the kind that the tool reads."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"cannot read {path!r}: {reason}")


class FileNotWritten(NothingHappened):
    """A file was neither written nor moved; any earlier content is unchanged."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path!r} was not written, nothing changed: {reason}")


class UrlRefused(NothingHappened):
    """A URL that may not be requested: malformed, not a public address, or not on the list of allowed hosts."""

    def __init__(self, url: str, reason: str) -> None:
        self.url, self.reason = url, reason
        super().__init__(f"{display_url(url)} is refused: {reason}")


class NotConnected(NothingHappened, Transient):
    """No connection to a host; nothing was sent."""

    def __init__(self, url: str, reason: str) -> None:
        self.url, self.reason = url, reason
        super().__init__(f"{display_url(url)} cannot be reached: {reason}; check the address or use another source")


class McpUnavailable(NothingHappened):
    """An MCP server cannot be started or reached, or a tool of it changed since it was listed; nothing was called."""

    def __init__(self, server: str, reason: str) -> None:
        self.server, self.reason = server, reason
        super().__init__(f"MCP server {server!r} cannot be used: {reason}")


class McpUnreachable(McpUnavailable, Transient):
    """An MCP server does not answer, or has died; nothing was called."""


class McpCallFailed(ToolError):
    """An MCP server reported a failure, ended during the call, or sent an unreadable result."""

    def __init__(self, server: str, tool: str, reason: str) -> None:
        self.server, self.tool, self.reason = server, tool, reason
        super().__init__(f"{tool!r} of MCP server {server!r} failed: {reason}")


class McpConnectionLost(McpCallFailed, Transient):
    """An MCP server ended during the call."""


class RequestFailed(ToolError):
    """A request was sent, at least in part, and the response is an error or unusable."""

    def __init__(self, url: str, reason: str) -> None:
        self.url, self.reason = url, reason
        super().__init__(f"{display_url(url)} gave no usable answer: {reason}")


class ServerBusy(RequestFailed, Transient):
    """The server answered that it cannot serve the request now: 408, 425, 429 or 5xx."""


class SourceNotReadable(ToolError):
    """A document, log, source file or web page cannot be read, or has nothing at the requested position."""

    def __init__(self, source: str, reason: str) -> None:
        self.source, self.reason = source, reason
        super().__init__(f"cannot read {display_url(source)!r}: {reason}")


class NothingFound(ToolError):
    """The input is fine and there is no result: no such log, no passage, no error record, no sentence."""


class InputRefused(ToolError):
    """An expression, a query, a time or code that the tool cannot evaluate."""

    def __init__(self, problem: str, reason: str) -> None:
        """Compose the message.

        Args:
            problem: The first half of the message, such as `cannot compute '1 +'`.
            reason: What is wrong, and the next move.
        """
        self.reason = reason
        super().__init__(f"{problem}: {reason}")


class WorkStopped(ToolError):
    """Work in a child process exceeded its limit of time or memory, or the process died."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"stopped: {reason}; ask for less, or split the file")


class ConfigInvalid(ToolError):
    """An entry of the allowed hosts, or of the MCP servers, is invalid."""

    def __init__(self, source: str, reason: str) -> None:
        self.source, self.reason = source, reason
        super().__init__(f"{source}: {reason}")
