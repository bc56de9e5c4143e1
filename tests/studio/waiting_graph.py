"""A graph for `langgraph dev` whose tools wait until the test lets them go; the server's directory is its world.

`effects.log` has a line for each call. A tool that waits reads from the named pipe `gate`: it hangs until somebody
opens the pipe for writing, and that somebody knows by it that the tool is at work.
"""

import os
from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool

from planner_executor import build_graph
from planner_executor.graph.checkpoints.checkpoint import database
from planner_executor.graph.testing import ScriptedModel, step

HOME = Path(os.environ.get("WAITING_GRAPH_HOME", "."))
ANY = {"type": "object", "properties": {}, "additionalProperties": True}


def _tool(name: str, waits: bool, **metadata: Any) -> BaseTool:
    def call(**_: Any) -> str:
        with (HOME / "effects.log").open("a") as log:
            log.write(f"{name}\n")
        return (HOME / "gate").read_text() if waits else f"did {name}"

    return StructuredTool(name=name, description=name, args_schema=ANY, func=call, metadata=metadata)


tools = [_tool("look", waits=False, effect="read"), _tool("ask", waits=True, effect="read"), _tool("pay", waits=True)]
graph = build_graph(tools=tools, ledger=database())
unasked = build_graph(
    ScriptedModel(
        [
            {
                "steps": [
                    step("look_around", "look"),
                    step("ask_first", "ask", after=["look_around"]),
                    step("ask_again", "ask", after=["ask_first"]),
                ]
            }
        ]
    ),
    tools=tools,
    ledger=database(),
    approval="never",
)
