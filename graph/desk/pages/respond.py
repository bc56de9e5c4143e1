"""What all pages share: the desk of a request, its form, and the answer as a page."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any
from urllib.parse import parse_qsl, quote

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from planner_executor.graph.desk.desk import Desk
from planner_executor.graph.desk.security.visitor import Visitor
from planner_executor.graph.errors import AgentError, InputError, LedgerError, UnknownRunError
from planner_executor.graph.plain_text.sanitize import escaped

Answer = Callable[[Request], Awaitable[Response]]

MOST_BYTES, MOST_FIELDS = 2_000_000, 20_000
"""Limits of a form."""
TOKEN = "token"
"""Name of the field that holds the form's token."""
NOT_OF_THIS_SESSION = (
    "the form is not of this session; open the page again, and if that changes nothing, sign in again: "
    "this browser may lack what a sign-in keeps in it"
)
INBOX, MOST_CHARACTERS = "inbox", 2_000
"""The part of an address that keeps which inbox a person goes through, as the query of its page, and its limit."""
READS_ONLY = "you may look and not decide; ask the operator of this desk for the role of a reviewer"
IS_READ_ONLY = "this desk is read-only; decide where the run was started"


@dataclass(frozen=True)
class Form:
    """The fields of a form, in order; a field may occur several times."""

    fields: tuple[tuple[str, str], ...]

    def get(self, name: str, default: str = "") -> str:
        """Return a field's text, without spaces around it."""
        return next((value for field, value in self.fields if field == name), default).replace("\r\n", "\n").strip()

    def after(self, prefix: str) -> dict[str, str]:
        """Return the fields with this prefix: rest of the name -> value."""
        return {
            name.removeprefix(prefix): value.replace("\r\n", "\n").strip()
            for name, value in self.fields
            if name.startswith(prefix)
        }


def desk_of(request: Request) -> Desk:
    """Return the desk that serves a request."""
    desk: Desk = request.app.state.desk
    return desk


def visitor_of(request: Request) -> Visitor:
    """Return the sender of a request; the gate admits no request without one."""
    visitor: Visitor = request.state.visitor
    return visitor


def run_name_in(request: Request) -> str:
    """Return the run that an address names.

    Raises:
        UnknownRunError: It names none.
    """
    name = request.query_params.get("run", "")
    if not name:
        raise UnknownRunError("''", desk_of(request).name)
    return name


def run_link(request: Request, page: str, run: str, **more: str) -> str:
    """Return the address of a page of a run, in the inbox of the request; the name of a run may be any text."""
    asked = {"run": run, INBOX: inbox_of(request), **more}
    query = "&".join(f"{name}={quote(value, safe='')}" for name, value in asked.items() if value or name != INBOX)
    return f"{root_of(request)}/run{page}?{query}"


def inbox_of(request: Request) -> str:
    """Return the query of the inbox that the visitor goes through, empty if it is the whole."""
    return request.query_params.get(INBOX, "")[:MOST_CHARACTERS]


def root_of(request: Request) -> str:
    """Return the path that the desk is mounted at."""
    return str(request.scope.get("root_path", ""))


def page(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """Return a page."""
    desk, visitor = desk_of(request), getattr(request.state, "visitor", None)
    # A cookie that other servers of this host get too must not be enough to read the token from a page.
    token = desk.door.sessions.form_token(visitor.session) if visitor is not None and visitor.is_apart else ""
    shared: Mapping[str, Any] = {
        "root": root_of(request),
        "inbox": inbox_of(request),
        "visitor": visitor,
        "database": desk.name,
        "can_decide": visitor is not None and visitor.decides and desk.decides,
        "can_start": visitor is not None and visitor.decides and desk.starts,
        "token": token,
        "path": request.url.path.removeprefix(root_of(request)),
        "link": lambda page, run, **more: run_link(request, page, run, **more),
    }
    return HTMLResponse(desk.templates.get_template(template).render(**shared, **values), status)


def go_to(address: str) -> Response:
    """Return the redirect that follows a form, so that a reload does not send the form again."""
    return RedirectResponse(address, 303)


async def form_of(request: Request) -> Form:
    """Read a form of limited size.

    Raises:
        InputError: It is too large, or no form.
    """
    content = b""
    # Counted as it arrives: the length that a client states is its own claim.
    async for part in request.stream():
        content += part
        if len(content) > MOST_BYTES:
            raise InputError("form", f"it is larger than {MOST_BYTES // 1_000_000} MB; send less")
    try:
        fields = parse_qsl(content.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    except ValueError as error:
        raise InputError("form", f"it cannot be read ({error})") from None
    return Form(tuple(fields))


def shows(answer: Answer) -> Answer:
    """Return a handler that answers errors with a page."""

    @wraps(answer)
    async def shown(request: Request) -> Response:
        try:
            return await answer(request)
        except AgentError as error:
            return error_page(request, error)

    return shown


def changes(answer: Callable[[Request, Form], Awaitable[Response]]) -> Answer:
    """Return a handler of a form that changes something: only for a reviewer, with the token of their session."""

    @wraps(answer)
    async def guarded(request: Request) -> Response:
        visitor, desk = visitor_of(request), desk_of(request)
        try:
            form = await form_of(request)
            if not desk.door.sessions.is_form_token(visitor.session, form.get(TOKEN)):
                return refused(request, NOT_OF_THIS_SESSION)
            if not visitor.decides:
                return refused(request, READS_ONLY)
            if not desk.decides:
                return refused(request, IS_READ_ONLY)
            return await answer(request, form)
        except AgentError as error:
            return error_page(request, error)

    return guarded


def error_page(request: Request, error: AgentError) -> Response:
    """Return an error as a page: what is wrong, and the next move."""
    status = 404 if isinstance(error, UnknownRunError) else 503 if isinstance(error, LedgerError) else 400
    return _wrong(request, status, "Not found" if status == 404 else "That did not work", str(error))


def refused(request: Request, why: str) -> Response:
    """Return the answer to a form that this visitor, or this desk, may not send."""
    return _wrong(request, 403, "Nothing was done", why)


def _wrong(request: Request, status: int, title: str, why: str) -> Response:
    """Return a page that says what is wrong; a part of a page gets the words alone."""
    if "hx-request" in request.headers:
        return HTMLResponse(Markup('<p class="notice bad" role="alert">{}</p>').format(escaped(why)), status)
    return page(request, "error.html", status, title=title, why=why)
