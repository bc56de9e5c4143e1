"""Payloads of events as they are stored: JSON text, packed if it is long; packing makes every text shorter.

The chain, exports and readers have the text alone; see `docs/decisions/0038-packed-payloads.md`.
"""

from planner_executor.graph.ledger.calls_to_know import TO_KNOW
from planner_executor.graph.ledger.packed import MOST_BYTES, pack, unpack

LEAST_BYTES = 1_100
"""A shorter payload stays text: to pack it costs more than the bytes are worth."""

FORM = b"\x01"
"""The first byte of what was packed with `DICTIONARY`, for ever; another dictionary needs another byte."""

DICTIONARY = (
    b'"prompt":{"continues":null,"constants":[{"artifact":{"id":"model_started","role":"planner","model":'
    b'"usage":{"input_tokens":,"output_tokens":"attempts":1,"cost_usd":null,"response":{"content":"{\\"steps\\": [{'
    b'\\"id\\": \\"step_1\\", \\"objective\\": \\", \\"tool\\": \\", \\"args\\": {\\"depends_on\\": [\\"step_'
    b'"revision":1,"plan":{"steps":[{"id":"step_1","objective":"","tool":"","args":{},"depends_on":["step_1"]}],'
    b'"action_requests":[{"name":"run_plan","description":"allowed_decisions":["approve","edit","reject"]'
    b'"url":"https://www.","title":"","snippet":"","content":"","path":"","text":"","date":"2026-'
    b" because would which their about there other between from with that this have will been were more than "
    b"you can are not for was one all has and the of to in is a "
    b'{"status":"failed","error":"","nothing_happened":true,"unchecked":true,"value":null,'
    b'{"status":"succeeded","artifact":{"id":"","size":,"digest":"sha256:","preview":"'
    b'"},"error":null,"started_at":1795366253.7161233,"ended_at":1795366253.7166927,"call":0}'
    b'{"status":"succeeded","value":{"'
)
"""Words of results, plans and prompts; those of results, which are the most frequent, are the cheapest at its end."""


def stored_payload(kind: str, text: str) -> str | bytes:
    """Return how the payload of an event of that kind is stored.

    Raises:
        UnicodeEncodeError: It holds half a surrogate pair.
    """
    # An index of the database looks into payloads of these kinds, which only text lets it (decision 38).
    if len(text) < LEAST_BYTES or kind in TO_KNOW:
        return text
    data = text.encode()
    return FORM + pack(data, DICTIONARY) if len(data) <= MOST_BYTES else text


def payload_text(kind: str, stored: str | bytes) -> str:
    """Return the JSON text of a stored payload.

    Bytes that were never packed come back as they are, and so does a packed payload of a kind that is not to be packed:
    the check of the row names them.
    """
    if type(stored) is bytes and kind not in TO_KNOW:
        return unpacked(stored)  # type: ignore[return-value]
    return stored  # type: ignore[return-value]


def unpacked(stored: bytes) -> str | bytes:
    """Return the text of packed bytes; others come back as they are."""
    if stored[:1] != FORM:
        return stored
    try:
        return unpack(stored[1:], DICTIONARY).decode()
    except ValueError:
        return stored
