"""Another server on this machine, whose address is the desk's up to its port: browsers send it the desk's cookies."""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from desk_server import PLAN, DeskServer, Visit, ended, kept_in, query, served

from planner_executor.graph.cli.commands.serve import listening
from planner_executor.graph.desk.security.rate import ATTEMPTS
from planner_executor.graph.desk.settings import DeskSettings
from planner_executor.graph.errors import InputError


def host_of(server: DeskServer) -> dict[str, str]:
    """The headers of a browser at the desk's own name."""
    host = f"{server.desk.settings.own_host.name}:{httpx.URL(server.url).port}"
    return {"Host": host, "Origin": f"http://{host}"}


def waiting(server: DeskServer) -> str:
    with server.agent() as agent:
        return agent.start("send the news", plan=PLAN, thread="news").id


def test_who_has_the_cookie_alone_changes_nothing_and_reads_no_token(server: DeskServer, waiting: str) -> None:
    with server.visit() as visit:
        stolen = dict(visit.client.cookies)
    with httpx.Client(base_url=server.url, cookies=stolen) as neighbour:
        thief = Visit(neighbour)
        pages = [neighbour.get(path) for path in ("/", "/start", query("/review", waiting), query("/edit", waiting))]
        sent = [
            thief.send(query("/review", waiting), query("/decide", waiting), decision="approve"),
            thief.send(query("", waiting), query("/control", waiting), act="cancel"),
            thief.send("/start", "/start", goal="steal"),
            thief.send(query("/review", waiting), query("/check", waiting)),
            thief.send("/", "/logout"),
            neighbour.post("/approvals", data={"token": ""}, headers={"Origin": server.url}),
        ]
        as_own = neighbour.get("/", headers=host_of(server))
        still = neighbour.get("/").status_code
    with server.agent() as agent:
        status = agent.show(waiting).status

    assert {page.status_code for page in pages} == {200} and still == 200, "what is there can be read"
    assert all(
        re.findall(r'name="token" value="([^"]*)"', page.text) in ([], [""] * 9) or not_held(page) for page in pages
    )
    assert {answer.status_code for answer in sent} == {403}
    assert not_held(as_own), "the desk's own name in the request gives the cookie of another host no more"
    assert (status, server.tools.calls) == ("waiting", [])


def not_held(page: httpx.Response) -> bool:
    """Whether no form of a page has a token."""
    return set(re.findall(r'name="token" value="([^"]*)"', page.text)) <= {""}


def test_with_what_the_link_left_in_the_page_everything_works_there(server: DeskServer, waiting: str) -> None:
    with server.visit() as visit:
        assert re.fullmatch(r"[-\w]{43}", visit.token)
        done = visit.send(query("/review", waiting), query("/decide", waiting), decision="approve")

    assert done.status_code == 303 and ended(server, waiting) == "succeeded"


def test_at_the_desks_own_name_the_pages_have_the_token(server: DeskServer, waiting: str) -> None:
    with httpx.Client(base_url=server.url, headers=host_of(server)) as client:
        opened = client.get("/login", params={"token": server.desk.door.links.issue()})
        page = client.get(query("/review", waiting)).text
        hidden = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', page))
        done = client.post(query("/decide", waiting), data={**hidden, "decision": "approve"})

    assert opened.headers["location"] == "/" and kept_in(opened) == ""
    assert done.status_code == 303 and ended(server, waiting) == "succeeded"


def test_the_name_is_the_desks_own_and_no_other_name_of_this_machine_is_answered(server: DeskServer) -> None:
    other = DeskSettings().own_host.name

    assert re.fullmatch(r"desk-[0-9a-f]{16}\.localhost", other) and other != server.desk.settings.own_host.name
    assert DeskSettings(secret="s" * 32).own_host == DeskSettings(secret="s" * 32).own_host
    for host in (other, "desk.localhost", f"x.{server.desk.settings.own_host.name}"):
        assert httpx.get(f"{server.url}/login", headers={"Host": host}).status_code == 421


def test_failed_links_are_counted_by_link_and_use_up_nobody_elses(server: DeskServer) -> None:
    token = server.desk.door.links.issue()
    with httpx.Client(base_url=server.url) as client:
        same = [client.get("/login", params={"token": "wrong"}).status_code for _ in range(ATTEMPTS + 2)]
        others = {client.get("/login", params={"token": f"wrong {n}"}).status_code for n in range(3 * ATTEMPTS)}
        right = client.get("/login", params={"token": token}).status_code

    assert same == [401] * ATTEMPTS + [429] * 2
    assert others == {401} and right == 303


