"""`--json`: a run's events as JSON lines on standard output."""

import sys
from typing import Any

from planner_executor.graph.cli.outlet import Outlet
from planner_executor.graph.runs.run import Run


def json_observers(json: bool) -> dict[str, Any]:
    """Return the options of `graph.build_graph` that write each event as a JSON line."""
    if not json:
        return {}
    from planner_executor.graph.observing.json_lines import JsonLines

    return {"observers": (JsonLines(Outlet(sys.stdout)),)}


def write_open_request(run: Run, json: bool) -> None:
    """Write the open review request, if there is one, as the last line."""
    if json and run.request is not None:
        from planner_executor.graph.observing.json_lines import JsonLines

        JsonLines(Outlet(sys.stdout)).write(run.id, "waiting", None, dict(run.request))
