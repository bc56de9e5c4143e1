"""The message by which a worker that stops lets its run go, addressed to one owner of the run.

A run may stop by itself before its owner reads the message. A later owner must not heed it, so it names the token of
the lease that it is meant for.
"""

from collections.abc import Sequence

HAND_OVER = "hand over"


def hand_over(token: int) -> str:
    """Return the message to the owner with that token."""
    return f"{HAND_OVER} {token}"


def heeded(messages: Sequence[str], token: int) -> list[str]:
    """Return the messages without those to other owners; one to this owner becomes `HAND_OVER`.

    >>> heeded(["hand over 3", "cancel", "hand over 4"], 4)
    ['cancel', 'hand over']
    """
    mine = [HAND_OVER if message == hand_over(token) else message for message in messages]
    return [message for message in mine if message == HAND_OVER or not message.startswith(f"{HAND_OVER} ")]
