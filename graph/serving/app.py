"""The application that `langgraph.json` puts in front of the LangGraph server; it has no routes of its own."""

from starlette.applications import Starlette
from starlette.middleware import Middleware

from graph.serving.access import Access
from graph.serving.cors import Cors
from graph.serving.guard import Guard, TokenGuard

access = Access.from_environment()
app = Starlette(middleware=[Middleware(step, access=access) for step in (Guard, Cors, TokenGuard)])
