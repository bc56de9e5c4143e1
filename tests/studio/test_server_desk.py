"""The review desk as routes of `langgraph dev`: under the server's own users, and by a link of its log without any."""

import asyncio
import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

from planner_executor.graph.runs.runs import open_runs

POLICY = """
[approvers.tools.write_file]
roles = ["finance"]
four_eyes = true
"""
WRITE = {"id": "w", "objective": "write", "tool": "write_file", "args": {"path": "money.txt", "content": "x"}}


DOCS = Path(__file__).parents[2] / "docs" / "review-desk.md"


@pytest.fixture(scope="module")
def guarded(serve: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A server that knows its users, with the lines of `langgraph.json` that the docs show."""
    (shown,) = re.findall(r"```json\n(.*?)```", DOCS.read_text(), re.DOTALL)
    policy = tmp_path_factory.mktemp("policy") / "policy.toml"
    policy.write_text(POLICY)
    auth, http = Path(__file__).with_name("token_auth.py"), json.loads(shown)["http"]
    return serve(auth=auth, http=http, PLANNER_EXECUTOR_POLICY=str(policy))


def browser(server: Any, **headers: str) -> httpx.Client:
    return httpx.Client(base_url=server.url, headers={"Origin": server.url, **headers}, timeout=30)


def approved(http: httpx.Client, run: str, kept: str = "") -> httpx.Response:
    """Send the form of a review; `kept` is what a sign-in by a link has left in the page's storage."""
    page = http.get("/desk/run/review", params={"run": run}).text
    hidden = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', page))
    fields = {name: unescape(value) for name, value in hidden.items()}
    fields["token"] = fields["token"] or kept
    return http.post("/desk/run/decide", params={"run": run}, data={**fields, "decision": "approve"})


def events(server: Any, run: str) -> list[Any]:
    async def read() -> list[Any]:
        async with open_runs(server.home / "runs.db") as runs:
            return list(await runs.log(run))

    return asyncio.run(read())


def ended(server: Any, run: str) -> bool:
    return any(event.kind == "run_ended" for event in events(server, run))


def test_users_of_the_server_decide_at_its_desk_under_their_names_and_roles(guarded: Any, thread_of: Any) -> None:
    ada = thread_of(guarded, Authorization="Bearer ada+finance")
    run = ada.run({"goal": "write", "plan": {"steps": [WRITE]}})["run"]["id"]
    with browser(guarded, Authorization="Bearer ada+finance") as asker:
        again = approved(asker, run)
        page = asker.get("/desk/run/review", params={"run": run}).text
        rules = asker.get("/desk/policy").text
    with browser(guarded, Authorization="Bearer bob+finance") as other:
        decided = approved(other, run)
        guarded.until(lambda: ended(guarded, run), "the run ends")
    with browser(guarded) as nobody:
        refused = nobody.get("/desk/runs")
    votes = [event.payload for event in events(guarded, run) if event.kind == "decided"]

    assert (again.status_code, decided.status_code) == (422, 303)
    assert "asked for this" in again.text and "asked for this" in page
    assert "policy.toml" in rules and "calls and plans with write_file: the role finance" in rules
    assert votes[-1]["approver"] == "server:bob@example.com" and votes[-1]["roles"] == ["finance"]
    assert refused.status_code == 401
    assert ada.state()["values"]["status"] == "succeeded"


def test_where_the_server_says_who_sees_which_thread_its_desk_is_for_those_whom_the_settings_name(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    (shown,) = re.findall(r"```json\n(.*?)```", DOCS.read_text(), re.DOTALL)
    settings = tmp_path / "settings.toml"
    settings.write_text("[desk.readers]\nnames = ['ada@example.com']\n")
    auth = Path(__file__).with_name("owner_auth.py")
    owned = serve(auth=auth, http=json.loads(shown)["http"], PLANNER_EXECUTOR_CONFIG=str(settings))

    with browser(owned, Authorization="Bearer ada") as named, browser(owned, Authorization="Bearer eve") as other:
        reads, comes_in = named.get("/desk/"), other.get("/desk/runs")
        told = other.get("/desk/login").text

    assert reads.status_code == 200 and "read only" in reads.text
    assert comes_in.status_code == 303 and "[desk.reviewers]" in told


def test_without_users_a_link_of_the_servers_log_opens_the_desk_and_forms_of_others_do_nothing(
    server: Any, thread: Any
) -> None:
    run = thread.run({"goal": "write", "plan": {"steps": [WRITE]}})["run"]["id"]
    with browser(server) as http:
        outside = http.get("/desk", follow_redirects=True)
        assert http.post("/desk/link").status_code == 200
        token = server.until(lambda: re.search(r"/desk/login\?token=([\w-]+)", server.log), "the link is written")[1]
        kept = http.get("/desk/login", params={"token": token}).headers["location"].partition("#form=")[2]
        inbox, style = http.get("/desk/"), http.get("/desk/static/desk.css")
        with http.stream("GET", "/desk/run/live", params={"run": run}) as stream:
            first = next(line for line in stream.iter_lines() if line.startswith("event"))
        elsewhere = [
            http.get("/desk/", headers=headers).status_code
            for headers in ({"Host": "evil.example"}, {"X-Forwarded-For": "203.0.113.9"})
        ]
        foreign = http.post("/desk/logout", headers={"Origin": "http://localhost:3000"}, data={})
        by_cookie = approved(http, run)
        decided = approved(http, run, kept)
        server.until(lambda: ended(server, run), "the run ends")

    assert by_cookie.status_code == 403
    assert outside.status_code == 401 and "Sign in" in outside.text
    assert f'href="/desk/run/review?run={run}"' in inbox.text and style.status_code == 200
    assert elsewhere == [421, 403]
    assert first == "event: desk:run" and foreign.status_code == 403
    assert decided.headers["location"].startswith("/desk/run")


def test_the_desk_of_a_server_has_a_host_of_its_own_whose_cookie_no_other_server_gets(server: Any, thread: Any) -> None:
    run = thread.run({"goal": "write", "plan": {"steps": [WRITE]}})["run"]["id"]
    with browser(server) as http:
        http.post("/desk/link")
    link = r"http://(desk-[0-9a-f]{16}\.localhost:\d+)/desk/login\?token=([\w-]+)"
    host, token = server.until(lambda: re.findall(link, server.log)[-1:], "the link is written")[0]
    with browser(server, Host=host, Origin=f"http://{host}") as own:
        begun = own.get("/desk/login", params={"token": token}).headers["location"]
        elsewhere = own.get("/threads").status_code
        decided = approved(own, run)
        server.until(lambda: ended(server, run), "the run ends")

    assert host.endswith(f":{httpx.URL(server.url).port}") and "#form" not in begun and elsewhere == 421
    assert decided.headers["location"].startswith("/desk/run")
