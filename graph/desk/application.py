"""The desk as an ASGI application: to serve by itself, or to mount in another one."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from planner_executor.graph.desk.desk import Desk, PlaybookFolder
from planner_executor.graph.desk.drives import Agents, Drives, SameAgents
from planner_executor.graph.desk.pages import (
    alike,
    approvals,
    control,
    editing,
    lists,
    live,
    login,
    review,
    run,
    sign_in,
    start,
)
from planner_executor.graph.desk.pages import playbooks as programs
from planner_executor.graph.desk.pages.respond import desk_of, page
from planner_executor.graph.desk.policy_view import PolicyInForce
from planner_executor.graph.desk.security.gate import Gate
from planner_executor.graph.desk.security.headers import protect
from planner_executor.graph.desk.settings import DeskSettings
from planner_executor.graph.desk.templates import environment
from planner_executor.graph.record.run_filter import RunFilter

STATIC = Path(__file__).parent / "static"


def desk_application(
    database: str | Path,
    *,
    agents: Agents | None = None,
    settings: DeskSettings | None = None,
    policy: PolicyInForce | None = None,
    announce: Callable[[str, int | None], None] | None = None,
    playbooks: PlaybookFolder | None = None,
) -> Starlette:
    """Return the desk of a database.

    Args:
        database: An SQLite file, or the address of a PostgreSQL database.
        agents: Opens the agent that continues a run after a decision; without it, decisions are stored for workers.
        settings: Who may look and decide; default: whoever opens a link with a token of this process.
        policy: Returns the policy of runs that are started here; default: that of `agents_with`.
        announce: Receives the token of a link that a visitor asks for, and the port at which this process was asked.
        playbooks: Returns the folder of playbooks; default: that of `agents_with`.
    """
    if isinstance(agents, SameAgents):
        policy, playbooks = policy or agents.policy(), playbooks or agents.playbooks
    drives = Drives(agents) if agents is not None else None
    desk = Desk(database, settings or DeskSettings(), environment(), drives, policy, playbooks=playbooks)
    if announce is not None:
        desk.announce = announce

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await desk.close()

    app = Starlette(
        routes=ROUTES,
        middleware=[Middleware(Gate, door=desk.door, has_ended=desk.has_ended)],
        lifespan=lifespan,
        exception_handlers={404: _missing, 405: _missing, 500: _failed},
    )
    # A redirect to the path with a slash would name the scheme of this connection, which may end at a proxy.
    app.router.redirect_slashes = False
    app.state.desk = desk
    return app


async def _missing(request: Request, _: Exception) -> Response:
    return page(request, "error.html", 404, title="Not found", why="there is no such page; go back to the inbox")


async def _failed(request: Request, _: Exception) -> Response:
    """Answer after an error of the desk, which the server logs."""
    why = (
        "an internal error, which is in the server's log; a form may have been carried out: check before you repeat it"
    )
    response = page(request, "error.html", 500, title="That did not work", why=why)
    protect(response.headers, is_static=False)  # Starlette answers errors outside of the gate, which adds them else
    return response


async def _health(request: Request) -> Response:
    """Answer the health check of a proxy or a supervisor, if the database can be read."""
    await (await desk_of(request).records()).runs.page(RunFilter(limit=1))
    return PlainTextResponse("ok")


ROUTES = [
    Route("/", lists.inbox),
    Route("/next", lists.following),
    Route("/runs", lists.runs),
    Route("/live", live.list_stream),
    Route("/start", start.new),
    Route("/start", start.start, methods=["POST"]),
    Route("/playbooks", programs.playbooks),
    Route("/playbook", programs.playbook),
    Route("/playbook", programs.start, methods=["POST"]),
    Route("/policy", control.policy),
    Route("/alike", alike.alike),
    Route("/alike", alike.decide, methods=["POST"]),
    Route("/approvals", approvals.approvals),
    Route("/approvals", approvals.end, methods=["POST"]),
    Route("/run", run.plan),
    Route("/run/step", run.step),
    Route("/run/timeline", run.times),
    Route("/run/results", run.results),
    Route("/run/value", run.value),
    Route("/run/download", run.download),
    Route("/run/revisions", run.revisions),
    Route("/run/effects", run.effects),
    Route("/run/budget", run.budget),
    Route("/run/audit", run.audit),
    Route("/run/event", run.event),
    Route("/run/audit.txt", run.audit_text),
    Route("/run/live", live.run_stream),
    Route("/run/review", review.review),
    Route("/run/edit", editing.edit),
    Route("/run/decide", review.decide, methods=["POST"]),
    Route("/run/check", editing.check, methods=["POST"]),
    Route("/run/more", control.more),
    Route("/run/control", control.control, methods=["POST"]),
    Route("/login", login.login),
    Route("/login/start", sign_in.start),
    Route("/login/callback", sign_in.callback),
    Route("/link", login.link, methods=["POST"]),
    Route("/logout", login.logout, methods=["POST"]),
    Route("/health", _health),
    Mount("/static", StaticFiles(directory=STATIC)),
]
