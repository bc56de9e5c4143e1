"""Webhooks: a notice as signed JSON. A receiver checks signature and time, and drops repetitions."""

import asyncio
import hashlib
import hmac
import json
from collections.abc import Mapping

import httpx

from planner_executor.graph.errors import NoticeError

SIGNATURE, TIMESTAMP, KEY = "Planner-Executor-Signature", "Planner-Executor-Timestamp", "Idempotency-Key"
SCHEME = "v1="
TIMEOUT_S = 10.0
TOLERANCE_S = 300.0
"""A receiver refuses a notice that is older, or as far in the future, by its own clock."""


def signature(secret: bytes, timestamp: str, body: bytes) -> str:
    """Return the signature of a notice: HMAC-SHA256 of timestamp, full stop and body.

    >>> signature(b"s" * 16, "1700000000", b"{}")[:19]
    'v1=8145b6bbe655be9a'
    """
    return SCHEME + hmac.new(secret, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


def signature_fault(secret: bytes, headers: Mapping[str, str], body: bytes, now: float) -> str | None:
    """Return why a received notice is not valid, None if it is; for receivers in Python.

    Args:
        secret: The shared secret.
        headers: Headers of the request; names in any case, as web frameworks give them.
        body: The body as it was received.
        now: The receiver's clock, in Unix seconds.
    """
    given = {name.lower(): value for name, value in headers.items()}
    timestamp, signed = given.get(TIMESTAMP.lower(), ""), given.get(SIGNATURE.lower(), "")
    # The signature first: only then is the time one that we wrote.
    if not hmac.compare_digest(signed.encode(), signature(secret, timestamp, body).encode()):
        return "its signature is not made with this secret"
    if not timestamp.isdecimal() or abs(now - int(timestamp)) > TOLERANCE_S:
        return "it is too old, or this clock is wrong"
    return None


async def send(url: str, secret: bytes, content: Mapping[str, object], now: float) -> None:
    """Send a notice; redirects are not followed, and no more than the status of the answer is read.

    Raises:
        NoticeError: The receiver did not answer with 2xx in time; the message names no address.
    """
    body = json.dumps(content, ensure_ascii=False).encode()
    timestamp = str(int(now))
    headers = {
        "Content-Type": "application/json",
        KEY: str(content["id"]),
        TIMESTAMP: timestamp,
        SIGNATURE: signature(secret, timestamp, body),
    }
    try:
        async with (
            asyncio.timeout(TIMEOUT_S),  # httpx limits each read, and no whole answer
            httpx.AsyncClient(timeout=TIMEOUT_S, follow_redirects=False) as client,
            client.stream("POST", url, content=body, headers=headers) as answer,
        ):
            pass
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, UnicodeError) as error:
        raise NoticeError(f"the receiver was not reached: {type(error).__name__}") from None
    if not answer.is_success:
        raise NoticeError(f"the receiver answered with {answer.status_code}")
