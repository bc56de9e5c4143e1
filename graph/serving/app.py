"""The ASGI application that `langgraph.json` mounts: middleware, and the route of progress (decisions 0023, 0050)."""

from starlette.applications import Starlette
from starlette.middleware import Middleware

from graph.serving.access import Access
from graph.serving.cors import Cors
from graph.serving.guard import Guard, TokenGuard
from graph.serving.progress import route

access = Access.from_environment()
app = Starlette(routes=[route], middleware=[Middleware(step, access=access) for step in (Guard, Cors, TokenGuard)])
