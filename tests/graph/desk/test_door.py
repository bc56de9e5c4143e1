import re
import sqlite3
from contextlib import ExitStack, closing
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx
import pytest
from desk_server import HOSTILE, PLAN, DeskServer, Visit, behind, query, served

from planner_executor.graph.desk.security.headers import POLICY
from planner_executor.graph.desk.security.origin import EMBEDDED, origin_refusal
from planner_executor.graph.desk.security.people import People
from planner_executor.graph.desk.security.rate import ATTEMPTS
from planner_executor.graph.desk.settings import DeskSettings
from planner_executor.graph.serving.access import RequestHead
from planner_executor.graph.testing import LoggedTools, step

PAGES = ("/", "/runs", "/start", "/policy")
OF_A_RUN = ("", "/review", "/timeline", "/results", "/revisions", "/effects", "/budget", "/audit", "/more")


class Inline(HTMLParser):
    """Finds what a page must not have: scripts and styles of its own, attributes that act, forms that Enter sends.

    A browser that is told Enter in a field presses the first button of the form, if that is not disabled.
    """

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.sends = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "form":
            self.sends = given.get("method") == "post"
        elif tag == "button":
            self.sends = self.sends and "disabled" not in given and given.get("type") != "button"
        elif tag in ("input", "select") and given.get("type") != "hidden" and self.sends:
            self.found.append(f"{tag} {given.get('name')} sends its form")
        if tag in ("style", "iframe", "object", "embed", "base") or (tag == "script" and "src" not in given):
            self.found.append(tag)
        for name, value in given.items():
            if name == "style" or name.startswith(("on", "hx-on")) or (value or "").startswith("javascript:"):
                self.found.append(f"{tag} {name}")

    def handle_endtag(self, tag: str) -> None:
        self.sends = self.sends and tag != "form"


def inline_in(page: str) -> list[str]:
    parser = Inline()
    parser.feed(page)
    return parser.found


def test_without_a_session_pages_lead_to_the_login_and_forms_do_nothing(server: DeskServer, waiting: str) -> None:
    with httpx.Client(base_url=server.url) as stranger:
        page = stranger.get(query("", waiting))
        sent = stranger.post(query("/decide", waiting), data={"decision": "approve"}, headers={"Origin": server.url})

    assert page.status_code == 303 and page.headers["location"].startswith("/login?to=%2Frun")
    assert sent.status_code == 401
    assert server.tools.calls == []


def test_a_link_opens_one_session_and_goes_on_to_the_page_that_was_asked_for(server: DeskServer) -> None:
    token = server.desk.door.links.issue()
    with httpx.Client(base_url=server.url) as first, httpx.Client(base_url=server.url) as second:
        opened = first.get("/login", params={"token": token, "to": "/runs"})
        again = second.get("/login", params={"token": token})

        assert (
            re.fullmatch(r"/runs#form=[-\w]{43}", opened.headers["location"]) and first.get("/runs").status_code == 200
        )
        assert again.status_code == 401 and "used before" in again.text
    for word in ("HttpOnly", "SameSite=strict"):
        assert word in opened.headers["set-cookie"]


def test_a_session_that_was_signed_out_of_is_over_in_every_process_of_the_desk(tmp_path: Path) -> None:
    settings = DeskSettings(secret="s" * 32)
    with ExitStack() as stack:
        one = stack.enter_context(served(tmp_path / "runs.db", settings=settings))
        other = stack.enter_context(served(one.database, settings=settings))
        visit = stack.enter_context(one.visit())
        copy = dict(visit.client.cookies)
        before = httpx.get(f"{other.url}/runs", cookies=copy).status_code
        out = visit.send("/", "/logout")
    with served(one.database, settings=settings) as restarted:
        after = httpx.get(f"{restarted.url}/runs", cookies=copy)

    assert (before, out.headers["location"]) == (200, "/login")
    assert after.status_code == 303 and after.headers["location"].startswith("/login")


def test_a_database_that_cannot_say_who_signed_out_lets_nobody_in(tmp_path: Path) -> None:
    with served(tmp_path / "runs.db") as server, server.visit() as visit:
        visit.get("/")
        with closing(sqlite3.connect(server.database)) as db, db:
            db.execute("CREATE TABLE desk_ended_sessions (another TEXT)")
        answers = [visit.get(path).status_code for path in ("/runs", "/start", "/login")]

    assert answers == [503, 503, 503]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "null"}, 403),
        ({}, 403),
    ],
)
def test_a_form_from_anywhere_else_decides_nothing(
    server: DeskServer, visit: Visit, waiting: str, headers: dict[str, str], status: int
) -> None:
    fields = {**visit.hidden(query("/review", waiting)), "decision": "approve"}

    sent = visit.client.post(query("/decide", waiting), data=fields, headers=headers)

    assert sent.status_code == status and server.tools.calls == []


def test_a_form_without_the_token_of_its_session_decides_nothing(
    server: DeskServer, visit: Visit, waiting: str
) -> None:
    fields = {**visit.hidden(query("/review", waiting)), "decision": "approve"}
    with server.visit() as other:
        sent = other.post(query("/decide", waiting), fields)

    assert sent.status_code == 403 and server.tools.calls == []


