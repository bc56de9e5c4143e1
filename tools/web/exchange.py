"""One request and its answer, bounded in size while it comes in."""

import zlib
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus

import anyio
import httpx

from planner_executor.tools.errors import NotConnected, RequestFailed

Send = Callable[[httpx.Request], Awaitable[httpx.Response]]

_MOST_BYTES_OF_AN_ERROR = 20_000


@dataclass(frozen=True)
class WebResponse:
    """A response; `fault` is the reason if `body` is incomplete."""

    url: httpx.URL
    status: int
    headers: httpx.Headers
    body: bytes
    fault: str | None = None

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300

    @property
    def content_type(self) -> str:
        """The media type in lower case, without parameters; empty if none was sent."""
        named: str = self.headers.get("content-type", "")
        return named.partition(";")[0].strip().lower()

    @property
    def phrase(self) -> str:
        """The status in words, such as `404 Not Found`."""
        known = self.status in set(HTTPStatus)
        return f"{self.status} {HTTPStatus(self.status).phrase}" if known else str(self.status)


async def exchange(send: Send, request: httpx.Request, most_bytes: int) -> WebResponse:
    """Send a request and read the answer; of a failure's body, its beginning.

    Args:
        send: Request -> response whose body has not been read.
        request: What to send.
        most_bytes: How large the body of a success may be, packed or unpacked.

    Raises:
        NotConnected: Nothing was sent.
        RequestFailed: The request was sent, or a part of it, and no status came back.
    """
    url = str(request.url)
    try:
        response = await send(request)
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        raise NotConnected(url, f"no connection ({_words(error)})") from error
    except httpx.TransportError as error:
        raise RequestFailed(url, f"the connection broke ({_words(error)})") from error
    try:
        most = most_bytes if response.is_success else _MOST_BYTES_OF_AN_ERROR
        body, fault = await _body(response, most)
    finally:
        await response.aclose()
    return WebResponse(request.url, response.status_code, response.headers, body, fault)


@contextmanager
def within(seconds: float, url: str) -> Iterator[None]:
    """Limit the time for all work on one URL, however slowly a response arrives.

    Raises:
        RequestFailed: It took longer.
    """
    try:
        with anyio.fail_after(seconds):
            yield
    except TimeoutError as error:
        raise RequestFailed(url, f"no complete answer within {seconds:g} seconds") from error


async def _body(response: httpx.Response, most: int) -> tuple[bytes, str | None]:
    """Return the unpacked body, and the reason if it is incomplete."""
    packing = response.headers.get("content-encoding", "identity").strip().lower()
    if packing not in ("identity", "gzip", "x-gzip"):
        return b"", f"it is packed as {packing[:40]!r}, which was not asked for"
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 16) if packing.endswith("gzip") else None
    body, taken = bytearray(), 0
    try:
        async for chunk in response.aiter_raw():
            taken += len(chunk)
            # Bounded as it is unpacked: a few bytes may stand for gigabytes.
            body += unpack.decompress(chunk, most + 1 - len(body)) if unpack else chunk
            if max(taken, len(body)) > most:
                return bytes(body[:most]), f"it is larger than {most:,} bytes"
    except httpx.TransportError as error:
        return bytes(body), f"the connection broke ({_words(error)})"
    except zlib.error:
        return bytes(body), "it is not packed as it says"
    broken = unpack is not None and taken > 0 and (not unpack.eof or unpack.unused_data)
    return bytes(body), "it is not packed as it says" if broken else None


def _words(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
