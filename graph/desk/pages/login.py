"""Signing in and out."""

import logging

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from graph.desk.pages.respond import desk_of, form_of, go_to, page, root_of
from graph.desk.security.sessions import COOKIE
from graph.desk.security.visitor import LOCAL, Role
from graph.serving.guard import request_head

log = logging.getLogger("planner_executor.desk")
TOO_MANY = "too many attempts; wait a minute, then try again"


async def login(request: Request) -> Response:
    """Open a session with the token of a link, or say how to get one."""
    desk = desk_of(request)
    token, to = request.query_params.get("token"), own_path(request.query_params.get("to", "/"))
    if desk.settings.proxy is not None:
        return page(request, "login.html", 403, by_proxy=True, wrong=False, sent=False, to=to)
    if token is None:
        return page(request, "login.html", 401, by_proxy=False, wrong=False, sent=False, to=to)
    if not desk.door.attempts.allows(request_head(request.scope).client or ""):
        return PlainTextResponse(TOO_MANY, 429)
    if not desk.door.links.take(token):
        return page(request, "login.html", 401, by_proxy=False, wrong=True, sent=False, to=to)
    return _begun(request, to)


async def link(request: Request) -> Response:
    """Write a new link to the terminal of the server, whose user alone can read it."""
    desk = desk_of(request)
    if desk.settings.proxy is not None:
        return PlainTextResponse("the proxy signs people in", 403)
    if not desk.door.attempts.allows(request_head(request.scope).client or ""):
        return PlainTextResponse(TOO_MANY, 429)
    desk.announce(desk.door.links.issue())
    return page(request, "login.html", by_proxy=False, wrong=False, sent=True, to="/")


async def logout(request: Request) -> Response:
    """End the session in this browser."""
    form = await form_of(request)
    desk = desk_of(request)
    if not desk.door.sessions.is_form_token(request.state.visitor, form.get("token")):
        return PlainTextResponse("the form is not of this session; open the page again", 403)
    response = go_to(f"{root_of(request)}/login")
    response.delete_cookie(COOKIE, path=root_of(request) or "/")
    return response


def own_path(to: str) -> str:
    r"""Return a path of this desk to go on to; anything else leads to the first page.

    >>> own_path("/run?run=a.1"), own_path("//example.org"), own_path("/\\example.org")
    ('/run?run=a.1', '/', '/')
    """
    safe = to.startswith("/") and not to.startswith("//") and "\\" not in to and to.isprintable()
    return to if safe else "/"


def _begun(request: Request, to: str) -> Response:
    desk = desk_of(request)
    role = Role.READER if desk.settings.read_only else Role.REVIEWER
    response = RedirectResponse(f"{root_of(request)}{to}", 303)
    response.set_cookie(
        COOKIE,
        desk.door.sessions.begin(LOCAL, role),
        max_age=desk.settings.session_s,
        path=root_of(request) or "/",
        secure=desk.settings.secure,
        httponly=True,
        samesite="strict",
    )
    return response
