"""`--json`: what happens in a run as lines of JSON on standard output, for a program at the other end of a pipe."""

import sys
from typing import Any

from graph.runs import Run


def json_observers(json: bool) -> dict[str, Any]:
    """Return the options of `graph.build_graph` that write each event as a line."""
    if not json:
        return {}
    from graph.observing.json_lines import JsonLines

    return {"observers": (JsonLines(sys.stdout),)}


def write_open_request(run: Run, json: bool) -> None:
    """Write the open review request as the last line, where a run waits for a decision."""
    if json and run.request is not None:
        from graph.observing.json_lines import JsonLines

        JsonLines(sys.stdout).write(run.id, "waiting", None, dict(run.request))
