"""The route for who joins a run later: how far the run of a thread is, read from the ledger (decision 0050)."""

from typing import Any

import httpx
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from planner_executor.graph.checkpoints.checkpoint import database
from planner_executor.graph.errors import AgentError
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.runs.runs import open_runs
from planner_executor.graph.serving.run_progress import run_progress
from planner_executor.graph.state import int_or_zero

NO_RUN = "this thread has no run yet"


async def progress(request: Request) -> Response:
    """Answer with the run that the thread's state names, if the server shows that state to this client."""
    thread = str(request.path_params["thread_id"])
    found = await _state(request, thread)
    if found.status_code != httpx.codes.OK:
        return Response(found.content, found.status_code, media_type=found.headers.get("content-type"))
    n = _run_number(found.json(), thread)
    if n == 0:
        return JSONResponse({"detail": NO_RUN}, httpx.codes.NOT_FOUND)
    try:
        # The number is that of the state: the ledger may know a later run, whose state this client was not shown.
        async with open_runs(database()) as runs:
            log = await runs.log(RunKey(thread, n))
    except AgentError as error:
        return JSONResponse({"detail": str(error)}, httpx.codes.SERVICE_UNAVAILABLE)
    if not log.events:
        return JSONResponse({"detail": NO_RUN}, httpx.codes.NOT_FOUND)
    return JSONResponse(run_progress(log), headers={"Cache-Control": "no-store"})


async def _state(request: Request, thread: str) -> httpx.Response:
    """Ask the server for the thread's state as the same client, so that the same rules decide."""
    # A fault of the server is an answer, as it would be over the network.
    transport = httpx.ASGITransport(request.app, raise_app_exceptions=False, client=request.client or ("", 0))
    host, port = request.scope.get("server") or ("", None)
    address = f"http://{f'[{host}]' if ':' in host else host}:{port or 80}"
    async with httpx.AsyncClient(transport=transport, base_url=address) as client:
        return await client.get(f"/threads/{thread}/state", headers=request.headers.raw)


def _run_number(state: Any, thread: str) -> int:
    """Return the number of the run that a thread's state names, 0 if it names none of this thread.

    The state of a copy names the run of the thread that it was copied from, which this client may not be shown.
    """
    values = state.get("values")
    run = values.get("run") if isinstance(values, dict) else None
    return int_or_zero(run.get("n")) if isinstance(run, dict) and run.get("thread") == thread else 0


route = Route("/threads/{thread_id:uuid}/progress", progress, methods=["GET"], include_in_schema=False)
