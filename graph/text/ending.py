"""The ending of a run as a chat message."""

import json

from pydantic import JsonValue

from graph.markdown import answer_markdown, fenced
from graph.sanitize import escaped

SAID_CHARACTERS = 10_000
"""Limit of an answer's JSON in the chat, in characters."""


def ending_text(status: str, reason: str, answer: JsonValue) -> str:
    """Return the ending of a run as text: the answer, with the reason unless the run succeeded."""
    answer_text = _answer_in_words(answer)
    if status == "succeeded":
        return answer_text
    end = fenced(f"{status}: {escaped(reason)}")
    return end if answer is None else f"{end}\n\n{answer_text}"


def _answer_in_words(answer: JsonValue) -> str:
    """Return an answer without images, HTML and hidden link targets, since it may be derived from untrusted text."""
    if isinstance(answer, str):
        return answer_markdown(answer)
    if not isinstance(answer, dict | list):
        return json.dumps(answer)
    return fenced(_cut(json.dumps(answer, ensure_ascii=False, indent=2)), "json")


def _cut(text: str) -> str:
    more = len(text) - SAID_CHARACTERS
    return text if more <= 0 else f"{text[:SAID_CHARACTERS]}\n… ({more} more letters; the whole is the run's answer)"
