"""Standing approvals: calls that people have approved ahead, and revoking them."""

import time

from starlette.requests import Request
from starlette.responses import Response

from planner_executor.graph.desk.pages.respond import (
    Form,
    changes,
    desk_of,
    go_to,
    page,
    root_of,
    run_link,
    shows,
    visitor_of,
)
from planner_executor.graph.desk.security.visitor import verified
from planner_executor.graph.desk.views.standing import standing_row
from planner_executor.graph.runs.approvals import approvals_of_runs, revoke, wide_approvals
from planner_executor.graph.settings.identity import named

OVER = 50
"""Approvals of any run that hold no longer and are shown, the latest first."""


@shows
async def approvals(request: Request) -> Response:
    """Show the standing approvals that hold in any run, and those of runs that have not ended."""
    records = await desk_of(request).records()
    own = await approvals_of_runs(records.runs, before=request.query_params.get("before"))
    wide = await wide_approvals(records.runs)
    rows = [standing_row(use, time.time()) for use in wide.uses][::-1]
    holds, over = [row for row in rows if row.state == "holds"], [row for row in rows if row.state != "holds"]
    return page(
        request,
        "approvals.html",
        wide=[*holds, *over[:OVER]],
        left_out=len(over[OVER:]),
        own=[standing_row(use, time.time()) for use in own.uses],
        before=own.next,
        unread=[*wide.unread, *own.unread],
    )


@changes
async def end(request: Request, form: Form) -> Response:
    """Revoke a standing approval: no further call starts on it."""
    records, run = await desk_of(request).records(), form.get("run") or None
    await revoke(records.runs, form.get("id"), str(named(visitor_of(request).person, verified)), run)
    if run is not None and form.get("back") == "run":
        return go_to(run_link(request, "/effects", run))
    return go_to(f"{root_of(request)}/approvals")
