"""A desk on a port of its own, in this process, and visitors with a session."""

import asyncio
import html
import re
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount

from planner_executor.graph.agent import Agent
from planner_executor.graph.desk.application import desk_application
from planner_executor.graph.desk.drives import agents_with
from planner_executor.graph.desk.security.identity import proxy_identity, trusted_proxies
from planner_executor.graph.desk.security.people import ALL, People, Permissions
from planner_executor.graph.desk.settings import DeskSettings
from planner_executor.graph.desk.templates import environment
from planner_executor.graph.desk.views.request import request_view
from planner_executor.graph.desk.views.step_form import StepForm
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

HOSTILE = "<script>alert(1)</script><svg onload=alert(2)><style>*{display:none}</style>\u202eevil"
PLAN = {
    "steps": [
        step("look", "read", what="wind"),
        step("send", "mail", after=["look"], to="ann@example.com", text="{look_result}"),
    ]
}


REFUND = {
    "type": "object",
    "properties": {
        "to": {"type": "string", "title": "Paid to", "maxLength": 80},
        "amount": {"type": "number", "maximum": 500},
        "currency": {"enum": ["EUR", "USD"]},
    },
    "required": ["to", "amount"],
    "additionalProperties": False,
}
REFUNDED = {
    "steps": [
        step("order", "look_up", what="4711"),
        step("pay", "refund", after=["order"], to="ann@example.com", amount="{order_result.total}", currency="EUR"),
        step("tell", "look_up", after=["pay"], what="done"),
    ]
}


def tools_of_a_shop(log: LoggedTools) -> list[Any]:
    what = {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]}
    return [
        log.tool("look_up", lambda **_: {"total": 120}, effect="read", trusted=False, schema=what),
        log.tool("refund", effect="external", schema=REFUND),
    ]


def kept_in(opened: httpx.Response) -> str:
    """What the page that a sign-in leads to keeps in the browser."""
    return opened.headers["location"].partition("#form=")[2]


@dataclass
class Visit:
    """A browser's requests, without the browser; `token` is what the page of the link has kept in it."""

    client: httpx.Client
    token: str = ""

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self.client.get(path, **more)

    def hidden(self, path: str) -> dict[str, str]:
        """The hidden fields of the forms on a page."""
        found = re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', self.get(path).text)
        fields = {name: html.unescape(value) for name, value in found}
        return {**fields, "token": fields["token"] or self.token} if "token" in fields else fields

    def send(self, page: str, to: str, **fields: str) -> httpx.Response:
        """Send a form with the hidden fields of a page."""
        return self.post(to, {**self.hidden(page), **fields})

    def post(self, to: str, fields: dict[str, str], **headers: str) -> httpx.Response:
        own = {"Origin": str(self.client.base_url).rstrip("/")}
        return self.client.post(to, data=fields, headers={**own, **headers})


@dataclass
class DeskServer:
    """A running desk; `tools` keeps what was called."""

    app: Starlette
    url: str
    database: Path | str
    tools: LoggedTools
    options: dict[str, Any]
    at: str = ""

    @property
    def desk(self) -> Any:
        return self.app.state.desk

    @contextmanager
    def visit(self, **headers: str) -> Iterator[Visit]:
        """A visitor who has opened a link, or whom headers name."""
        with httpx.Client(base_url=self.url, headers=headers, timeout=20) as client:
            if not headers:
                opened = client.get(f"{self.at}/login", params={"token": self.desk.door.links.issue()})
                assert opened.status_code == 303
                yield Visit(client, kept_in(opened))
            else:
                yield Visit(client)

    @contextmanager
    def agent(self, *answers: Any, **options: Any) -> Iterator[Agent]:
        """An agent of another owner over the same database."""
        planner = ScriptedModel(answers)
        with Agent.open(self.database, **{**self.options, "planner": planner, **options}) as agent:
            yield agent


def behind(*proxies: str, roles: str | None = None, reviewers: People = ALL, readers: People = ALL) -> DeskSettings:
    """Settings of a desk behind a proxy that names users in X-User."""
    trusted = trusted_proxies(proxies, "--proxy")
    identity = proxy_identity("X-User", trusted, "--proxy", roles)
    permissions = Permissions(reviewers, readers)
    return DeskSettings(identity=identity, links=False, proxies=trusted, permissions=permissions)


