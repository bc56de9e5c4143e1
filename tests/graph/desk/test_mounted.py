"""The desk within another server: what the docs show is served, below any path, under that server's users."""

import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from desk_server import PLAN, query, served, serving
from starlette.applications import Starlette
from starlette.authentication import AuthCredentials, AuthenticationBackend, BaseUser, SimpleUser
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import HTTPConnection
from starlette.routing import Mount

from planner_executor.graph.desk.security.identity import ServerIdentity
from planner_executor.graph.desk.security.people import People, Permissions
from planner_executor.graph.desk.settings import DeskSettings

DOCS = Path(__file__).parents[3] / "docs" / "review-desk.md"


def test_what_the_docs_show_is_a_server_with_the_desk_below_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shown: dict[str, Any] = {}
    exec(re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)[0], shown)

    with serving(shown["app"]) as url, httpx.Client(base_url=url, follow_redirects=True) as browser:
        inbox = browser.get(shown["link"])

    assert inbox.status_code == 200 and inbox.url.path == "/desk/" and "Nothing waits for you" in inbox.text
    with pytest.raises(Exception, match="closed"):  # the server's lifespan has closed the desk
        shown["desk"].state.desk._records.check()


@pytest.mark.parametrize("at", ["/desk", "/of/a/team/desk"])
def test_everything_of_a_mounted_desk_is_below_its_path(tmp_path: Path, at: str) -> None:
    with served(tmp_path / "runs.db", at=at) as server:
        with server.agent() as agent:
            run = agent.start("send", plan=PLAN, thread="t").id
        with server.visit() as visit:
            (cookie,) = visit.client.cookies.jar
            page = visit.get(f"{at}{query('/review', run)}")
            addresses = set(re.findall(r'(?:href|src|action|hx-get|hx-post|hx-sse:connect)="(/[^"]*)"', page.text))
            loaded = {link: visit.get(link).status_code for link in addresses if f"{at}/static/" in link}
            with visit.client.stream("GET", f"{at}{query('/live', run)}") as stream:
                first = next(stream.iter_lines())
            decided = visit.send(f"{at}{query('/review', run)}", f"{at}{query('/decide', run)}", decision="stop")
            visit.client.cookies.clear()
            outside = visit.get(f"{at}/runs?status=failed")

    assert page.status_code == 200 and addresses and all(link.startswith(f"{at}/") for link in addresses)
    assert len(loaded) >= 4 and set(loaded.values()) == {200}
    assert cookie.path == at and first.startswith(("event", "id"))
    assert decided.headers["location"].startswith(f"{at}/run?")
    assert outside.headers["location"] == f"{at}/login?to=%2Fruns%3Fstatus%3Dfailed"


def test_a_mounted_desk_shows_the_policy_of_its_agents_and_a_changed_file_at_once(tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    file.write_text('[tools.mail]\nverdict = "deny"\n')

    def shown(**options: Any) -> list[str]:
        with served(tmp_path / "runs.db", options=options) as server, server.visit() as visit:
            before = visit.get("/policy").text
            file.write_text('[tools.mail]\nverdict = "ask"\n')
            return [before, visit.get("/policy").text]

    denied, asked = shown(policy=file)
    of_code, _ = shown(policy={"tools": {"mail": {"verdict": "deny"}}})

    assert str(file) in denied and '<li dir="auto">mail (external)</li>' in denied
    assert "each call of what the policy asks about: mail (external)" in asked
    assert "set by the program that serves this desk" in of_code


class User(SimpleUser):
    def __init__(self, name: str, roles: list[str]) -> None:
        super().__init__(name)
        self.roles = roles

    @property
    def identity(self) -> str:
        return self.username


class ByHeader(AuthenticationBackend):
    """Whoever a header names, with roles after a plus sign."""

    async def authenticate(self, conn: HTTPConnection) -> tuple[AuthCredentials, BaseUser] | None:
        name, _, role = conn.headers.get("x-test", "").partition("+")
        return (AuthCredentials(), User(name, [role] if role else [])) if name else None


@pytest.mark.parametrize(("who", "shows"), [("ann+finance", "Start"), ("bob", "read only"), ("", None)])
def test_users_of_the_server_around_are_users_of_the_desk(tmp_path: Path, who: str, shows: str | None) -> None:
    settings = DeskSettings(identity=ServerIdentity(), links=False, permissions=Permissions(People.of([], ["finance"])))
    with served(tmp_path / "runs.db", settings=settings) as server:
        around = Starlette(
            routes=[Mount("/desk", server.app)], middleware=[Middleware(AuthenticationMiddleware, backend=ByHeader())]
        )
        with serving(around) as url:
            page = httpx.get(f"{url}/desk/", headers={"X-Test": who}, follow_redirects=True)

    assert page.status_code == (200 if shows else 403)
    assert (shows or "Sign in there first") in page.text
