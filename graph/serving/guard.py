"""What stands in front of every route of the development server, its WebSockets included."""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from graph.serving.access import Access, Heard, Refusal

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

WITHIN = "/noauth"
"""The root path of requests that the server sends to itself, within the process; no client can set it."""
POLICY_VIOLATION = 1008
OPEN_PATHS = frozenset({"/ok"})
"""Answered without a token: whether the server is up."""


class Guard:
    """Answers no request that `Access.refusal` refuses."""

    def __init__(self, app: App, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        refusal = None if _is_within(scope) else self.access.refusal(heard_in(scope))
        await (self.app(scope, receive, send) if refusal is None else refuse(refusal, scope, receive, send))


class TokenGuard:
    """Answers no request without the token where one is set, whatever its route."""

    def __init__(self, app: App, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        is_open = _is_within(scope) or scope["path"] in OPEN_PATHS
        refusal = None if is_open else self.access.unproven(heard_in(scope))
        await (self.app(scope, receive, send) if refusal is None else refuse(refusal, scope, receive, send))


def heard_in(scope: Scope) -> Heard:
    """Return what an ASGI scope says of a request; a WebSocket begins with a GET."""
    headers = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]]
    client, server = scope.get("client") or (None,), scope.get("server") or (None,)
    return Heard(scope.get("method", "GET"), headers, client[0], server[0])


async def refuse(refusal: Refusal, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with why a request is refused; a WebSocket is closed before it opens."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": refusal.why[:120]})
        return
    body = json.dumps({"detail": refusal.why}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _is_within(scope: Scope) -> bool:
    root = scope.get("root_path", "")
    return bool(scope["type"] == "lifespan" or root == WITHIN or root.startswith(f"{WITHIN}/"))
