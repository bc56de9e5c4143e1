"""The gate in front of every page: host, origin, session, headers and the access log (decision 77)."""

import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from planner_executor.graph.desk.security.headers import protect
from planner_executor.graph.desk.security.links import Links
from planner_executor.graph.desk.security.origin import address_parts, leads_here, origin_refusal, own_path
from planner_executor.graph.desk.security.rate import Attempts
from planner_executor.graph.desk.security.sessions import COOKIE, Sessions
from planner_executor.graph.desk.security.sign_ins import SignIns
from planner_executor.graph.desk.security.visitor import Role, Visitor
from planner_executor.graph.desk.settings import DeskSettings
from planner_executor.graph.errors import AgentError
from planner_executor.graph.plain_text.sanitize import escaped
from planner_executor.graph.record.person import Person
from planner_executor.graph.serving.guard import request_head
from planner_executor.graph.serving.hosts import Host, read_host

if TYPE_CHECKING:
    from planner_executor.graph.desk.security.oidc import Provider

OPEN = ("/login", "/login/start", "/login/callback", "/link", "/health")
STATIC = "/static/"
log = logging.getLogger("planner_executor.desk.access")


@dataclass
class Door:
    """The ways to sign in: sessions, links, sign-ins at a provider, and the count of attempts."""

    settings: DeskSettings
    links: Links = field(default_factory=Links)
    attempts: Attempts = field(default_factory=Attempts)
    provider: "Provider | None" = field(init=False, default=None)

    def __post_init__(self) -> None:
        if self.settings.oidc is not None:
            from planner_executor.graph.desk.security.oidc import Provider  # heavy; most desks have no provider

            self.provider = Provider(self.settings.oidc, f"{self.settings.url}/login/callback")

    @property
    def sessions(self) -> Sessions:
        """The sessions of this desk."""
        return Sessions(self.settings.secret, self.settings.session_s)

    @property
    def sign_ins(self) -> SignIns:
        """The sign-ins at the provider that have begun."""
        return SignIns(self.settings.secret)

    def address_of(self, request: Request) -> str:
        """Return the address of a visitor."""
        return self.settings.proxies.client_of(request_head(request.scope))

    def visitor(self, request: Request) -> Visitor | None:
        """Return the sender of a request, None if they are unknown or may not come in."""
        settings = self.settings
        # Whom a proxy or a server names counts for this request alone, so that no session outlives their word.
        if settings.identity is not None and (person := settings.identity.person_in(request.scope)) is not None:
            found = self.admitted(person, f"identity {person.name}")
            return replace(found, has_session=False) if found is not None else None
        session = self.sessions.read(request.cookies.get(f"{settings.cookie_prefix}{COOKIE}"))
        if session is None:
            return None
        # A cookie of a way to sign in that is no longer configured counts for nothing.
        if session.person is None:
            role = Role.READER if settings.read_only else Role.REVIEWER
            found = Visitor(None, role, session.id) if settings.links else None
        else:
            found = self.admitted(session.person, session.id) if self.provider is not None else None
        return found and replace(found, ends_at=session.ends_at, is_apart=session.is_apart)

    def is_apart(self, request: Request) -> bool:
        """Whether no other server gets the cookie of a session that begins with this request."""
        host = read_host(request_head(request.scope).single("host") or "")
        return self.settings.secure or (host is not None and host.is_one_of(frozenset({self.settings.own_host})))

    def admitted(self, person: Person, session: str) -> Visitor | None:
        """Return the visitor that a person is, None if they may not come in."""
        role = self.settings.permissions.role_of(person)
        return Visitor(person, role, session) if role is not None else None


