"""What a tool declares about itself, so that policy can judge a call before it is made."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

Effect = Literal["read", "write", "external"]


class ToolArgs(BaseModel):
    """Arguments of a tool; one that the tool does not know is an error, never dropped."""

    model_config = ConfigDict(extra="forbid")


def declare(
    effect: Effect, *, idempotent: bool, timeout_s: float, trusted: bool, free_args: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return the `metadata` of a tool.

    Args:
        effect: `read` looks at this machine only, `write` changes something here, `external` is everything that
            leaves the machine, reads included.
        idempotent: Whether the same call twice leaves the world as one call does.
        timeout_s: After how many seconds the call counts as failed.
        trusted: Whether the output may be believed; words from documents and from the web are data, never orders.
        free_args: Arguments that may be taken from untrusted results.

    >>> declare("read", idempotent=True, timeout_s=5, trusted=True)["effect"]
    'read'
    """
    return {
        "effect": effect,
        "idempotent": idempotent,
        "timeout_s": timeout_s,
        "trusted": trusted,
        "free_args": free_args,
    }
