"""Middleware in front of every route of the development server, WebSockets included (decision 0023)."""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

from planner_executor.graph.serving.access import Access, Refusal, RequestHead
from planner_executor.graph.serving.hosts import Host

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

INTERNAL_ROOT = "/noauth"
"""Root path of the server's in-process requests to itself; clients cannot set it."""
POLICY_VIOLATION = 1008
OPEN_PATHS = frozenset({"/ok", "/live", "/ready", "/health"})
"""Health checks of LangGraph's server and of Aegra, which need no token."""


@dataclass(frozen=True)
class DeskAt:
    """The path of the review desk, which takes forms, and the host that it alone is reached at."""

    path: str
    host: Host


class Guard:
    """Middleware that applies `Access.refusal`."""

    def __init__(self, app: App, access: Access, desk: DeskAt | None = None) -> None:
        self.app, self.access, self.desk = app, access, desk

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        refusal = None if _is_internal(scope) else self.access.refusal(request_head(scope), self._desk_of(scope))
        await (self.app(scope, receive, send) if refusal is None else refuse(refusal, scope, receive, send))

    def _desk_of(self, scope: Scope) -> Host | None:
        """Return the host of the desk if a page of it is asked for."""
        if self.desk is None or scope["type"] != "http":
            return None
        # With a full stop at the slash: a page whose name only begins like the desk's is none of its pages.
        path = str(scope["path"]).removeprefix(scope.get("root_path", ""))
        return self.desk.host if f"{path}/".startswith(f"{self.desk.path}/") else None


class TokenGuard:
    """Middleware that applies `Access.token_refusal` to every route."""

    def __init__(self, app: App, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        is_open = _is_internal(scope) or scope["path"] in OPEN_PATHS
        refusal = None if is_open else self.access.token_refusal(request_head(scope))
        await (self.app(scope, receive, send) if refusal is None else refuse(refusal, scope, receive, send))


def request_head(scope: Scope) -> RequestHead:
    """Return the request of an ASGI scope; a WebSocket handshake is a GET."""
    headers = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]]
    client, server = scope.get("client") or (None,), scope.get("server") or (None,)
    return RequestHead(scope.get("method", "GET"), headers, client[0], server[0])


async def refuse(refusal: Refusal, scope: Scope, receive: Receive, send: Send) -> None:
    """Send a refusal; a WebSocket is closed before it is accepted."""
    if scope["type"] == "websocket":
        # The connect message comes first; only then may the socket be closed.
        await receive()
        # A reason has at most 123 bytes (RFC 6455).
        await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": refusal.reason[:120]})
        return
    body = json.dumps({"detail": refusal.reason}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _is_internal(scope: Scope) -> bool:
    root = scope.get("root_path", "")
    return bool(scope["type"] == "lifespan" or root == INTERNAL_ROOT or root.startswith(f"{INTERNAL_ROOT}/"))
