"""The ASGI application that `langgraph.json` mounts: middleware, and the route of progress (decisions 0023, 0050).

Aegra accepts FastAPI applications only, and brings FastAPI; LangGraph's server accepts both (decision 0070).
"""

from starlette.middleware import Middleware

from graph.serving.access import Access
from graph.serving.cors import Cors
from graph.serving.guard import Guard, TokenGuard
from graph.serving.progress import route

try:
    from fastapi import FastAPI as Application
except ImportError:
    from starlette.applications import Starlette as Application

access = Access.from_environment()
app = Application(routes=[route], middleware=[Middleware(step, access=access) for step in (Guard, Cors, TokenGuard)])
