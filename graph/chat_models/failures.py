"""What went wrong with a request to a model's server, told apart without knowing the provider's package."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from graph.chat_models.no_answer import error_told, no_answer

FailureKind = Literal[
    "rate_limit", "timeout", "connection", "server", "broken_answer", "key", "unknown_model", "request", "other"
]

REPEATABLE: frozenset[FailureKind] = frozenset({"rate_limit", "timeout", "connection", "server", "broken_answer"})
"""Kinds of failure that another attempt may not meet."""

SENTENCE: Mapping[FailureKind, str] = {
    "rate_limit": "too many requests",
    "timeout": "no answer in time",
    "connection": "the server cannot be reached",
    "server": "the server failed",
    "broken_answer": "the server's answer is no chat completion",
    "key": "the server refuses the key",
    "unknown_model": "the server does not know the model, or base_url is not its address",
    "request": "the server refuses the request",
}

UNREACHABLE = ("ConnectError", "ConnectTimeout", "TransportError", "APIConnectionError")
"""Classes of HTTP clients, by name: which of these packages is installed is not known here."""

SPENT = ("insufficient_quota", "billing_hard_limit_reached")
"""Codes of a 429 that waiting does not cure."""


class BrokenOff(Exception):
    """A stream ended before the answer did."""


@dataclass(frozen=True)
class Failure:
    """A failed request: its kind, the server's words, and the seconds that the server asks to wait, if it does."""

    kind: FailureKind
    words: str
    status: int | None = None
    retry_after_s: float | None = None

    @property
    def repeatable(self) -> bool:
        """Whether the same request may succeed later."""
        return self.kind in REPEATABLE

    def __str__(self) -> str:
        """Return the failure as part of a sentence."""
        if self.kind not in SENTENCE:
            return self.words
        status = f" ({self.status})" if self.status else ""
        return f"{SENTENCE[self.kind]}{status}" + (f": {self.words}" if self.words else "")


def failure_of(error: Exception, now: float) -> Failure:
    """Return what an exception of a chat model means; `now` in Unix seconds serves to read dates."""
    status = _status(error)
    return Failure(_kind(error, status), _words(error), status, _retry_after_s(error, now))


def _kind(error: Exception, status: int | None) -> FailureKind:
    if status is not None and (kind := _kind_of_status(status)):
        return "request" if kind == "rate_limit" and _code(error) in SPENT else kind
    if error_told(error):
        return "server"
    if isinstance(error, json.JSONDecodeError) or no_answer(error) is not None:
        return "broken_answer"
    names = {cls.__name__ for cause in _causes(error) for cls in type(cause).__mro__}
    if isinstance(error, TimeoutError) or (any("Timeout" in name for name in names) and "ConnectTimeout" not in names):
        return "timeout"
    if isinstance(error, ConnectionError | BrokenOff) or names & set(UNREACHABLE) or _loop_closed(error):
        return "connection"
    return "other"


def _kind_of_status(status: int) -> FailureKind | None:
    if status == 429:
        return "rate_limit"
    if status in (408, 425) or status >= 500:
        return "timeout" if status == 408 else "server"
    if status in (401, 403):
        return "key"
    return "unknown_model" if status == 404 else "request" if status >= 400 else None


def _status(error: Exception) -> int | None:
    """Return the HTTP status, also one that stands in a body which a gateway sent as success."""
    found = (getattr(error, "status_code", None), getattr(getattr(error, "response", None), "status_code", None))
    return next(
        (
            status
            for status in (*found, error_told(error).get("code"))
            if isinstance(status, int) and 400 <= status < 600
        ),
        None,
    )


def _code(error: Exception) -> str:
    return str(getattr(error, "code", None) or "")


def _words(error: Exception) -> str:
    """Return the most telling words: the server's own, else those of the deepest cause."""
    message = error_told(error).get("message")
    if isinstance(message, str) and message.strip():
        return message.strip()
    if _status(error) is None and not isinstance(error, json.JSONDecodeError):
        if (sent := no_answer(error)) is not None:
            return sent
        *_, deepest = _causes(error)
        if deepest is not error and str(deepest):
            return str(deepest)
    words = str(error).strip()
    return words if _is_telling(error) else f"{type(error).__name__}: {words}" if words else type(error).__name__


def _is_telling(error: Exception) -> bool:
    """Whether the kind of failure is known, so that the class of the exception adds nothing."""
    return bool(str(error).strip()) and (_status(error) is not None or _kind(error, None) != "other")


def _retry_after_s(error: Exception, now: float) -> float | None:
    """Return the seconds the server asks to wait, given in milliseconds, in seconds or as an HTTP date."""
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


def _loop_closed(error: Exception) -> bool:
    """A connection that was kept open for an event loop that has ended; the client drops it."""
    return isinstance(error, RuntimeError) and str(error) == "Event loop is closed"


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    cause: Any = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
