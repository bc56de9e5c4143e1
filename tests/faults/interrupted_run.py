"""A run whose first four tools wait for a file; `test_interrupts.py` interrupts it, in this process or another.

Usage: interrupted_run.py FOLDER WAY, where WAY is how the run is driven: a key of `WAYS`.
"""

import asyncio
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

from planner_executor import Agent, AsyncAgent, build_graph
from planner_executor.graph.checkpoints.saver import strict_serializer
from planner_executor.graph.cli.decision_source import DecisionSource
from planner_executor.graph.cli.exit_codes import INTERRUPTED
from planner_executor.graph.cli.run_driver import start
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.testing import ScriptedModel, on_thread, step

ANY = {"type": "object", "properties": {}, "additionalProperties": True}
TOOLS = ("read", "read_async", "pay", "pay_async")
PLAN = {"steps": [*(step(tool, tool, name=tool) for tool in TOOLS), step("last", "read", name="last", after=TOOLS)]}


class Folder:
    """Where the run is kept, what its tools note, and the file `go` that they wait for."""

    def __init__(self, path: Path) -> None:
        self.path, self.database = path, path / "runs.db"
        self._log = threading.Lock()

    def note(self, *words: str) -> None:
        with self._log, (self.path / "log").open("a") as file:
            file.write(" ".join(words) + "\n")

    def lines(self) -> list[str]:
        log = self.path / "log"
        return log.read_text().splitlines() if log.exists() else []

    def let_go(self) -> None:
        (self.path / "go").touch()

    def options(self) -> dict[str, Any]:
        return {"planner": ScriptedModel([PLAN]), "tools": self.tools()}

    def tools(self) -> list[BaseTool]:
        go = self.path / "go"

        def work(name: str) -> str:
            self.note("began", name)
            while not go.exists():
                threading.Event().wait(0.01)
            self.note("ended", name)
            return f"did {name}"

        async def work_async(name: str) -> str:
            self.note("began", name)
            try:
                while not go.exists():
                    await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                self.note("stopped", name)
                raise
            return f"did {name}"

        def made(name: str, **how: Any) -> BaseTool:
            return StructuredTool(name=name, description=name, args_schema=ANY, **how)

        return [
            made("read", func=work, metadata={"effect": "read"}),
            made("read_async", coroutine=work_async, metadata={"effect": "read"}),
            made("pay", func=work),
            made("pay_async", coroutine=work_async),
        ]


def facade(folder: Folder) -> None:
    with Agent.open(folder.database, **folder.options()) as agent:
        agent.start("g", thread="t")
        agent.resume("t", "approve")


def facade_kept_open(folder: Folder) -> None:
    with Agent.open(folder.database, **folder.options()) as agent:
        agent.start("g", thread="t")
        try:
            agent.resume("t", "approve")
        except KeyboardInterrupt:
            folder.note("then", agent.show("t").status)
            raise


def async_facade(folder: Folder) -> None:
    async def main() -> None:
        async with AsyncAgent.open(folder.database, **folder.options()) as agent:
            await agent.start("g", thread="t")
            await agent.resume("t", "approve")

    asyncio.run(main())


def invoke(folder: Folder) -> None:
    with SqliteSaver.from_conn_string(str(folder.database)) as saver:
        saver.serde = strict_serializer()
        graph = build_graph(checkpointer=saver, **folder.options())
        graph.invoke({"goal": "g"}, on_thread("t"))
        graph.invoke(Command(resume="approve"), on_thread("t"))


def ainvoke(folder: Folder) -> None:
    async def main() -> None:
        async with AsyncSqliteSaver.from_conn_string(str(folder.database)) as saver:
            saver.serde = strict_serializer()
            graph = build_graph(checkpointer=saver, **folder.options())
            await graph.ainvoke({"goal": "g"}, on_thread("t"))
            await graph.ainvoke(Command(resume="approve"), on_thread("t"))

    asyncio.run(main())


def command_line(folder: Folder) -> None:
    screen = Screen.here()
    asked = {"goal": "g", "constraints": [], "plan": PLAN, "setup": {}}
    try:
        start(DecisionSource(screen, folder.database, yes=True), folder.options(), asked)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


WAYS: dict[str, Callable[[Folder], None]] = {
    way.__name__: way for way in (facade, facade_kept_open, async_facade, invoke, ainvoke, command_line)
}

if __name__ == "__main__":
    WAYS[sys.argv[2]](Folder(Path(sys.argv[1])))
