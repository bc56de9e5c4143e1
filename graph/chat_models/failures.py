"""Classification of failed model requests, independent of the provider's package."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any, Literal, NamedTuple

from planner_executor.graph.chat_models.error_bodies import error_body, unreadable_body

FailureKind = Literal[
    "rate_limit", "timeout", "connection", "server", "broken_answer", "key", "unknown_model", "request", "other"
]

REPEATABLE: frozenset[FailureKind] = frozenset({"rate_limit", "timeout", "connection", "server", "broken_answer"})
"""Kinds of failure worth a retry."""

DESCRIPTIONS: Mapping[FailureKind, str] = {
    "rate_limit": "too many requests",
    "timeout": "no answer in time",
    "connection": "the server cannot be reached",
    "server": "the server failed",
    "broken_answer": "the server's response is not a chat completion",
    "key": "the server refuses the key",
    "unknown_model": "the server does not know the model, or base_url is wrong",
    "request": "the server refuses the request",
}

UNREACHABLE = ("ConnectError", "ConnectTimeout", "TransportError", "APIConnectionError")
"""Exception classes of HTTP clients, by name, since any of these packages may be missing."""

QUOTA_CODES = ("insufficient_quota", "billing_hard_limit_reached")
"""Codes of a 429 response that a retry cannot cure."""


class IncompleteStream(Exception):
    """A stream ended before the answer was complete."""


class Failure(NamedTuple):
    """A failed request: its kind, the server's message, and the wait that the server requests, in seconds.

    `server` is the address of a server that cannot be reached, if it is known: scheme, host and port, and nothing else.
    """

    kind: FailureKind
    words: str
    status: int | None = None
    retry_after_s: float | None = None
    server: str = ""

    @property
    def repeatable(self) -> bool:
        """Whether the same request may succeed later."""
        return self.kind in REPEATABLE

    def __str__(self) -> str:
        """Return the failure as a clause."""
        if self.kind not in DESCRIPTIONS:
            return self.words
        status = f" ({self.status})" if self.status else ""
        what = f"the server at {self.server} cannot be reached" if self.server else DESCRIPTIONS[self.kind]
        return f"{what}{status}" + (f": {self.words}" if self.words else "")


def failure_of(error: Exception, now: float) -> Failure:
    """Return the failure behind a chat model's exception; `now`, in Unix seconds, resolves HTTP dates."""
    status = _status(error)
    kind = _kind(error, status)
    server = _server(error) if kind == "connection" else ""
    return Failure(kind, _words(error), status, _retry_after_s(error, now), server)


def drop_frames(error: BaseException) -> None:
    """Drop the tracebacks of an error that has become data.

    Frames in them, such as LangChain's, refer to the error. This cycle would keep whatever the frames hold, the whole
    run included, in memory until a garbage collection.
    """
    for cause in _causes(error):
        cause.__traceback__ = None


def _kind(error: Exception, status: int | None) -> FailureKind:
    if status is not None:
        kind = _kind_of_status(status)
        # A quota that is used up comes as 429 too, and no wait helps.
        return "request" if kind == "rate_limit" and getattr(error, "code", None) in QUOTA_CODES else kind
    if error_body(error):
        return "server"
    if isinstance(error, json.JSONDecodeError) or unreadable_body(error) is not None:
        return "broken_answer"
    names = {cls.__name__ for cause in _causes(error) for cls in type(cause).__mro__}
    # No connection in time is a server that is away, and not one that is slow.
    if any("Timeout" in name for name in names) and "ConnectTimeout" not in names:
        return "timeout"
    if isinstance(error, ConnectionError | IncompleteStream) or names & set(UNREACHABLE) or _is_loop_closed(error):
        return "connection"
    return "other"


def _server(error: Exception) -> str:
    """Return scheme, host and port of a request's address; its user, path and query may hold a key."""
    for cause in _causes(error):
        with suppress(RuntimeError):  # httpx raises it if the error has no request
            url: Any = getattr(getattr(cause, "request", None), "url", None)
            if getattr(url, "host", ""):
                return f"{url.scheme}://{url.netloc.decode()}"
    return ""


def _kind_of_status(status: int) -> FailureKind:
    if status == 429:
        return "rate_limit"
    if status in (408, 425) or status >= 500:
        return "timeout" if status == 408 else "server"
    if status in (401, 403):
        return "key"
    return "unknown_model" if status == 404 else "request"


def _status(error: Exception) -> int | None:
    """Return the HTTP status, or the error code in the body of a gateway's success response."""
    found = (getattr(error, "status_code", None), getattr(getattr(error, "response", None), "status_code", None))
    return next(
        (
            status
            for status in (*found, error_body(error).get("code"))
            if isinstance(status, int) and 400 <= status < 600
        ),
        None,
    )


def _words(error: Exception) -> str:
    """Return the most specific message: the server's own, else that of the deepest cause."""
    message = error_body(error).get("message")
    if isinstance(message, str) and message.strip():
        return message.strip()
    if _status(error) is None and not isinstance(error, json.JSONDecodeError):
        # A body that is no JSON may still say more than the library's error about it.
        if (sent := unreadable_body(error)) is not None:
            return sent
        *_, deepest = _causes(error)
        if deepest is not error and str(deepest):
            return str(deepest)
    words = str(error).strip()
    return words if _is_telling(error) else f"{type(error).__name__}: {words}" if words else type(error).__name__


def _is_telling(error: Exception) -> bool:
    """Whether the kind of failure is known, so that the exception's class adds no information."""
    return bool(str(error).strip()) and (_status(error) is not None or _kind(error, None) != "other")


def _retry_after_s(error: Exception, now: float) -> float | None:
    """Return the wait requested by the server, in seconds; parses milliseconds, seconds and HTTP dates."""
    for cause in _causes(error):
        headers = getattr(getattr(cause, "response", None), "headers", None)
        if not isinstance(headers, Mapping):
            continue
        for name, read in (("retry-after-ms", _milliseconds), ("retry-after", _seconds)):
            asked = read(str(headers.get(name, "")), now)
            if asked is not None and 0 <= asked < float("inf"):
                return asked
    return None


def _milliseconds(value: str, _: float) -> float | None:
    try:
        return float(value) / 1000
    except ValueError:
        return None


def _seconds(value: str, now: float) -> float | None:
    try:
        return float(value)
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return None


def _is_loop_closed(error: Exception) -> bool:
    """Whether an idle connection of a finished event loop was reused; the client drops it afterwards."""
    return isinstance(error, RuntimeError) and str(error) == "Event loop is closed"


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    cause: Any = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        # As Python prints it: a suppressed context is none.
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
