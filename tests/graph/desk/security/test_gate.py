"""Who comes in by which way to sign in, by none that was switched off, and what the gate answers to everybody else."""

import asyncio
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from planner_executor.graph.desk.security.claims import Oidc
from planner_executor.graph.desk.security.gate import OPEN, Door, Gate
from planner_executor.graph.desk.security.headers import HEADERS
from planner_executor.graph.desk.security.identity import ServerIdentity
from planner_executor.graph.desk.security.people import People, Permissions
from planner_executor.graph.desk.security.sessions import COOKIE
from planner_executor.graph.desk.security.visitor import Role, Visitor
from planner_executor.graph.desk.settings import DeskSettings
from planner_executor.graph.errors import LedgerUnavailableError
from planner_executor.graph.record.person import Person
from planner_executor.graph.serving.hosts import Host

LINKS = DeskSettings(secret="s" * 32)
PROVIDER = replace(LINKS, links=False, oidc=Oidc("https://id.example.org", "desk"), url="https://desk.example.org")
ADA = Person("ada@example.org")


def request_with(cookie: str) -> Request:
    return Request({"type": "http", "headers": [(b"cookie", f"{COOKIE}={cookie}".encode())]})


@pytest.mark.parametrize(
    ("person", "settings", "comes_in"),
    [
        (None, LINKS, True),
        (ADA, PROVIDER, True),
        (None, PROVIDER, False),  # a link's cookie, and the desk has a provider by now
        (ADA, LINKS, False),  # a provider's cookie, and the desk has links by now
        (None, replace(LINKS, links=False), False),
    ],
)
def test_a_cookie_of_a_way_to_sign_in_that_was_switched_off_counts_for_nothing(
    person: Person | None, settings: DeskSettings, comes_in: bool
) -> None:
    door = Door(settings)
    cookie = door.sessions.begin(person)
    assert cookie is not None

    visitor = door.visitor(request_with(cookie))

    assert (visitor is not None) == comes_in
    assert visitor is None or visitor.person == person


@pytest.mark.parametrize(("read_only", "role"), [(False, Role.REVIEWER), (True, Role.READER)])
def test_a_link_opens_a_session_of_the_user_of_this_process(read_only: bool, role: Role) -> None:
    door = Door(replace(LINKS, read_only=read_only))
    cookie = str(door.sessions.begin(None, "an id", is_apart=False))

    visitor = door.visitor(request_with(cookie))
    session = door.sessions.read(cookie)

    assert session is not None
    assert visitor == Visitor(None, role, "an id", ends_at=session.ends_at, is_apart=False)


def test_no_session_begins_without_its_cookie() -> None:
    assert Door(LINKS).visitor(request_with("forged")) is None
    assert Door(LINKS).visitor(Request({"type": "http", "headers": []})) is None


def test_a_person_who_may_not_come_in_has_no_session_that_counts() -> None:
    door = Door(replace(PROVIDER, permissions=Permissions(People.of(["ben"]), People.of([]))))

    assert door.visitor(request_with(str(door.sessions.begin(ADA)))) is None


def named(user: str, permissions: Permissions, cookie: str = "") -> Visitor | None:
    settings = replace(LINKS, identity=ServerIdentity(), permissions=permissions)
    headers = [(b"cookie", f"{COOKIE}={cookie}".encode())]
    known = SimpleNamespace(is_authenticated=bool(user), identity=user)
    return Door(settings).visitor(Request({"type": "http", "headers": headers, "user": known}))


def test_whom_a_server_names_has_no_session() -> None:
    ada = Permissions(People.of(["ada"]), People.of([]))

    assert named("ada", ada) == Visitor(Person("ada"), Role.REVIEWER, "identity ada", has_session=False)
    assert named("ben", ada) is None


def test_a_session_counts_only_if_the_server_names_nobody() -> None:
    cookie = str(Door(LINKS).sessions.begin(None, "an id"))

    with_session, without = named("", Permissions(), cookie), named("ada", Permissions(), cookie)

    assert with_session is not None and with_session.session == "an id"
    assert without is not None and without.person == Person("ada")


@pytest.mark.parametrize(
    ("host", "secure", "is_apart"),
    [
        (LINKS.own_host.name, False, True),
        (f"{LINKS.own_host.name}:2025", False, True),
        ("127.0.0.1", False, False),
        ("127.0.0.1", True, True),
        (None, False, False),
        ("no host", False, False),
    ],
)
def test_a_session_is_apart_at_the_desks_own_name_or_over_https(host: str | None, secure: bool, is_apart: bool) -> None:
    headers = [(b"host", host.encode())] if host is not None else []

    assert Door(replace(LINKS, secure=secure)).is_apart(Request({"type": "http", "headers": headers})) == is_apart


Messages = list[dict[str, Any]]
HOST = ("host", "127.0.0.1:2025")
STATUSES = (200, 201, 304, 305, 404)
FROM_OWN_PAGE = ("origin", "http://127.0.0.1:2025")


