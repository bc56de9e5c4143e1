"""The result of an MCP call as a plain value."""

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp.types import CallToolResult, ContentBlock

MAX_CHARACTERS = 8_000_000
"""The largest value a call may have, as JSON text."""

NOT_CONTENT: Any = {"meta": True, "annotations": True, "resource": {"meta"}}


def value_of(answer: "CallToolResult") -> Any:
    """Return the value of a successful result.

    Structured content is the value; without it, the text of all blocks, or null if there are none. If some blocks are
    not text, the value is the list of blocks as on the wire; together with structured content an object of both:
    `{"structured": ..., "content": [...]}`.
    """
    texts = [block.text for block in answer.content if block.type == "text"]
    only_text = len(texts) == len(answer.content)
    if answer.structured_content is not None:
        structured = answer.structured_content
        return structured if only_text else {"structured": structured, "content": _blocks(answer)}
    if only_text:
        return "\n".join(texts) if texts else None
    return _blocks(answer)


def error_of(answer: "CallToolResult") -> str:
    """Return the message of a failed result."""
    words = "\n".join(block.text for block in answer.content if block.type == "text").strip()
    return words or "the server gave no reason"


def size_fault(value: Any) -> str | None:
    """Return why a value is too large to be recorded, or None if it is not."""
    size = len(value) if isinstance(value, str) else len(json.dumps(value, ensure_ascii=False))
    if size <= MAX_CHARACTERS:
        return None
    return f"its answer has {size} characters, more than {MAX_CHARACTERS} are not kept; ask for less at a time"


def _blocks(answer: "CallToolResult") -> list[dict[str, Any]]:
    return [_block(block) for block in answer.content]


def _block(block: "ContentBlock") -> dict[str, Any]:
    return block.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=NOT_CONTENT)
