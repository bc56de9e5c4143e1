"""Pictures in the user's message, as the planner's model takes them and as the ledger keeps them."""

import base64
import binascii
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage

from planner_executor.graph.errors import InputError

MAX_PICTURES = 10
MAX_BYTES = 5_000_000
"""The largest picture, in bytes; servers refuse larger ones."""
TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")


@dataclass(frozen=True)
class Picture:
    """A picture, its bytes in base64."""

    mime_type: str
    data: str

    @classmethod
    def from_json(cls, raw: Mapping[str, str]) -> "Picture":
        """Read what `to_json` wrote."""
        return cls(raw["mime_type"], raw["base64"])

    def to_json(self) -> dict[str, str]:
        """Return the picture as the ledger keeps it, and as a block of a LangChain message."""
        return {"type": "image", "mime_type": self.mime_type, "base64": self.data}


def pictures_of(messages: Sequence[BaseMessage]) -> list[Picture]:
    """Return the pictures in the user's last message.

    Raises:
        InputError: It has another medium, or a picture that cannot be kept.
    """
    if not messages or messages[-1].type != "human" or isinstance(messages[-1].content, str):
        return []
    blocks = [block for block in messages[-1].content_blocks if block["type"] not in ("text", "text-plain")]
    if len(blocks) > MAX_PICTURES:
        raise InputError("goal", f"a goal takes {MAX_PICTURES} pictures at most, got {len(blocks)}")
    return [_picture(block) for block in blocks]


def without_bytes(content: Any) -> Any:
    """Return a message's content with the digest of each picture in the place of its bytes."""
    if not isinstance(content, list):
        return content
    return [{"type": "image", **fact(block)} if is_picture(block) else block for block in content]


def fact(picture: Mapping[str, str]) -> dict[str, Any]:
    """Return type, size in bytes and SHA-256 of a picture."""
    data = base64.b64decode(picture["base64"])
    return {"mime_type": picture["mime_type"], "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def is_picture(block: Any) -> bool:
    """Whether a block of a message is a picture with its bytes."""
    return isinstance(block, Mapping) and block.get("type") == "image" and "base64" in block


def _picture(block: Mapping[str, Any]) -> Picture:
    if block["type"] != "image":
        what = "a file" if block["type"] == "file" else f"content of the type {block['type']!r}"
        raise InputError("goal", f"{what} in a goal cannot be read; put it into the documents folder, or give pictures")
    data, kind = block.get("base64"), block.get("mime_type")
    if not isinstance(data, str):
        raise InputError("goal", "a picture by its address cannot be recorded; attach the picture itself")
    if kind not in TYPES:
        raise InputError("goal", f"a picture of the type {kind!r} cannot be read; give one of {', '.join(TYPES)}")
    try:
        # A server would refuse it later, when the goal is on record already.
        size = len(base64.b64decode(data, validate=True))
    except (binascii.Error, ValueError) as error:
        raise InputError("goal", "a picture is not valid base64; attach it again") from error
    if not 0 < size <= MAX_BYTES:
        raise InputError("goal", f"a picture has {size:,} bytes; {MAX_BYTES:,} at most can be given")
    return Picture(str(kind), data)
