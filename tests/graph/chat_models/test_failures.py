"""A provider's exception is told apart by its status, its class and its headers, whoever raised it."""

import json
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

import httpx
import pytest

from planner_executor.graph.chat_models.failures import Failure, IncompleteStream, failure_of

NOW = datetime(2026, 1, 1, tzinfo=UTC).timestamp()


class Response:
    def __init__(self, status_code: int, headers: dict[str, str] | None = None) -> None:
        self.status_code, self.headers = status_code, headers or {}


class ServerError(Exception):
    """As HTTP clients raise it."""

    def __init__(self, status: int, words: str = "words", code: str | None = None, **headers: str) -> None:
        super().__init__(f"Error code: {status} - {words}")
        self.status_code, self.code, self.body = status, code, {"message": words}
        self.response = Response(status, {name.replace("_", "-"): value for name, value in headers.items()})


class ConnectError(Exception):
    """Named as in httpx."""


def sent_to(url: str) -> Exception:
    return httpx.ConnectError("refused", request=httpx.Request("POST", url))


BROKEN = "the server's response is not a chat completion"


class ReadTimeout(Exception):
    """Named as in httpx."""


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "kind", "repeatable"),
    [
        (ServerError(429), "rate_limit", True),
        (ServerError(429, code="insufficient_quota"), "request", False),
        (ServerError(500), "server", True),
        (ServerError(503), "server", True),
        (ServerError(500, code="insufficient_quota"), "server", True),
        (ServerError(425), "server", True),
        (ServerError(426), "request", False),
        (ServerError(599), "server", True),
        (ServerError(408), "timeout", True),
        (ServerError(401), "key", False),
        (ServerError(403), "key", False),
        (ServerError(404), "unknown_model", False),
        (ServerError(400), "request", False),
        (ServerError(422), "request", False),
        (TimeoutError("the limit is 3 s"), "timeout", True),
        (ReadTimeout("slow"), "timeout", True),
        (ConnectionRefusedError("nobody there"), "connection", True),
        (caused(Exception("Connection error."), ConnectError("Name or service not known")), "connection", True),
        (IncompleteStream("half an answer"), "connection", True),
        (RuntimeError("Event loop is closed"), "connection", True),
        (RuntimeError("Event loop is open"), "other", False),
        (ValueError("Event loop is closed"), "other", False),
        (httpx.ConnectTimeout("slow"), "connection", True),
        (IndexError("list index out of range"), "broken_answer", True),
        (json.JSONDecodeError("Expecting value", "{", 1), "broken_answer", True),
        (ValueError({"message": "upstream", "code": 502}), "server", True),
        (ValueError({"message": "upstream"}), "server", True),
        (ValueError("what is this"), "other", False),
        (KeyError("choices"), "other", False),
    ],
)
def test_the_kind_says_whether_another_attempt_may_help(error: Exception, kind: str, repeatable: bool) -> None:
    failure = failure_of(error, NOW)

    assert (failure.kind, failure.repeatable) == (kind, repeatable)


def test_an_error_in_a_stream_whose_body_was_not_read_is_an_error_all_the_same() -> None:
    unread = httpx.Response(200, stream=httpx.ByteStream(b"event: error"))
    error = ValueError("the stream broke")
    error.response = unread  # type: ignore[attr-defined]

    assert failure_of(error, NOW) == Failure("other", "ValueError: the stream broke")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "0.5"}, 0.5),
        ({"retry_after_ms": "250", "retry_after": "7"}, 0.25),
        ({"retry_after": format_datetime(datetime.fromtimestamp(NOW + 30, UTC), usegmt=True)}, 30.0),
        ({"retry_after": format_datetime(datetime.fromtimestamp(NOW - 30, UTC), usegmt=True)}, 0.0),
        ({"retry_after": "soon"}, None),
        ({"retry_after": "-1"}, None),
        ({"retry_after": "nan"}, None),
        ({}, None),
    ],
)
def test_what_the_server_asks_to_wait_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    assert failure_of(ServerError(429, **headers), NOW).retry_after_s == seconds


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            ServerError(404, "no such model"),
            "the server does not know the model, or base_url is wrong (404): no such model",
        ),
        (
            caused(Exception("Connection error."), ConnectError("All connection attempts failed")),
            "the server cannot be reached: All connection attempts failed",
        ),
        (
            caused(Exception("Connection error."), sent_to("http://ann:secret@10.0.0.9:8000/v1?key=1")),
            "the server at http://10.0.0.9:8000 cannot be reached: refused",
        ),
        (sent_to("https://[::1]/v1"), "the server at https://[::1] cannot be reached: refused"),
        (httpx.ConnectError("refused"), "the server cannot be reached: refused"),
        (TimeoutError("the limit is 3 s"), "no answer in time: the limit is 3 s"),
        (httpx.ReadTimeout("slow", request=httpx.Request("POST", "http://a.example")), "no answer in time: slow"),
        (TimeoutError(), "no answer in time: TimeoutError"),
        (ServerError(500, " "), "the server failed (500): Error code: 500 -"),
        (caused(ServerError(500, " "), ValueError("deep")), "the server failed (500): Error code: 500 -"),
        (caused(json.JSONDecodeError("no", "{", 1), ValueError("deep")), f"{BROKEN}: no: line 1 column 2 (char 1)"),
        (caused(ServerError(400, " "), ValueError("deep")), "the server refuses the request (400): Error code: 400 -"),
        (caused(ValueError("odd"), ValueError()), "ValueError: odd"),
        (ValueError("odd"), "ValueError: odd"),
        (ValueError(), "ValueError"),
    ],
)
def test_a_failure_is_a_sentence_with_the_most_telling_words(error: Exception, words: str) -> None:
    assert str(failure_of(error, NOW)) == words


def test_a_chain_of_causes_that_bites_its_tail_is_read_once() -> None:
    first: Any = ValueError("one")
    second = caused(ValueError("two"), first)
    first.__cause__ = second

    assert failure_of(first, NOW) == Failure("other", "two")


@pytest.mark.parametrize(
    ("status", "found"), [(200, None), (399, None), (400, 400), (599, 599), (600, None), ("500", None)]
)
def test_a_status_is_that_of_an_error(status: Any, found: int | None) -> None:
    error = ValueError("odd")
    error.status_code = status  # type: ignore[attr-defined]

    failure = failure_of(error, NOW)

    assert (failure.status, failure.words) == (found, "ValueError: odd" if found is None else "odd")


def test_a_failure_without_words_is_its_kind() -> None:
    assert str(Failure("key", "", 401)) == "the server refuses the key (401)" and str(Failure("other", "odd")) == "odd"


def test_an_error_is_caused_by_what_was_handled_unless_it_hides_that() -> None:
    handled = ValueError("second")
    handled.__context__ = ValueError("first")
    hidden = ValueError("second")
    hidden.__context__, hidden.__suppress_context__ = ValueError("first"), True

    assert (failure_of(handled, NOW).words, failure_of(hidden, NOW).words) == ("first", "ValueError: second")