class Gate:
    """Middleware that admits visitors; `has_ended` says whether a session has ended, in any process (decision 102)."""

    def __init__(self, app: ASGIApp, door: Door, has_ended: Callable[[str], Awaitable[bool]]) -> None:
        self.app, self.door, self.has_ended = app, door, has_ended

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its visitor, or refuse it."""
        if scope["type"] != "http":
            await (self.app(scope, receive, send) if scope["type"] == "lifespan" else refuse_socket(receive, send))
            return
        request, path = Request(scope), path_in(scope)
        is_static = path.startswith(STATIC)
        protected = _Protected(send, is_static)
        began, visitor = time.monotonic(), None
        try:
            visitor = None if is_static else await self._visitor(request)
            answer = self._refused(request, path, visitor)
        except AgentError as error:  # without the database nobody knows who has signed out, so nobody comes in
            answer = PlainTextResponse(f"{error}; try again", 503)
        # Pages read the visitor, never the cookie: who was refused here is not signed in there.
        scope.setdefault("state", {})["visitor"] = visitor
        try:
            await (self.app if answer is None else answer)(scope, receive, protected)
            await protected.end()
        finally:
            if not is_static:
                who = f"{'-' if visitor is None else escaped(visitor.name or 'local')} {self._address(request)}"
                _note(request, path, who, protected.status, time.monotonic() - began)

    @property
    def _hosts(self) -> frozenset[Host]:
        return self.door.settings.hosts | {self.door.settings.own_host}

    def _address(self, request: Request) -> str:
        return escaped(self.door.address_of(request)) or "-"

    async def _visitor(self, request: Request) -> Visitor | None:
        found = self.door.visitor(request)
        is_over = found is not None and found.has_session and await self.has_ended(found.session)
        return None if is_over else found

    def _refused(self, request: Request, path: str, visitor: Visitor | None) -> Response | None:
        """Return the response instead of a page; the origin counts before the session, also at the login."""
        if (fault := origin_refusal(request_head(request.scope), self._hosts)) is not None:
            return PlainTextResponse(fault.reason, fault.status)
        if visitor is not None or path in OPEN or path.startswith(STATIC):
            return None
        root = request.scope.get("root_path", "")
        if leads_here(request_head(request.scope)):
            return _from_elsewhere(root, own_path(_with_query(path, request.url.query)))
        login = f"{root}/login"
        if request.method == "GET" and "hx-request" not in request.headers:
            return RedirectResponse(f"{login}?to={quote(_with_query(path, request.url.query), safe='')}", 303)
        if path.endswith("/live"):  # the page stays, with what was written on it
            return PlainTextResponse("your session has ended; sign in again in another tab", 401)
        page = address_parts(request.headers.get("referer", ""))
        return _ended(f"{login}?to={quote(_with_query(page.path.removeprefix(root), page.query), safe='')}")


def _with_query(path: str, query: str) -> str:
    return path + (f"?{query}" if query else "")


def _ended(login: str) -> Response:
    """Return a page for a form that came after the end of its session; what htmx asked for leads to the login."""
    return HTMLResponse(
        '<!doctype html><html lang="en"><title>Review desk</title><h1>Your session has ended</h1>'
        f'<p>Nothing was done. <a href="{escape(login)}">Sign in again</a>, then send the form once more.</p></html>',
        401,
        {"HX-Redirect": login},
    )


def _from_elsewhere(root: str, to: str) -> Response:
    """Return a page that asks again for the one wanted, at the path `to` of the desk.

    A browser leaves the session's cookie out if a page of another site, such as a mail or a provider, led it here. The
    script keeps the token that the login put into the address.
    """
    here = escape(root + to)
    return HTMLResponse(
        f'<!doctype html><html lang="en"><title>Review desk</title>'
        f'<script src="{escape(root)}/static/desk.js"></script><meta http-equiv="refresh" content="0; url={here}">'
        f'<p><a href="{here}">Go on to the review desk</a></p></html>'
    )


class _Protected:
    """Sends a response with the headers that protect it, and keeps its status; without one, that of a fault."""

    def __init__(self, send: Send, is_static: bool) -> None:
        self._send, self._is_static = send, is_static
        self.status, self._is_open = 500, False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status, self._is_open = message["status"], True
            # A fault in the place of a static file must not be kept for a day.
            protect(MutableHeaders(scope=message), self._is_static and self.status in (200, 304))
        elif message["type"] == "http.response.body":
            self._is_open = bool(message.get("more_body"))
        await self._send(message)

    async def end(self) -> None:
        """End a response that was cut off, such as a stream when the server stops, so that the server does not err."""
        if self._is_open:
            await self._send({"type": "http.response.body", "body": b""})


async def refuse_socket(receive: Receive, send: Send) -> None:
    """Close a WebSocket, of which the desk has none."""
    # The connect message comes first; only then may the socket be closed.
    await receive()
    await send({"type": "websocket.close", "code": 1008})


def path_in(scope: Scope) -> str:
    """Return the path within the desk, wherever it is mounted."""
    return str(scope["path"]).removeprefix(scope.get("root_path", ""))


def _note(request: Request, path: str, who: str, status: int, took_s: float) -> None:
    """Log a request: visitor, address and page, but no token and no field of a form."""
    seen: dict[str, Any] = {
        name: request.query_params[name] for name in ("run", "step") if name in request.query_params
    }
    about = "".join(f" {name}={escaped(value)}" for name, value in seen.items())
    log.info("%s %s %s%s %s %.0fms", who, request.method, escaped(path), about, status, took_s * 1000)