def tools_of_every_kind(log: LoggedTools) -> list[Any]:
    """Tools that read, read what others wrote, act, and are cut off in the middle."""

    def cut(**_: object) -> None:
        raise ConnectionError("cut off")

    return [
        log.tool("read", lambda **_: "calm", effect="read"),
        log.tool("fetch", lambda **_: "click here", effect="read", trusted=False),
        log.tool("mail", effect="external"),
        log.tool("fax", cut, effect="external"),
    ]


@contextmanager
def served(database: Path | str, *answers: Any, at: str = "", tools: Any = None, **desk: Any) -> Iterator[DeskServer]:
    """Serve a desk whose planner answers from a script; `at` mounts it in another application."""
    log = LoggedTools()
    own = tools(log) if tools else [log.tool("read", lambda **_: "calm", effect="read"), log.tool("mail")]
    options = {"tools": own, **desk.pop("options", {})}
    agents = desk.pop("agents", agents_with(database, planner=ScriptedModel(answers), **options))
    app = desk_application(database, agents=agents, **desk)
    outer = Starlette(routes=[Mount(at, app)]) if at else app
    with serving(outer) as url:
        yield DeskServer(app, url, database, log, options, at)


class PromptServer(uvicorn.Server):
    """Ends at once: uvicorn looks every tenth of a second whether it is to, and gives visitors another to go."""

    told: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None

    async def main_loop(self) -> None:
        """Serve until `end`."""
        event = asyncio.Event()
        self.told = asyncio.get_running_loop(), event
        if not await self.on_tick(0):
            await event.wait()

    def end(self) -> None:
        """Stop serving; called on another thread."""
        self.should_exit = True
        if self.told is not None:
            loop, event = self.told
            loop.call_soon_threadsafe(event.set)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close what is open; what is still at work has the time that uvicorn gives it."""
        for connection in list(self.server_state.connections):
            connection.shutdown()
        await asyncio.sleep(0.001)
        if self.server_state.connections or self.server_state.tasks:
            await super().shutdown(sockets)
            return
        for listening in (*self.servers, *(sockets or ())):
            listening.close()
        await self.lifespan.shutdown()


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """Serve an application on a port of its own; the address names no more than this machine's loopback."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", 0))
        listener.listen()  # a visitor who comes before the server accepts has to wait, and is not refused
        config = uvicorn.Config(app, log_config=None, proxy_headers=False, timeout_graceful_shutdown=1, ws="none")
        server = PromptServer(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.end()
            thread.join(20)


def query(page: str, run: str, **more: str) -> str:
    """The address of a page of a run."""
    return str(httpx.URL(f"/run{page}", params={"run": run, **more}))


def decide(visit: Visit, run: str, **fields: str) -> httpx.Response:
    """Send the form of a review."""
    return visit.send(query("/review", run), query("/decide", run), **fields)


def ended(server: DeskServer, run: str) -> str:
    """Wait until the desk has carried a run on, and return its status."""
    drives = server.desk.drives
    for future in list(drives._going.values()) if drives is not None else ():
        future.result(20)
    with server.agent() as agent:
        return agent.show(run).status


REVIEW, PARTS, FIELDS = (
    environment().get_template(name) for name in ("run_review.html", "_parts.html", "_fields.html")
)


def panel_of(shown: Any, forms: Sequence[StepForm] = (), **more: Any) -> str:
    """Return the page of an open request below the head of its run, as a reviewer sees it, without a server."""
    by_id: dict[str, StepForm] = {one.id: one for one in forms}
    panels = {
        "can_edit": bool(forms), "forms_by_id": by_id, "form_order": list(by_id), "follows": dict.fromkeys(by_id),
        "is_large": False, "is_open": False, "opened": "", "added": {}, "befores": {}, "origins": {}, "kinds": {},
        "first_kind": "", "tool_names": (), "answer": None, "text": "", "ahead": None, "objectives": {}, "check": None,
    }  # fmt: skip
    values = {
        "view": request_view(shown), "shown": shown, "run": shown.run, "now": 0.0, "can_decide": True, "token": "",
        "link": lambda *_, **__: "", "left": lambda *_: "", "drawing": None, "wrong": "", "given": {}, "bounds": {},
        "looks": {}, "has_voted": False, "parts": PARTS.module, "fields": FIELDS.module, **panels, **more,
    }  # fmt: skip
    return html.unescape("".join(REVIEW.blocks["panel"](REVIEW.new_context(values))))