@pytest.mark.parametrize("mounted", ["", "/desk"])
def test_behind_https_no_other_host_can_set_the_cookies(tmp_path: Path, mounted: str) -> None:
    with served(tmp_path / "runs.db", settings=DeskSettings(secure=True), at=mounted) as server:
        with httpx.Client(base_url=server.url) as client:
            opened = client.get(f"{mounted}/login", params={"token": server.desk.door.links.issue()})
        name, _, rest = opened.headers["set-cookie"].partition("=")
        cookie = {name: rest.partition(";")[0]}
        found = [
            httpx.get(f"{server.url}{mounted}/runs", headers={"Cookie": f"{one}={cookie[name]}"}).status_code
            for one in (name, name.removeprefix("__Host-"))
        ]
        page = httpx.get(f"{server.url}{mounted}/start", headers={"Cookie": f"{name}={cookie[name]}"})
        token = dict(re.findall(r'name="(token)" value="([^"]*)"', page.text))
        out = httpx.post(
            f"{server.url}{mounted}/logout",
            data=token,
            headers={"Cookie": f"{name}={cookie[name]}", "Origin": server.url},
        )

    assert name == "__Host-planner_executor_desk"
    assert "; Path=/;" in rest and "Secure" in rest and "Domain" not in rest
    assert found == [200, 303]
    assert kept_in(opened) == "" and not not_held(page)
    dropped = out.headers.get_list("set-cookie")
    assert any(line.startswith('__Host-planner_executor_desk="";') and "Secure" in line for line in dropped)


def test_a_stream_ends_when_its_session_is_signed_out_of_here_or_in_another_process(tmp_path: Path) -> None:
    settings = DeskSettings(secret="s" * 32)
    with (
        served(tmp_path / "runs.db", settings=settings) as one,
        served(one.database, settings=settings) as other,
        one.visit() as visit,
    ):
        run = waiting(one)
        copy = dict(visit.client.cookies)
        with (
            visit.client.stream("GET", query("/live", run)) as here,
            httpx.stream("GET", f"{other.url}/live", cookies=copy, timeout=20) as there,
            httpx.stream("GET", f"{other.url}{query('/live', run)}", cookies=copy, timeout=20) as run_there,
        ):
            lines = here.iter_lines()
            next(lines)
            with httpx.Client(base_url=one.url, cookies=copy) as again:
                out = Visit(again, visit.token).send("/", "/logout")
            ended_all = [list(lines), list(there.iter_lines()), list(run_there.iter_lines())]

    assert out.status_code == 303 and len(ended_all) == 3


def test_a_stream_ends_when_its_session_is_too_old(tmp_path: Path) -> None:
    with served(tmp_path / "runs.db", settings=DeskSettings(session_s=2)) as server, server.visit() as visit:
        run = waiting(server)
        with visit.client.stream("GET", query("/live", run)) as stream:
            told = list(stream.iter_lines())
        after = visit.get("/runs").status_code

    assert told and after == 303


def test_nobody_else_listens_at_the_other_loopback_address() -> None:
    try:
        taken = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("this machine has no ::1")
    with taken, pytest.raises(InputError, match=r"::1:\d+ cannot be had"):
        listening("127.0.0.1", taken.getsockname()[1])
    both = listening("127.0.0.1", 0)
    assert {(one.getsockname()[0], one.getsockname()[1]) for one in both} == {
        (address, both[0].getsockname()[1]) for address in ("127.0.0.1", "::1")
    }
    for one in both:
        one.close()


def test_who_pauses_and_who_cancels_is_on_record(server: DeskServer, visit: Visit, waiting: str) -> None:
    visit.send(query("", waiting), query("/control", waiting), act="cancel")

    with server.agent() as agent:
        (ended,) = [event.payload for event in agent.log(waiting).events if event.kind == "run_ended"]
    assert ended["by"].startswith("os:")
    assert f"cancelled by {ended['by']}" in visit.get(query("/audit", waiting)).text


@contextmanager
def neighbour(desk: str) -> Iterator[tuple[str, list[str]]]:
    """A server on a port beside the desk's that does what it can with the cookies that it is sent."""
    got: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if cookies := self.headers.get("Cookie"):
                got.append(cookies)
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(b"<title>neighbour</title>")

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", got
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("place", ["its own name", "127.0.0.1"])
def test_in_a_browser_a_neighbour_cannot_decide(chat_browser: Any, tmp_path: Path, place: str) -> None:
    with served(tmp_path / "runs.db") as server, neighbour(server.url) as (beside, got):
        run = waiting(server)
        own = f"http://{server.desk.settings.own_host.name}:{httpx.URL(server.url).port}"
        desk = own if place == "its own name" else server.url
        context = chat_browser.new_context()
        page = context.new_page()
        page.goto(f"{desk}/login?token={server.desk.door.links.issue()}")
        shown = page.url
        page.goto(beside)
        stolen = dict(part.partition("=")[::2] for line in got for part in line.split("; "))
        with httpx.Client(base_url=server.url, cookies=stolen) as thief, suppress(KeyError):
            Visit(thief).send(query("/review", run), query("/decide", run), decision="approve")
        assert server.tools.calls == []
        tab = context.new_page()
        tab.goto(f"{desk}{query('/review', run)}")
        tab.click("#approve")
        tab.wait_for_url(lambda url: "/review" not in url)
        status = ended(server, run)
        context.close()

    assert "#" not in shown and "form=" not in shown
    assert bool(stolen) == (place == "127.0.0.1"), "a browser sends the cookie of an address to all its ports"
    assert status == "succeeded"
