"""HTTP requests that go to a checked address, whatever name they were made for."""

import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache

import anyio.to_thread
import httpx

from planner_executor.tools.web.addresses import Address
from planner_executor.tools.web.guard import Guard
from planner_executor.tools.web.urls import host_of

_MOST_ADDRESSES_TRIED = 4
_CONNECT_S = 5.0
_HEADERS = {"user-agent": "planner-executor", "accept-encoding": "gzip"}


class GuardedTransport(httpx.AsyncBaseTransport):
    """Connects to addresses that the guard let through, with the certificate checked against the host's name.

    No proxy is used, and no connection is used again: a second host at the same address is greeted anew.
    """

    def __init__(self, guard: Guard, tls: ssl.SSLContext) -> None:
        # A kept connection would be used again without a look at its address.
        limits = httpx.Limits(max_keepalive_connections=0)
        self._guard = guard
        # A proxy of the environment would look the name up by itself, past the guard.
        self._inner = httpx.AsyncHTTPTransport(verify=tls, trust_env=False, limits=limits)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send to the first address that accepts a connection.

        Raises:
            UrlRefused: The guard refuses an address of the host; nothing was sent.
            NotConnected: The host has no address.
            httpx.TransportError: No connection, or it broke.
        """
        addresses = await self._guard.addresses(request.url)
        *others, last = addresses[:_MOST_ADDRESSES_TRIED]
        for address in others:
            try:
                return await self._inner.handle_async_request(_aimed(request, address))
            # Only before there is a connection: from then on the host may have done what it was asked.
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
        return await self._inner.handle_async_request(_aimed(request, last))

    async def aclose(self) -> None:
        """Close what is open."""
        await self._inner.aclose()


@asynccontextmanager
async def guarded(guard: Guard) -> AsyncIterator[GuardedTransport]:
    """Open a transport that reaches only what the guard lets through; the environment may name CAs, nothing else."""
    async with GuardedTransport(guard, await anyio.to_thread.run_sync(_tls)) as transport:
        yield transport


def request_for(method: str, url: httpx.URL, headers: Mapping[str, str], content: bytes | None = None) -> httpx.Request:
    """Return a request without cookies or credentials from the environment."""
    # All else is bounded by `within`, once for all redirects together.
    timeout = httpx.Timeout(None, connect=_CONNECT_S).as_dict()
    return httpx.Request(method, url, headers={**_HEADERS, **headers}, content=content, extensions={"timeout": timeout})


def _aimed(request: httpx.Request, address: Address) -> httpx.Request:
    """Return the request for one address; headers and the name that TLS asks for stay those of the host."""
    return httpx.Request(
        request.method,
        request.url.copy_with(host=str(address)),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": host_of(request.url)},
    )


@cache
def _tls() -> ssl.SSLContext:
    return httpx.create_ssl_context()
