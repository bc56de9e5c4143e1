"""Signing in and out."""

from hashlib import sha256
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from planner_executor.graph.desk.pages.respond import (
    NOT_OF_THIS_SESSION,
    desk_of,
    form_of,
    go_to,
    page,
    refused,
    root_of,
    shows,
)
from planner_executor.graph.desk.security.origin import own_path
from planner_executor.graph.desk.security.sessions import COOKIE, new_id
from planner_executor.graph.desk.settings import DeskSettings
from planner_executor.graph.record.person import Person

ID_TOKEN, AT = "planner_executor_desk_id", "/logout"
"""The cookie with the provider's ID token, by which it knows whom to sign out, and the only path that gets it."""
TOO_MANY = "too many attempts; wait a minute, then try again"


async def login(request: Request) -> Response:
    """Open a session with the token of a link, or say how to get one."""
    desk = desk_of(request)
    token, to = request.query_params.get("token"), own_path(request.query_params.get("to", "/"))
    if token is None and request.state.visitor is not None:  # signed in meanwhile, as in another tab
        return go_to(f"{root_of(request)}{to}")
    if token is None or not desk.settings.links:
        return login_page(request, 403 if _is_elsewhere(request) else 401, to=to)
    # By link and not by address: others on this machine have its address, and could use up everybody's attempts.
    if not desk.door.attempts.allows(sha256(token.encode("utf-8", "replace")).hexdigest()):
        return PlainTextResponse(TOO_MANY, 429)
    if not desk.door.links.take(token):
        return login_page(request, 401, to=to, wrong="The link was used before, or is too old.")
    return begun(request, None, to)


async def link(request: Request) -> Response:
    """Write a link to the terminal of the server, whose user alone can read it: the last one again if it is unused."""
    desk = desk_of(request)
    if not desk.settings.links:
        return PlainTextResponse("this desk opens no sessions by links", 403)
    if not desk.door.attempts.allows(desk.door.address_of(request)):
        return PlainTextResponse(TOO_MANY, 429)
    desk.announce(desk.door.links.latest(), (request.scope.get("server") or (None, None))[1])
    return login_page(request, 200, sent=True)


@shows
async def logout(request: Request) -> Response:
    """End the session, in this browser and for every copy of its cookie."""
    form = await form_of(request)
    desk, visitor = desk_of(request), request.state.visitor
    if not desk.door.sessions.is_form_token(visitor.session, form.get("token")):
        return refused(request, NOT_OF_THIS_SESSION)
    if visitor.has_session:
        await desk.end_session(visitor.session)
    request.state.visitor = None
    response = await _left(request)
    drop_cookie(request, response, COOKIE)
    drop_cookie(request, response, ID_TOKEN, AT)
    return response


async def _left(request: Request) -> Response:
    """Lead on: to the provider, if it signs people out, else to the login."""
    provider = desk_of(request).door.provider
    hint = request.cookies.get(cookie_name(desk_of(request).settings, ID_TOKEN, AT))
    address = await provider.sign_out(hint) if provider is not None else None
    if provider is None or address is None:
        return go_to(f"{root_of(request)}/login")
    # A page with a link and no redirect: the content policy lets a form lead to this desk only.
    return page(request, "signed_out.html", address=address, issuer=provider.oidc.issuer)


def login_page(request: Request, status: int, *, to: str = "/", wrong: str = "", sent: bool = False) -> Response:
    """Return the page that says how to sign in; `wrong` is why that did not work, `sent` that a link was written."""
    settings = desk_of(request).settings
    how: dict[str, Any] = {
        "issuer": settings.oidc.issuer if settings.oidc is not None else "",
        "words": settings.identity.words if settings.identity is not None else "",
        "links": settings.links,
    }
    return page(request, "login.html", status, wrong=wrong, sent=sent, to=to, **how)


def begun(request: Request, person: Person | None, to: str) -> Response:
    """Return the response that opens a session and redirects to `to`; no person means the user of this process."""
    desk = desk_of(request)
    session, is_apart = new_id(), desk.door.is_apart(request)
    cookie = desk.door.sessions.begin(person, session, is_apart)
    if cookie is None:
        return login_page(request, 403, wrong="You have more roles than a session holds; have fewer of them sent here.")
    # What stands behind # reaches the page's script alone, which keeps it: who only has the cookie can send no form.
    token = "" if is_apart else f"#form={desk.door.sessions.form_token(session)}"
    response = RedirectResponse(f"{root_of(request)}{to.partition('#')[0]}{token}", 303)
    set_cookie(request, response, COOKIE, cookie, desk.settings.session_s, "strict")
    return response


def set_cookie(
    request: Request, response: Response, name: str, value: str, lasts_s: int, same_site: Any, at: str = ""
) -> None:
    """Set a cookie that this desk's host gets, or one path of it alone, and no script."""
    settings = desk_of(request).settings
    response.set_cookie(
        cookie_name(settings, name, at),
        value,
        max_age=lasts_s,
        path=_path(request, at),
        secure=settings.secure,
        httponly=True,
        samesite=same_site,
    )


def drop_cookie(request: Request, response: Response, name: str, at: str = "") -> None:
    """Have the browser forget a cookie."""
    settings = desk_of(request).settings
    response.delete_cookie(
        cookie_name(settings, name, at), path=_path(request, at), secure=settings.secure, httponly=True
    )


def cookie_name(settings: DeskSettings, name: str, at: str = "") -> str:
    """Return the name of a cookie in the browser; the prefix for a whole host is refused for one of a path."""
    return f"{'__Secure-' if settings.secure and at else settings.cookie_prefix}{name}"


def _path(request: Request, at: str) -> str:
    whole_host = desk_of(request).settings.secure and not at
    return "/" if whole_host else root_of(request) + at or "/"


def _is_elsewhere(request: Request) -> bool:
    settings = desk_of(request).settings
    return settings.oidc is None and not settings.links
