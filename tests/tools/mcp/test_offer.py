from pathlib import Path
from typing import Any

import pytest
from mcp.types import Tool

from planner_executor.tools.mcp.config import servers_of
from planner_executor.tools.mcp.offer import DESCRIPTION_CHARACTERS, Offer

READS = {"readOnlyHint": True, "openWorldHint": False}


def tool(hints: dict[str, Any] | None = None, **more: Any) -> Tool:
    return Tool.model_validate({"name": "t", "inputSchema": {"type": "object"}, "annotations": hints, **more})


def offer(hints: dict[str, Any] | None = None, entry: dict[str, Any] | None = None, **more: Any) -> Offer:
    (server,) = servers_of({"s": {"command": "x"} if entry is None else entry}, "mcpServers", Path())
    made = Offer.of(tool(hints, **more), server)
    assert made is not None
    return made


@pytest.mark.parametrize(
    ("hints", "effect", "idempotent"),
    [
        (None, "external", False),
        ({}, "external", False),
        (READS, "read", True),
        ({"readOnlyHint": True}, "external", True),
        ({"readOnlyHint": True, "openWorldHint": True}, "external", True),
        ({"openWorldHint": False}, "write", False),
        ({"openWorldHint": False, "idempotentHint": True}, "write", True),
        ({"openWorldHint": False, "destructiveHint": False}, "write", False),
        ({"destructiveHint": False}, "external", False),
    ],
)
def test_hints_say_what_a_tool_does(hints: dict[str, Any] | None, effect: str, idempotent: bool) -> None:
    made = offer(hints)

    assert (made.effect, made.idempotent, made.trusted) == (effect, idempotent, False)


def test_a_tool_on_another_machine_is_external_whatever_its_hints() -> None:
    assert offer(READS, {"url": "https://example.com/mcp"}).effect == "external"
    assert offer(READS, {"url": "https://example.com/mcp"}).idempotent
    assert offer(READS, {"url": "http://localhost:1/mcp"}).effect == "read"


@pytest.mark.parametrize(
    ("rules", "effect", "idempotent"),
    [
        ({"effect": "external"}, "external", True),
        ({"effect": "write"}, "write", False),
        ({"effect": "write", "idempotent": True}, "write", True),
        ({"idempotent": False}, "read", False),
    ],
)
def test_the_user_knows_better_than_the_hints(rules: dict[str, Any], effect: str, idempotent: bool) -> None:
    made = offer(READS, {"command": "x", "tools": {"t": rules}})

    assert (made.effect, made.idempotent) == (effect, idempotent)


def test_a_tool_that_the_user_does_not_want_is_not_offered() -> None:
    (server,) = servers_of({"s": {"command": "x", "tools": {"t": {"disabled": True}}}}, "mcpServers", Path())

    assert Offer.of(tool(), server) is None


def test_a_tool_that_changes_schema_or_effect_changes_its_face_and_one_that_changes_its_words_does_not() -> None:
    assert offer(READS).face == offer(READS, description="other words").face
    assert offer(READS).face != offer(READS, inputSchema={"type": "object", "required": ["x"]}).face
    assert offer(READS).face != offer({"openWorldHint": False}).face


def test_a_tool_without_arguments_has_an_empty_schema() -> None:
    assert offer(inputSchema={"type": "object"}).schema == {"type": "object", "properties": {}}


def test_a_description_is_bounded_and_never_empty() -> None:
    assert len(offer(description="x" * 100_000).description) == DESCRIPTION_CHARACTERS
    assert offer().description == "t"


def test_attempts_are_declared_only_if_they_are_set() -> None:
    told = offer(entry={"command": "x", "attempts": 3, "backoff_s": 0.5}).metadata

    assert (told["attempts"], told["backoff_s"]) == (3, 0.5)
    assert {"attempts", "backoff_s"}.isdisjoint(offer().metadata)
