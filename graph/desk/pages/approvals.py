"""Standing approvals: calls that people have approved ahead, and revoking them."""

import time

from starlette.requests import Request
from starlette.responses import Response

from graph.approvals import revoke, standing_approvals
from graph.desk.pages.respond import Form, changes, desk_of, go_to, page, root_of, run_link, shows, visitor_of
from graph.desk.security.visitor import verified
from graph.desk.views.standing import standing_row
from graph.identity import named

RUNS = 25
"""So many of the latest runs of each status that is no end are looked through for approvals of their own."""


@shows
async def approvals(request: Request) -> Response:
    """Show the standing approvals that hold in any run, and those of runs that have not ended."""
    records = await desk_of(request).records()
    found = await standing_approvals(records.runs, most=RUNS)
    rows = [standing_row(use, time.time()) for use in sorted(found, key=lambda use: -use.approval.given_at)]
    wide, own = [row for row in rows if row.run is None], [row for row in rows if row.run is not None]
    return page(request, "approvals.html", wide=wide, own=own, most=RUNS)


@changes
async def end(request: Request, form: Form) -> Response:
    """Revoke a standing approval: no further call starts on it."""
    records, run = await desk_of(request).records(), form.get("run") or None
    by = str(named(visitor_of(request).person, verified))
    await revoke(records.runs, form.get("id"), by, run)
    if run is not None and form.get("back") == "run":
        return go_to(run_link(request, "/effects", run))
    return go_to(f"{root_of(request)}/approvals")
