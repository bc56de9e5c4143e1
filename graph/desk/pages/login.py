"""Signing in and out."""

from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from graph.desk.pages.respond import desk_of, form_of, go_to, page, refused, root_of, shows
from graph.desk.security.origin import own_path
from graph.desk.security.sessions import COOKIE
from graph.record.person import Person

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
    if not desk.door.attempts.allows(desk.door.address_of(request)):
        return PlainTextResponse(TOO_MANY, 429)
    if not desk.door.links.take(token):
        return login_page(request, 401, to=to, wrong="The link was used before, or is too old.")
    desk.door.attempts.forgive(desk.door.address_of(request))
    return begun(request, None, to)


async def link(request: Request) -> Response:
    """Write a new link to the terminal of the server, whose user alone can read it."""
    desk = desk_of(request)
    if not desk.settings.links:
        return PlainTextResponse("this desk opens no sessions by links", 403)
    if not desk.door.attempts.allows(desk.door.address_of(request)):
        return PlainTextResponse(TOO_MANY, 429)
    desk.announce(desk.door.links.issue())
    return login_page(request, 200, sent=True)


@shows
async def logout(request: Request) -> Response:
    """End the session, in this browser and for every copy of its cookie."""
    form = await form_of(request)
    desk, visitor = desk_of(request), request.state.visitor
    if not desk.door.sessions.is_form_token(visitor.session, form.get("token")):
        return refused(request, "the form is not of this session; open the page again")
    if visitor.has_session:
        await desk.end_session(visitor.session)
    request.state.visitor = None
    response = await _left(request)
    response.delete_cookie(COOKIE, path=root_of(request) or "/")
    response.delete_cookie(ID_TOKEN, path=root_of(request) + AT)
    return response


async def _left(request: Request) -> Response:
    """Lead on: to the provider, if it signs people out, else to the login."""
    provider = desk_of(request).door.provider
    address = await provider.sign_out(request.cookies.get(ID_TOKEN)) if provider is not None else None
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
    cookie = desk.door.sessions.begin(person)
    if cookie is None:
        return login_page(request, 403, wrong="You have more roles than a session holds; have fewer of them sent here.")
    response = RedirectResponse(f"{root_of(request)}{to}", 303)
    set_cookie(request, response, COOKIE, cookie, desk.settings.session_s, "strict")
    return response


def set_cookie(
    request: Request, response: Response, name: str, value: str, lasts_s: int, same_site: Any, at: str = ""
) -> None:
    """Set a cookie that only this desk's pages get, or those at one path of it, and no script."""
    response.set_cookie(
        name,
        value,
        max_age=lasts_s,
        path=root_of(request) + at or "/",
        secure=desk_of(request).settings.secure,
        httponly=True,
        samesite=same_site,
    )


def _is_elsewhere(request: Request) -> bool:
    settings = desk_of(request).settings
    return settings.oidc is None and not settings.links
