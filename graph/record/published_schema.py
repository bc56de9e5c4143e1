"""The JSON Schema of what clients are sent and send, as `schemas/` has it."""

from typing import Any

from pydantic import ConfigDict, TypeAdapter

CLOSED = ConfigDict(extra="forbid")
"""For a form that has no other fields than its own."""


def published_schema(form: Any, title: str | None = None) -> dict[str, Any]:
    """Return the JSON Schema of a type; `title` names one that has no name of its own."""
    own = {"title": title} if title else {}
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {**dialect, **own, **TypeAdapter(form).json_schema(mode="serialization")}