@dataclass
class Desk:
    """A gate before pages that note who came; `ended` are the sessions that were signed out of."""

    status: int = 200
    is_cut_off: bool = False
    fault: Exception | None = None
    ended: Collection[str] | None = ()
    settings: DeskSettings = LINKS
    visitors: list[Visitor | None] = field(default_factory=list)

    async def page(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.fault is not None:
            raise self.fault
        self.visitors.append(scope["state"]["visitor"])
        await send({"type": "http.response.start", "status": self.status, "headers": []})
        await send({"type": "http.response.body", "body": b"page", "more_body": self.is_cut_off})

    async def has_ended(self, session: str) -> bool:
        if self.ended is None:
            raise LedgerUnavailableError("runs.db", "is locked")
        return session in self.ended

    def asked(self, path: str, *headers: tuple[str, str], session: str | None = None, **scope: Any) -> Messages:
        """Return what is sent for a request, of a visitor with a session if one is named."""
        door = Door(self.settings)
        cookie = f"{COOKIE}={door.sessions.begin(None, session)}" if session is not None else ""
        given = [(name.encode(), value.encode()) for name, value in (HOST, *headers, ("cookie", cookie))]
        asked = {
            "type": "http",
            "method": "GET",
            "path": path,
            "query_string": b"",
            "headers": given,
            "client": ("10.0.0.9", 1),
        }
        return sent_by(Gate(self.page, door, self.has_ended), {**asked, **scope})

    def answer(self, path: str, *headers: tuple[str, str], **scope: Any) -> Response:
        """Return the answer to a request."""
        start, *rest = self.asked(path, *headers, **scope)
        answer = Response(b"".join(one["body"] for one in rest), start["status"])
        answer.raw_headers = start["headers"]
        return answer


def sent_by(gate: Gate, scope: Any) -> Messages:
    sent: Messages = []
    received = iter([{"type": "websocket.connect"}])

    async def receive() -> Any:
        return next(received)

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(gate(scope, receive, send))
    return sent if scope["type"] == "http" else [*sent, *({"unread": one} for one in received)]


def test_a_visitor_with_a_session_comes_in_to_a_protected_page() -> None:
    desk = Desk()

    answer = desk.answer("/runs", session="an id")

    assert (answer.status_code, answer.body) == (200, b"page")
    assert (
        answer.headers["cache-control"] == "no-store"
        and HEADERS.items() <= {name: answer.headers[name] for name in HEADERS}.items()
    )
    assert [visitor and visitor.session for visitor in desk.visitors] == ["an id"]


@pytest.mark.parametrize("path", [*OPEN, "/static/desk.js"])
def test_the_ways_to_sign_in_and_static_files_are_open(path: str) -> None:
    desk = Desk()

    assert desk.answer(path).status_code == 200 and desk.visitors == [None]


def test_static_files_have_no_visitor_and_are_kept_if_they_are_there() -> None:
    desk = Desk(ended=None)
    kept = []
    for desk.status in STATUSES:
        kept.append(desk.answer("/static/desk.js", session="an id").headers["cache-control"])

    assert desk.visitors == [None] * len(STATUSES)
    assert [how != "no-store" for how in kept] == [status in (200, 304) for status in STATUSES]


def test_a_session_that_has_ended_does_not_come_in() -> None:
    desk = Desk(ended=["an id"])

    assert desk.answer("/runs", session="an id").status_code == 303
    assert desk.answer("/runs", session="another").status_code == 200


def test_whom_a_server_names_comes_in_without_a_session_to_end() -> None:
    desk = Desk(ended=None, settings=replace(LINKS, identity=ServerIdentity()))
    user = SimpleNamespace(is_authenticated=True, identity="ada")

    assert desk.answer("/runs", user=user).status_code == 200


def test_nobody_comes_in_if_the_database_cannot_say_who_signed_out() -> None:
    desk = Desk(ended=None)

    answer = desk.answer("/runs", session="an id")

    assert answer.status_code == 503 and answer.body.endswith(b"; try again") and desk.visitors == []


def test_without_a_session_a_page_leads_to_the_login_and_back() -> None:
    answer = Desk().answer("/desk/run", root_path="/desk", query_string=b"run=a.1&x=1")
    bare = Desk().answer("/runs")

    assert answer.status_code == 303 and answer.headers["location"] == "/desk/login?to=%2Frun%3Frun%3Da.1%26x%3D1"
    assert bare.headers["location"] == "/login?to=%2Fruns"


def test_a_form_after_the_end_of_its_session_does_nothing_and_leads_back_to_its_page() -> None:
    desk = Desk()
    referer = ("referer", "http://127.0.0.1:2025/desk/run?run=a.1")

    answer = desk.answer("/desk/decide", FROM_OWN_PAGE, referer, method="POST", root_path="/desk")

    assert answer.status_code == 401 and answer.headers["hx-redirect"] == "/desk/login?to=%2Frun%3Frun%3Da.1"
    assert b"Nothing was done" in answer.body and desk.visitors == []


def test_a_part_of_a_page_after_the_end_of_its_session_leads_the_whole_page_to_the_login() -> None:
    answer = Desk().answer("/step", ("hx-request", "true"))

    assert answer.status_code == 401 and answer.headers["hx-redirect"] == "/login?to="


def test_what_is_written_on_a_page_stays_when_its_session_ends() -> None:
    answer = Desk().answer("/run/live", ("hx-request", "true"))

    assert answer.status_code == 401 and b"sign in again in another tab" in answer.body
    assert "hx-redirect" not in answer.headers


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/runs", [("host", "evil.example")], 421),  # a second one
        ("/runs", [("sec-fetch-site", "cross-site")], 403),
        ("/login", [("sec-fetch-site", "cross-site")], 403),
    ],
)
def test_the_origin_counts_before_the_session(path: str, headers: list[tuple[str, str]], status: int) -> None:
    assert Desk().answer(path, *headers, session="an id").status_code == status


