"""Bodies sent with a success status that are not answers: an error object, a proxy's page, nothing."""

import json
import textwrap
import traceback
from collections.abc import Mapping
from typing import Any

QUOTED_CHARACTERS = 300
EMPTY_STREAM = "No generations found in stream"
"""LangChain's message for a stream without an answer."""

READERS = ("_create_chat_result", "get_final_completion")
"""Functions of OpenAI's client and LangChain's wrapper that fail on a body that is not an answer."""


def error_body(error: Exception) -> Mapping[str, Any]:
    """Return the error object sent instead of an answer or within a stream, or an empty mapping."""
    if isinstance(error, ValueError) and error.args and isinstance(error.args[0], Mapping):
        return error.args[0]
    if isinstance(body := getattr(error, "body", None), Mapping):
        return body
    content = _json_of(_text_of(error))
    found = content.get("error") if isinstance(content, Mapping) else None
    return found if isinstance(found, Mapping) else {"message": found} if isinstance(found, str) else {}


def unreadable_body(error: Exception) -> str | None:
    """Return a description of the body that a client failed to read, or None if that was not the cause."""
    if (text := _text_of(error)) is not None:
        return f"it sent {_quoted(text)!r}"
    if EMPTY_STREAM in str(error) or isinstance(error, IndexError):
        return "it sent nothing"
    # Recognised by the function that failed: its errors are Python's own, which other code raises too.
    read_by = {frame.f_code.co_name for frame, _ in traceback.walk_tb(error.__traceback__)}
    if not read_by.intersection(READERS):
        return None
    return _quoted(str(error)) or "it sent nothing"


def _quoted(text: str) -> str:
    """Return the beginning, cut at a space: half a key would escape redaction."""
    return textwrap.shorten(text, QUOTED_CHARACTERS, placeholder=" …")


def _text_of(error: Exception) -> str | None:
    """Return the body of the success response attached to an exception."""
    response: Any = getattr(error, "response", None)
    if not 200 <= (getattr(response, "status_code", None) or 0) < 300:
        return None
    try:
        return str(getattr(response, "text", ""))
    except RuntimeError:  # an unfinished stream
        return None


def _json_of(text: str | None) -> Any:
    try:
        return json.loads(text or "null")
    except ValueError:
        return None
