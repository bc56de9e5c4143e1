"""Input of a client of the graph, in a form that LangGraph's serializer can keep.

Numbers beyond 64 bits, keys that are not plain text and Python objects make a serializer fail before any node runs. As
JSON text the same value comes to its reader, which refuses it with a message.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Command

from planner_executor.graph.errors import InputError
from planner_executor.graph.plain_text.sanitize import check_texts
from planner_executor.graph.plan.depth import limit_depth

INTERRUPT_ID = re.compile(r"[0-9a-f]{32}")
NO_DECISION: Mapping[str, Any] = {"decisions": "not JSON"}
"""In place of a response that is no JSON: it is asked again."""
READ_AS_TEXT = ("plan",)
FIELDS = ("goal", "constraints", "tags", "operation", "fork_from", "run")
_serializer = JsonPlusSerializer()


def keepable_input(given: Any) -> Any:
    """Return an input or a command that a serializer can keep; what it can keep already is returned unchanged.

    Raises:
        InputError: A field of an input holds what JSON cannot hold.
    """
    # A command carries an answer and an update, each of which a serializer would have to keep.
    if isinstance(given, Command):
        return replace(given, resume=_keepable_resume(limit_depth(given.resume)), update=keepable_input(given.update))
    bounded = limit_depth(given)
    if not isinstance(bounded, dict):
        return bounded
    for name in FIELDS:
        if name in bounded and not _is_keepable(bounded[name]):
            raise InputError(name, "it holds what JSON or 64 bits cannot hold; give text")
        if isinstance(bounded.get(name), str):
            check_texts(name, bounded[name])
    texts = {name: _as_text(name, bounded[name]) for name in READ_AS_TEXT if not _is_keepable(bounded.get(name))}
    return {**bounded, **texts} if texts else bounded


def _keepable_resume(resume: Any) -> Any:
    """Return a response, or each of those that are given by the ids of their interrupts."""
    if isinstance(resume, dict) and resume and all(isinstance(key, str) for key in resume):
        # LangGraph takes such keys for the ids of interrupts, and then no other key is a part of a response.
        if all(INTERRUPT_ID.fullmatch(key) for key in resume):
            return {key: _keepable_response(response) for key, response in resume.items()}
        return _keepable_response(resume)
    return dict(NO_DECISION) if isinstance(resume, dict) and resume else _keepable_response(resume)


def _keepable_response(response: Any) -> Any:
    if _is_keepable(response):
        return response
    return (_json_text(response) if isinstance(response, dict | list) else None) or dict(NO_DECISION)


def _as_text(name: str, value: Any) -> str:
    text = _json_text(value)
    if text is None:
        raise InputError(name, "it holds what JSON cannot hold; give JSON")
    return text


def _is_keepable(value: Any) -> bool:
    if value is None or isinstance(value, str | bool):
        return True
    try:
        _serializer.dumps_typed(value)
    except TypeError:
        return False
    return True


def _json_text(value: Any) -> str | None:
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return None
