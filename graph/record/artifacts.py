"""Artifacts named by events; only known fields count, because a tool's value may look like a reference."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.record.events import Event

HOLDERS = ("prompt", "shown", "answer", "brought", "tools", "policy", "playbooks", "attached")
"""Fields of events that hold `{"value": ...}` or `{"artifact": {...}}`."""

TOLD_IN_PARTS = ("prompt", "tools", "policy")
"""Fields displayed part by part, each part cut by itself, instead of the beginning of their JSON."""


def artifacts_named(events: Iterable[Event]) -> list[str]:
    """Return the ids of the artifacts that events name, each once, in order; values derived from results have none."""
    named = (artifact for event in events for artifact in _artifacts(event.payload))
    return list(dict.fromkeys(str(artifact["id"]) for artifact in named if "id" in artifact))


def without_constants(messages: Sequence[JsonValue], constants: Mapping[str, int]) -> list[JsonValue]:
    """Return a prompt's messages with shared texts replaced by their numbers.

    A replaced message has `parts` instead of `content`: texts, and numbers of constants.

    >>> without_constants([{"type": "human", "content": "use abc now"}], {"abc": 0})
    [{'type': 'human', 'parts': ['use ', 0, ' now']}]
    """
    return [_in_parts(message, constants) for message in messages]


def _in_parts(message: JsonValue, constants: Mapping[str, int]) -> JsonValue:
    content = message.get("content") if isinstance(message, dict) else None
    found = next((text for text in constants if isinstance(content, str) and text in content), None)
    if found is None or not isinstance(message, dict) or not isinstance(content, str):
        return message
    before, _, after = content.partition(found)
    parts: list[JsonValue] = [part for part in (before, constants[found], after) if part != ""]
    return {name: value for name, value in message.items() if name != "content"} | {"parts": parts}


def with_constants(messages: Sequence[Any], constants: Sequence[str]) -> list[Any]:
    """Return a prompt's messages with the constants filled in."""
    return [_whole(message, constants) for message in messages]


def _whole(message: Any, constants: Sequence[str]) -> Any:
    if not isinstance(message, Mapping) or "parts" not in message:
        return message
    content = "".join(part if isinstance(part, str) else constants[part] for part in message["parts"])
    others = {name: value for name, value in message.items() if name not in ("type", "parts")}
    return {"type": message["type"], "content": content, **others}


def with_artifacts(payload: Mapping[str, Any], others: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return an event's payload with artifacts replaced by those of the given ids."""
    changed = dict(payload)
    if isinstance(payload.get("artifact"), Mapping) and payload["artifact"].get("id") in others:
        changed["artifact"] = dict(others[payload["artifact"]["id"]])
    for field in ("args", *HOLDERS):
        artifact = held_artifact(payload, field)
        if artifact is not None and artifact["id"] in others:
            changed[field] = {**payload[field], "artifact": dict(others[artifact["id"]])}
    # Constants of prompts too: an id that stayed would lead to an artifact that is gone.
    if constants := _constants(payload):
        named = [{"artifact": dict(others.get(one["id"], one))} for one in constants]
        changed["prompt"] = {**changed["prompt"], "constants": named}
    if "configured" in payload:
        changed["configured"] = with_artifacts(payload["configured"], others)
    return changed


def with_values(payload: Mapping[str, Any], contents: Mapping[str, str]) -> dict[str, Any]:
    """Return an event's payload with prompts and tools filled in from their artifacts.

    Args:
        payload: The payload of an event.
        contents: Artifact id -> its JSON text.
    """
    changed = dict(payload)
    for field in TOLD_IN_PARTS:
        artifact = held_artifact(payload, field)
        if artifact is not None and artifact["id"] in contents:
            others = {name: value for name, value in payload[field].items() if name != "artifact"}
            changed[field] = {**others, "value": json.loads(contents[artifact["id"]])}
    constants = [contents[one["id"]] for one in _constants(payload) if one["id"] in contents]
    # All constants or none: a prompt with gaps would read as if it had been sent so.
    if constants and len(constants) == len(_constants(payload)) and "value" in changed["prompt"]:
        messages = with_constants(changed["prompt"]["value"], [json.loads(text) for text in constants])
        changed["prompt"] = {**changed["prompt"], "value": messages}
        del changed["prompt"]["constants"]
    # What a run began with stands within its first event.
    if "configured" in payload:
        changed["configured"] = with_values(payload["configured"], contents)
    return changed


def held_artifact(payload: Mapping[str, Any], field: str) -> Mapping[str, Any] | None:
    """Return the artifact that a field holds instead of a value, or None."""
    holder = payload.get(field)
    if not isinstance(holder, Mapping) or not isinstance(holder.get("artifact"), Mapping):
        return None
    if field == "args" and "args_digest" not in payload:
        return None  # an argument of that name
    artifact: Mapping[str, Any] = holder["artifact"]
    return artifact


def _artifacts(payload: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if isinstance(payload.get("artifact"), Mapping):
        yield payload["artifact"]
    for field in ("args", *HOLDERS):
        if artifact := held_artifact(payload, field):
            yield artifact
    yield from _constants(payload)
    if isinstance(payload.get("configured"), Mapping):  # which may be anything in a file from elsewhere
        yield from _artifacts(payload["configured"])


def _constants(payload: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the artifacts of the texts that a prompt shares with others."""
    prompt = payload.get("prompt")
    return [one["artifact"] for one in prompt.get("constants", ())] if isinstance(prompt, Mapping) else []