def test_nothing_is_decided_by_an_address_alone(visit: Visit, waiting: str) -> None:
    for path in ("/decide", "/control", "/check"):
        assert visit.get(query(path, waiting, decision="approve", act="cancel")).status_code == 404


def test_every_page_has_its_headers_and_nothing_inline_and_no_word_from_outside_as_markup(
    server: DeskServer, visit: Visit
) -> None:
    hostile = {"id": "a", "objective": HOSTILE, "tool": "read", "args": {HOSTILE: HOSTILE}, "success_criteria": HOSTILE}
    asks = {"id": "b", "objective": HOSTILE, "ask": HOSTILE, "depends_on": ["a"]}
    with server.agent() as agent:
        plan = {"steps": [hostile, asks], "answer": {HOSTILE: "{a_result}"}}
        run = agent.start(HOSTILE, constraints=[HOSTILE], plan=plan, thread=f"x/{HOSTILE}?&#").id
    paths = [*PAGES, *(query(page, run) for page in OF_A_RUN), query("/step", run, step="a"), "/nowhere"]

    for path in paths:
        answer = visit.get(path)
        assert answer.headers["content-security-policy"] == POLICY, path
        assert answer.headers["cache-control"] == "no-store"
        assert inline_in(answer.text) == [], path
        assert "\u202e" not in re.sub(r'<input type="hidden"[^>]*>', "", answer.text), path
        assert answer.status_code in (200, 404), path


def test_a_result_is_downloaded_and_never_opened(server: DeskServer, visit: Visit) -> None:
    with server.agent() as agent:
        agent.start("look", plan={"steps": [step("look", "read", what=HOSTILE)]}, thread="t")
        run = agent.resume("t", "approve").id

    sent = visit.get(query("/download", run, step="look"))

    assert sent.text == "calm"
    assert sent.headers["content-disposition"].startswith("attachment")
    assert sent.headers["content-type"].startswith("application/octet-stream")


def test_what_cannot_be_seen_in_a_result_is_shown_as_one_escape_wherever_it_is_read(tmp_path: Path) -> None:
    def tools(log: LoggedTools) -> list[Any]:
        return [log.tool("read", lambda **_: HOSTILE, effect="read")]

    with served(tmp_path / "runs.db", tools=tools) as server, server.visit() as visit:
        with server.agent() as agent:
            agent.start("look", plan={"steps": [step("a", "read")]}, thread="t")
            run = agent.resume("t", "approve").id
        pages = [visit.get(query(path, run)).text for path in ("", "/value", "/results", "/audit")]

    for page in pages:
        assert "\\u{202e}" in page and "\u202e" not in page and "\\u{5c}" not in page


def test_a_proxys_header_names_who_decides_and_the_record_keeps_it(tmp_path: Path) -> None:
    settings = behind("127.0.0.1", roles="X-Roles", reviewers=People.of(["Ann"]))
    with served(tmp_path / "runs.db", settings=settings) as server:
        with server.agent() as agent:
            run = agent.start("send", plan=PLAN, thread="t").id
        with server.visit(**{"X-User": "bob"}) as reader:
            looked = reader.get(query("/review", run))
            refused = reader.send(query("/review", run), query("/decide", run), decision="approve")
        with server.visit(**{"X-User": "ann", "X-Roles": "finance, staff"}) as reviewer:
            hidden = reviewer.hidden(query("/review", run))
            reviewer.post(query("/decide", run), {**hidden, "decision": "approve"})
        for future in list(server.desk.drives._going.values()):
            future.result(20)
        with server.agent() as agent:
            (decided,) = [event for event in agent.log(run).events if event.kind == "decided"]

    assert looked.status_code == 200 and 'name="decision"' not in looked.text
    assert refused.status_code == 403
    assert decided.payload["approver"] == "server:ann" and decided.payload["roles"] == ["finance", "staff"]


@pytest.mark.parametrize(
    ("headers", "shows"),
    [
        ([("X-User", "bob"), ("X-Roles", "finance")], 'href="/start"'),
        ([("X-User", "bob"), ("X-Roles", "staff")], "read only"),
        ([("X-User", "bob"), ("X-Roles", "guests")], None),
        ([("X-User", "bob")], None),
        ([("X-User", "bob"), ("X-Roles", "finance"), ("X-Roles", "finance")], None),
        ([("X-User", "bob"), ("X-User", "ann"), ("X-Roles", "finance")], None),
        ([("X-User", "b\u200bob".encode()), ("X-Roles", "finance")], None),
        ([("X-User", "Ünal".encode()), ("X-Roles", "finance")], ">Ünal<"),
        ([("X-User", b"\xdcnal"), ("X-Roles", "finance")], ">Ünal<"),
    ],
)
def test_the_roles_of_a_proxys_header_say_who_decides_who_looks_and_who_stays_outside(
    tmp_path: Path, headers: list[tuple[str, str | bytes]], shows: str | None
) -> None:
    settings = behind(
        "127.0.0.1", roles="X-Roles", reviewers=People.of([], ["finance"]), readers=People.of([], ["staff"])
    )
    with served(tmp_path / "runs.db", settings=settings) as server:
        answer = httpx.get(server.url, headers=headers)

    assert answer.status_code == (303 if shows is None else 200)
    assert shows is None or shows in answer.text


