"""`planner-executor metrics`: counts over all runs in Prometheus' format."""

from typing import Annotated

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.exit_codes import on_screen
from planner_executor.graph.cli.metrics_server import listening
from planner_executor.graph.cli.run_lookup import with_runs
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.observing.prometheus import exposition, registry_of


@on_screen
def metrics(
    screen: Screen,
    listen: Annotated[
        int | None,
        typer.Option("--listen", metavar="PORT", min=0, max=65535, help="Serve the metrics at 127.0.0.1:PORT/metrics."),
    ] = None,
    db: options.Database = options.DATABASE,
) -> None:
    """Print counts over all runs in Prometheus' text format, or serve them until Ctrl-C."""
    registry = registry_of(lambda: with_runs(db, lambda runs: runs.counters()))
    if listen is None:
        print(exposition(registry), end="")  # noqa: T201  (standard output is the document)
        return
    with listening(listen, registry) as server:
        screen.say(whole=f"http://127.0.0.1:{server.server_port}/metrics")
        server.serve_forever()
