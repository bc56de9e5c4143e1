"""Which artifacts an event names. Only the places where we put them count: a tool's value may look like a name too."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from graph.run.events import Event

HOLDERS = ("prompt", "shown", "answer", "brought", "tools")
"""Fields of events that hold `{"value": ...}` or `{"artifact": {...}}`."""


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
    if isinstance(payload.get("artifact"), Mapping):
        yield payload["artifact"]
    for field in ("args", *HOLDERS):
        if artifact := held_artifact(payload, field):
            yield artifact
    if "configured" in payload:
        yield from _artifacts(payload["configured"])
