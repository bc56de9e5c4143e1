"""The ASGI application that `langgraph.json` mounts: only middleware, no routes (decision 0023)."""

from starlette.applications import Starlette
from starlette.middleware import Middleware

from graph.serving.access import Access
from graph.serving.cors import Cors
from graph.serving.guard import Guard, TokenGuard

access = Access.from_environment()
app = Starlette(middleware=[Middleware(step, access=access) for step in (Guard, Cors, TokenGuard)])
