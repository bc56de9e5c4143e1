"""The ASGI application that `langgraph.json` mounts: middleware, the route of progress, and the review desk.

See decisions 0023, 0050 and 0089. Aegra accepts FastAPI applications only, and brings FastAPI; LangGraph's server
accepts both (decision 0070).
"""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route

from planner_executor.graph.checkpoints.checkpoint import database
from planner_executor.graph.serving.access import Access
from planner_executor.graph.serving.cors import Cors
from planner_executor.graph.serving.guard import DeskAt, Guard, TokenGuard
from planner_executor.graph.serving.progress import route
from planner_executor.graph.serving.thread_rules import has_thread_rules

try:
    from fastapi import FastAPI as Application
except ImportError:
    from starlette.applications import Starlette as Application
try:
    from planner_executor.graph.desk.application import desk_application
    from planner_executor.graph.desk.desk_table import with_table
    from planner_executor.graph.desk.drives import agents_with
    from planner_executor.graph.desk.security.identity import ServerIdentity
    from planner_executor.graph.desk.security.people import People, Permissions
    from planner_executor.graph.desk.settings import DeskSettings, secret_from_environment
except ImportError:  # without the extra `desk`
    desk_application = None  # type: ignore[assignment]

DESK = "/desk"
NOT_NAMED = (
    "This desk is part of a server that signs people in. Sign in there first. The desk shows all runs: if the server "
    "says who sees which thread, [desk.reviewers] and [desk.readers] of its settings have to name those who use it."
)
log = logging.getLogger("planner_executor.desk")


def application(access: Access) -> Any:
    """Return the application; the desk is part of it if its packages are installed."""
    desk = desk_of_server(access) if desk_application is not None else None
    at = None if desk is None else DeskAt(DESK, desk.state.desk.settings.own_host)
    guards = [Middleware(Guard, access=access, desk=at)]
    guards += [Middleware(step, access=access) for step in (Cors, TokenGuard)]

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        if desk is None:
            yield
            return
        # Starlette runs no lifespan of what is mounted.
        async with desk.router.lifespan_context(desk):
            yield

    routes = [route] if desk is None else [route, Route(DESK, _to_desk), Mount(DESK, desk)]
    return Application(routes=routes, middleware=guards, lifespan=lifespan)


async def _to_desk(request: Request) -> Response:
    return RedirectResponse(f"{request.scope.get('root_path', '')}{DESK}/", 308)


def desk_of_server(access: Access) -> Any:
    """Return the desk over the server's database and tools.

    The server's `auth`, or a sign-in configured in `[desk]` of the settings file, identifies people; without either, a
    link in the server's log opens a session. If `auth` restricts threads, `[desk]` has to name the people, since the
    desk shows all runs.

    Raises:
        ConfigError: The settings file cannot be used.
    """
    from planner_executor.graph.builder.server_tools import server_tools

    allowed = Permissions(People(), People()) if has_thread_rules() else Permissions()
    base = DeskSettings(access.hosts, secret_from_environment(), ServerIdentity(NOT_NAMED), permissions=allowed)
    agents = agents_with(database(), **server_tools())

    settings = with_table(base, None)

    def announce(token: str, port: int | None) -> None:
        login = f"{DESK}/login?token={token}"
        log.warning("the review desk: open http://%s:%s%s", settings.own_host.name, port, login)
        log.warning("or, if your browser does not find that, %s at this server", login)

    return desk_application(database(), agents=agents, settings=settings, announce=announce)


app = application(Access.from_environment())
