"""Signing in at an OpenID Connect provider: there, and back."""

import hmac
import logging
import re
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from planner_executor.graph.desk.pages.login import (
    AT,
    ID_TOKEN,
    TOO_MANY,
    begun,
    cookie_name,
    drop_cookie,
    login_page,
    set_cookie,
)
from planner_executor.graph.desk.pages.respond import desk_of
from planner_executor.graph.desk.security.origin import own_path
from planner_executor.graph.desk.security.sessions import MOST_COOKIE
from planner_executor.graph.desk.security.sign_ins import COOKIE, LASTS_S, SignIn
from planner_executor.graph.errors import SignInError
from planner_executor.graph.plain_text.sanitize import escaped

if TYPE_CHECKING:
    from planner_executor.graph.desk.security.oidc import Provider

log = logging.getLogger("planner_executor.desk")
AGAIN = "The answer of the provider does not belong to a sign-in that this browser began. Sign in again."
ERROR = re.compile(r"[a-z_]{1,40}")


async def start(request: Request) -> Response:
    """Send a browser to the provider."""
    door = desk_of(request).door
    if door.provider is None:
        return login_page(request, 404)
    try:
        address, sign_in = await door.provider.begin(own_path(request.query_params.get("to", "/")))
    except SignInError as error:
        return _refused(request, error)
    response = RedirectResponse(address, 303)
    # Lax, since the provider's page leads back here, and browsers keep strict cookies back on such a way.
    set_cookie(request, response, COOKIE, door.sign_ins.keep(sign_in), LASTS_S, "lax")
    return response


async def callback(request: Request) -> Response:
    """Open a session for the person whom the provider vouches for; failures are limited by address."""
    door = desk_of(request).door
    if door.provider is None:
        return login_page(request, 404)
    address = door.address_of(request)
    if not door.attempts.allows(address):
        return PlainTextResponse(TOO_MANY, 429)
    kept = request.cookies.get(cookie_name(door.settings, COOKIE))
    response = await _finished(request, door.provider, door.sign_ins.read(kept))
    drop_cookie(request, response, COOKIE)
    if response.status_code == 303:
        door.attempts.forgive(address)
    return response


async def _finished(request: Request, provider: "Provider", sign_in: SignIn | None) -> Response:
    given = request.query_params
    # In constant time, and before anything else of the query is looked at: a page of a stranger may have sent it.
    if sign_in is None or not hmac.compare_digest(sign_in.state.encode(), given.get("state", "").encode()):
        return login_page(request, 401, wrong=AGAIN)
    if fault := given.get("error"):
        # The provider's code only if it looks like one: the query is a stranger's to write.
        words = fault if ERROR.fullmatch(fault) else "an error"
        return login_page(request, 401, to=sign_in.to, wrong=f"The provider did not sign you in: {words}.")
    try:
        found = await provider.finish(sign_in, given.get("code", ""))
    except SignInError as error:
        return _refused(request, error)
    # Signed in is not let in: the door decides whom it knows.
    if desk_of(request).door.admitted(found.person, "") is None:
        return login_page(request, 403, wrong=f"{found.person.name} may not come in; ask whoever runs this desk.")
    response = begun(request, found.person, sign_in.to)
    # Browsers drop a cookie that is too large.
    if len(found.id_token) <= MOST_COOKIE:
        set_cookie(request, response, ID_TOKEN, found.id_token, desk_of(request).settings.session_s, "strict", AT)
    return response


def _refused(request: Request, error: SignInError) -> Response:
    log.warning("a visitor could not be signed in: %s", escaped(str(error)))
    return login_page(request, 401, wrong=f"You could not be signed in: {error}")