def test_a_name_counts_only_from_the_proxy_itself(tmp_path: Path) -> None:
    with served(tmp_path / "runs.db", settings=behind("10.0.0.0/24")) as server:
        answer = httpx.get(server.url, headers={"X-User": "ann", "X-Forwarded-For": "10.0.0.5"})

    assert answer.status_code == 303


def test_a_page_that_another_site_leads_to_is_asked_for_again_with_the_sessions_cookie(server: DeskServer) -> None:
    from_a_mail = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}

    answer = httpx.get(f"{server.url}/run?run=a%22%3E.1&x=1", headers=from_a_mail)

    assert answer.status_code == 200 and 'content="0; url=/run?run=a%22%3E.1&amp;x=1"' in answer.text


def test_an_address_with_a_slash_too_many_leads_nowhere(visit: Visit) -> None:
    """A redirect would name the scheme of the connection, which is no longer HTTPS behind a proxy."""
    assert visit.get("/runs/").status_code == 404


def test_a_browser_keeps_static_files_and_no_answer_that_there_is_none(visit: Visit) -> None:
    kept, missing = (visit.get(f"/static/{name}").headers["cache-control"] for name in ("desk.css", "another.css"))

    assert "max-age" in kept and missing == "no-store"


def test_a_fault_of_the_desk_is_a_page_with_its_headers_and_on_the_access_log(
    server: DeskServer, visit: Visit, caplog: pytest.LogCaptureFixture
) -> None:
    server.desk.policy = lambda: 1 / 0

    with caplog.at_level("INFO", "planner_executor.desk.access"):
        answer = visit.get("/policy")

    assert answer.status_code == 500 and "check before you repeat it" in answer.text
    assert answer.headers["content-security-policy"] == POLICY and answer.headers["cache-control"] == "no-store"
    assert "division" not in answer.text and "GET /policy 500" in caplog.text


@pytest.mark.parametrize("path", ["//evil.example/x", "/%5Cevil.example", "/%09/evil.example"])
def test_no_address_of_the_desk_leads_on_to_another_host(server: DeskServer, path: str) -> None:
    from_a_mail = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}

    answer = httpx.get(server.url + path, headers=from_a_mail)

    assert 'content="0; url=/"' in answer.text and "evil" not in answer.text


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize(("mode", "dest"), [("no-cors", "image"), ("navigate", "iframe"), ("cors", "empty")])
def test_a_page_of_another_site_embeds_nothing_and_uses_up_no_attempt_to_sign_in(
    site: str, mode: str, dest: str
) -> None:
    fetched = [
        ("host", "127.0.0.1"),
        *((f"sec-fetch-{n}", v) for n, v in (("site", site), ("mode", mode), ("dest", dest))),
    ]

    assert origin_refusal(RequestHead("GET", fetched), frozenset()) == EMBEDDED
    opened = [*fetched[:2], ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")]
    assert origin_refusal(RequestHead("GET", opened), frozenset()) is None


def test_addresses_that_cannot_be_read_are_refused_like_those_of_others(server: DeskServer) -> None:
    origin = httpx.post(f"{server.url}/link", headers={"Origin": "http://[::1"})
    referer = httpx.post(f"{server.url}/run/decide", headers={"Origin": server.url, "Referer": "http://["})

    assert (origin.status_code, referer.status_code) == (403, 401)


def test_a_desk_that_only_shows_decides_nothing(tmp_path: Path) -> None:
    with served(tmp_path / "runs.db", settings=DeskSettings(read_only=True)) as server:
        with server.agent() as agent:
            run = agent.start("send", plan=PLAN, thread="t").id
        with server.visit() as visit:
            token = visit.hidden("/")["token"]
            answer = visit.post(query("/control", run), {"token": token, "act": "cancel"})
            page = visit.get(query("/review", run)).text

            offered = visit.get("/start").text + visit.get(query("/more", run)).text
            typed = visit.post(query("/check", run), {"token": token}, **{"HX-Request": "true"})

    assert answer.status_code == 403 and 'name="decision"' not in page
    assert "<textarea" not in offered and "You may look" in offered
    assert "Inbox" in answer.text and typed.status_code == 403 and "Inbox" not in typed.text


def test_links_that_work_are_not_limited(server: DeskServer) -> None:
    for _ in range(ATTEMPTS + 1):
        with server.visit():
            pass

    assert server.desk.door.attempts.allows("127.0.0.1")


def test_the_access_log_says_who_looked_at_what_without_tokens(
    server: DeskServer, visit: Visit, waiting: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO", "planner_executor.desk.access"):
        visit.get(query("/step", waiting, step="look", token="secret"))
        visit.get("/runs")  # the line is written after the page is sent

    assert caplog.messages[0].startswith(f"local 127.0.0.1 GET /run/step run={waiting} step=look 200")
    assert "secret" not in caplog.text
