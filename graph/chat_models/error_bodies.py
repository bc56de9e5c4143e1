"""What a server sent with success in the place of an answer: an error, a page of a proxy, nothing at all."""

import json
import textwrap
import traceback
from collections.abc import Mapping
from typing import Any

QUOTED_CHARACTERS = 300
EMPTY_STREAM = "No generations found in stream"
"""The words of LangChain for a stream in which no answer came."""

READERS = ("_create_chat_result", "get_final_completion")
"""Functions of OpenAI's client, and of LangChain's part of it, that read an answer and trip over what is none."""


def error_told(error: Exception) -> Mapping[str, Any]:
    """Return the error object that stood in the place of an answer, or came in the middle of a stream; else nothing."""
    if isinstance(error, ValueError) and error.args and isinstance(error.args[0], Mapping):
        return error.args[0]
    if isinstance(body := getattr(error, "body", None), Mapping):
        return body
    told = _json_of(_text_of(error))
    found = told.get("error") if isinstance(told, Mapping) else None
    return found if isinstance(found, Mapping) else {"message": found} if isinstance(found, str) else {}


def no_answer(error: Exception) -> str | None:
    """Return what was sent where a client tripped over it, or None: the client's own words say nothing then."""
    if (text := _text_of(error)) is not None:
        return f"it sent {_quoted(text)!r}"
    if EMPTY_STREAM in str(error) or isinstance(error, IndexError):
        return "it sent nothing"
    read_by = {frame.f_code.co_name for frame, _ in traceback.walk_tb(error.__traceback__)}
    if not read_by.intersection(READERS):
        return None
    return _quoted(str(error)) or "it sent nothing"


def _quoted(text: str) -> str:
    """Return the beginning, cut between words: half a key would not be known for one."""
    return textwrap.shorten(text, QUOTED_CHARACTERS, placeholder=" …")


def _text_of(error: Exception) -> str | None:
    """Return the body that was read with success before the client failed; it hangs it on its exception."""
    response: Any = getattr(error, "response", None)
    if not 200 <= (getattr(response, "status_code", None) or 0) < 300:
        return None
    try:
        return str(getattr(response, "text", ""))
    except RuntimeError:  # of a stream that was not read to its end
        return None


def _json_of(text: str | None) -> Any:
    try:
        return json.loads(text or "null")
    except ValueError:
        return None
