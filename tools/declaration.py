"""The metadata by which policy judges a call before it is made."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

Effect = Literal["read", "write", "external"]


class ToolArgs(BaseModel):
    """Arguments of a tool; one that the tool does not know is an error, never dropped."""

    model_config = ConfigDict(extra="forbid")


def declare(
    effect: Effect,
    *,
    idempotent: bool,
    timeout_s: float,
    trusted: bool | None,
    free_args: tuple[str, ...] = (),
    folder: Path | None = None,
    reads: Sequence[Path] = (),
    summary: str | None = None,
    reversible: bool | None = None,
    attempts: int | None = None,
    backoff_s: float | None = None,
    preview: Callable[..., Any] | None = None,
    preview_leaves: bool | None = None,
) -> dict[str, Any]:
    """Return the `metadata` of a tool.

    Args:
        effect: `read` looks at this machine only, `write` changes something here, `external` is everything that
            leaves the machine, reads included.
        idempotent: Whether the same call twice leaves the world as one call does.
        timeout_s: After how many seconds the call counts as failed.
        trusted: Whether the output is trusted. Text from documents and from the web is data, never instructions.
            None: the person who approves the plan decides.
        free_args: Arguments that may be taken from untrusted results.
        folder: The folder in which it changes files, absolute. An approval is bound to that folder; the ledger and the
            policy may not be inside it.
        reads: The folders whose files it reads, besides that one. A run that was begun over others is left.
        summary: What a call does, in words with arguments in braces: `refund {amount} {currency} to {to}`. People
            read it where they decide.
        reversible: Whether the effect can be undone; None: not known.
        attempts: How often a call may be made in all, if it fails for a reason that may pass.
        backoff_s: Seconds before the second attempt; they double with each further one.
        preview: Takes the same arguments, only reads, and returns what the call would do as text, such as a diff.
            People are shown it before they decide.
        preview_leaves: Whether the preview leaves the machine; None: it does if the effect is `external`.

    >>> declare("read", idempotent=True, timeout_s=5, trusted=True)["effect"]
    'read'
    """
    declared = {
        "effect": effect,
        "idempotent": idempotent,
        "timeout_s": timeout_s,
        "trusted": trusted,
        "free_args": free_args,
    }
    more = {
        "folder": folder and str(folder),
        "reads": [str(each.absolute()) for each in reads],
        "summary": summary,
        "reversible": reversible,
        "attempts": attempts,
        "backoff_s": backoff_s,
        "preview": preview,
        "preview_leaves": preview_leaves,
    }
    return {**declared, **{name: value for name, value in more.items() if value not in (None, [])}}


def tool(
    effect: Effect,
    *,
    idempotent: bool = False,
    timeout_s: float = 60,
    trusted: bool | None = None,
    free_args: tuple[str, ...] = (),
    folder: Path | None = None,
    reads: Sequence[Path] = (),
    summary: str | None = None,
    reversible: bool | None = None,
    attempts: int | None = None,
    backoff_s: float | None = None,
    preview: Callable[..., Any] | None = None,
    preview_leaves: bool | None = None,
) -> Callable[[Callable[..., Any]], "BaseTool"]:
    """Decorate a function with a docstring as a tool; the arguments are those of `declare`.

    >>> @tool("read", idempotent=True)
    ... def square(number: int) -> int:
    ...     "Return a number times itself."
    ...     return number * number
    >>> square.name, square.metadata["effect"], square.invoke({"number": 7})
    ('square', 'read', 49)
    """
    from langchain_core.tools import tool as as_tool

    def made(function: Callable[..., Any]) -> "BaseTool":
        wrapped = as_tool(function)
        wrapped.metadata = declare(
            effect,
            idempotent=idempotent,
            timeout_s=timeout_s,
            trusted=trusted,
            free_args=free_args,
            folder=folder,
            reads=reads,
            summary=summary,
            reversible=reversible,
            attempts=attempts,
            backoff_s=backoff_s,
            preview=preview,
            preview_leaves=preview_leaves,
        )
        return wrapped

    return made
