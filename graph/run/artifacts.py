"""Which artifacts an event names. Only the places where we put them count: a tool's value may look like a name too."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from graph.run.events import Event

HOLDERS = ("prompt", "shown", "answer", "brought", "tools")
"""Fields of events that hold `{"value": ...}` or `{"artifact": {...}}`."""

TOLD_IN_PARTS = ("prompt", "tools")
"""Of these the parts are told, each of them cut by itself, and not the beginning of their JSON."""


def artifacts_named(events: Iterable[Event]) -> list[str]:
    """Return the ids of the artifacts that events name, each once, in order; what is made of results has none."""
    named = (artifact for event in events for artifact in _artifacts(event.payload))
    return list(dict.fromkeys(str(artifact["id"]) for artifact in named if "id" in artifact))


def with_artifacts(payload: Mapping[str, Any], others: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return an event's payload with other artifacts in the place of those whose ids are given."""
    changed = dict(payload)
    if isinstance(payload.get("artifact"), Mapping) and payload["artifact"].get("id") in others:
        changed["artifact"] = dict(others[payload["artifact"]["id"]])
    for field in ("args", *HOLDERS):
        artifact = held_artifact(payload, field)
        if artifact is not None and artifact["id"] in others:
            changed[field] = {**payload[field], "artifact": dict(others[artifact["id"]])}
    if "configured" in payload:
        changed["configured"] = with_artifacts(payload["configured"], others)
    return changed


def with_values(payload: Mapping[str, Any], contents: Mapping[str, str]) -> dict[str, Any]:
    """Return an event's payload with the JSON that artifacts hold in the place of prompts and tools.

    Args:
        payload: Of an event.
        contents: Artifact's id -> the JSON text that it holds.
    """
    changed = dict(payload)
    for field in TOLD_IN_PARTS:
        artifact = held_artifact(payload, field)
        if artifact is not None and artifact["id"] in contents:
            others = {name: value for name, value in payload[field].items() if name != "artifact"}
            changed[field] = {**others, "value": json.loads(contents[artifact["id"]])}
    if "configured" in payload:
        changed["configured"] = with_values(payload["configured"], contents)
    return changed


def held_artifact(payload: Mapping[str, Any], field: str) -> Mapping[str, Any] | None:
    """Return the artifact that stands in a field in place of its value, or None."""
    holder = payload.get(field)
    if not isinstance(holder, Mapping) or not isinstance(holder.get("artifact"), Mapping):
        return None
    if field == "args" and "args_digest" not in payload:
        return None  # an argument that is called so
    artifact: Mapping[str, Any] = holder["artifact"]
    return artifact


def _artifacts(payload: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for part in (payload, payload.get("configured")):  # which may be anything in a file from elsewhere
        if not isinstance(part, Mapping):
            continue
        if isinstance(part.get("artifact"), Mapping):
            yield part["artifact"]
        yield from (found for field in ("args", *HOLDERS) if (found := held_artifact(part, field)))