def test_a_page_that_another_site_leads_to_is_asked_for_again() -> None:
    headers = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")]

    answer = Desk().answer("/desk/run", *headers, root_path="/desk", query_string=b"run=a%22.1&x=1")

    assert answer.status_code == 200 and b'content="0; url=/desk/run?run=a%22.1&amp;x=1"' in answer.body
    assert b'<script src="/desk/static/desk.js">' in answer.body


def test_a_name_of_the_settings_and_the_desks_own_name_are_answered() -> None:
    settings = replace(LINKS, hosts=frozenset({Host("desk.example.org", None)}))
    headers = [[(b"host", host.encode())] for host in ("desk.example.org", LINKS.own_host.name, "evil.example")]

    answers = [Desk(settings=settings).answer("/health", headers=given).status_code for given in headers]

    assert answers == [200, 200, 421]


def test_a_response_that_was_cut_off_is_ended() -> None:
    cut_off, whole = (Desk(is_cut_off=cut).asked("/runs", session="an id") for cut in (True, False))

    assert cut_off[2:] == [{"type": "http.response.body", "body": b""}] and whole[2:] == []


def test_a_response_without_a_body_is_ended() -> None:
    async def page(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def silent(scope: Scope, receive: Receive, send: Send) -> None:
        """Send nothing."""

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/health",
        "query_string": b"",
        "headers": [(b"host", b"localhost")],
    }

    assert [one["type"] for one in sent_by(Gate(page, Door(LINKS), Desk().has_ended), {**scope})] == [
        "http.response.start",
        "http.response.body",
    ]
    assert sent_by(Gate(silent, Door(LINKS), Desk().has_ended), {**scope}) == []


def test_the_start_and_the_end_of_the_server_pass_and_a_websocket_does_not() -> None:
    desk, passed = Desk(), list[str]()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        passed.append(scope["type"])

    gate = Gate(app, Door(LINKS), desk.has_ended)

    assert sent_by(gate, {"type": "websocket"}) == [{"type": "websocket.close", "code": 1008}]
    sent_by(gate, {"type": "lifespan"})
    assert passed == ["lifespan"]


def logged(caplog: pytest.LogCaptureFixture, desk: Desk, path: str, **more: Any) -> str:
    """Return the line of the access log, without the time that the request took."""
    caplog.clear()
    began = time.monotonic()
    with caplog.at_level("INFO", "planner_executor.desk.access"), suppress(ZeroDivisionError):
        desk.asked(path, **more)
    line, _, took_ms = "".join(caplog.messages).rpartition(" ")
    assert not line or 0 <= float(took_ms.removesuffix("ms")) <= 1000 * (time.monotonic() - began) + 1
    return line


def test_the_access_log_says_who_looked_at_what_without_tokens(caplog: pytest.LogCaptureFixture) -> None:
    query = b"run=a.1&token=secret&step=look"
    settings = replace(LINKS, identity=ServerIdentity())
    user = SimpleNamespace(is_authenticated=True, identity="ada")

    assert logged(caplog, Desk(), "/run", session="an id", query_string=query) == (
        "local 10.0.0.9 GET /run run=a.1 step=look 200"
    )
    assert logged(caplog, Desk(), "/a\nb", client=None) == r"- - GET /a\u{a}b 303"
    assert logged(caplog, Desk(settings=settings), "/runs", user=user) == "ada 10.0.0.9 GET /runs 200"
    assert logged(caplog, Desk(), "/static/desk.js") == ""


def test_a_fault_of_a_page_is_on_the_access_log(caplog: pytest.LogCaptureFixture) -> None:
    assert logged(caplog, Desk(fault=ZeroDivisionError()), "/runs", session="an id") == "local 10.0.0.9 GET /runs 500"


def test_nothing_is_read_from_a_provider_that_no_settings_name() -> None:
    assert Door(LINKS).provider is None
    provider = Door(PROVIDER).provider
    assert provider is not None and provider.redirect == "https://desk.example.org/login/callback"
