"""`planner-executor work`: continue the runs that nobody works on."""

import asyncio
import json as json_text
import signal
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.exit_codes import INTERRUPTED, on_screen
from planner_executor.graph.cli.screen import Screen

if TYPE_CHECKING:
    from planner_executor.graph.work.report import Report
    from planner_executor.graph.work.worker import Worker


@on_screen
def work(
    screen: Screen,
    once: Annotated[bool, typer.Option("--once", help="Stop when no run is left that can be continued.")] = False,
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, metavar="N", help="Runs at a time, at most.")] = 8,
    server: Annotated[
        str | None,
        typer.Option("--server", metavar="URL", help="LangGraph server, to continue the runs that it started."),
    ] = None,
    own_tools: options.OwnTools = None,
    mcp: options.McpFile = None,
    config: options.ConfigFile = None,
    policy: options.PolicyFile = None,
    json: options.Json = False,
    db: options.Database = options.DATABASE,
) -> None:
    """Continue runs that no process works on, until stopped.

    Any number of workers may run, on any number of machines. A run is continued only under the tools, models and
    policy that it was begun with; for the others the worker says what is missing. Nothing is decided: a run that asks
    a person waits. On SIGTERM or Ctrl-C the runs in hand pause before their next call, and another worker takes them.
    """
    given = {"own_tools": own_tools, "mcp": mcp, "config": config, "policy": policy}
    with asyncio.Runner() as runner:
        stopped_by = runner.run(_work(screen, db, given, once, concurrency, server, json))
        if stopped_by == signal.SIGINT:
            raise typer.Exit(INTERRUPTED)


async def _work(
    screen: Screen, db: str, given: dict[str, Any], once: bool, concurrency: int, server: str | None, json: bool
) -> int | None:
    """Work until a signal stops it, and return that signal, None without one."""
    from planner_executor.graph.cli.worker_setups import BySetup
    from planner_executor.graph.runs.runs import open_runs
    from planner_executor.graph.work.chores import chores_of
    from planner_executor.graph.work.continuing import ByPlace
    from planner_executor.graph.work.server import ByServer
    from planner_executor.graph.work.worker import Worker

    def tell(report: "Report") -> None:
        if json:
            sys.stdout.write(json_text.dumps(report._asdict(), ensure_ascii=False) + "\n")
            # A pipe fills a block first: a program that reads along would hear of nothing for long.
            sys.stdout.flush()
        else:
            screen.say(report.line())

    here = BySetup(db, given)
    try:
        async with open_runs(db) as runs:
            place = ByPlace(here, ByServer(server) if server is not None else None)
            worker = Worker(runs, place, tell, concurrency, chores=chores_of(given["config"], here.begin))
            return await _until_stopped(worker, once)
    finally:
        await here.aclose()


async def _until_stopped(worker: "Worker", once: bool) -> int | None:
    """Run a worker; the first signal stops it, a second one interrupts the runs in hand."""
    loop, caught = asyncio.get_running_loop(), list[int]()
    working = asyncio.create_task(worker.run(once=once))

    def stop(number: int) -> None:
        caught.append(number)
        # The first signal lets calls come to their end; whoever sends another does not want to wait for that.
        if len(caught) > 1:
            working.cancel()
        worker.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop, number)
    try:
        await asyncio.wait([working])
        if not working.cancelled():
            working.result()
        return caught[-1] if caught else None
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
