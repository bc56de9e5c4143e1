"""One program: a direct agent whose only tool runs the program that its model writes, with a loop over all calls."""

from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import BaseTool, tool

from benchmarks.database import Database
from benchmarks.simulated import Script, SimulatedModel
from benchmarks.workloads import Workload

LOOP = """\
async def main(look):
    for n in range(1, {size} + 1):
        found = await look(step=f"step_{{n}}", seconds={seconds}, given=[f"step_{{n - 1}}"] if n > 1 else [])
    return found
"""


def build(model: SimulatedModel, tools: list[BaseTool], database: Database) -> Any:
    """Return the agent."""
    look: Any = next(tool for tool in tools if tool.name == "look")

    @tool
    async def run_program(code: str) -> str:
        """Run `async def main(look)`, which may call `look(step, seconds, given)`, and return what it returns."""
        names: dict[str, Any] = {}
        exec(code, names)  # the script below wrote it
        return str(await names["main"](look.coroutine))

    return create_agent(model, [run_program], checkpointer=database.saver)


def script(workload: Workload) -> Script:
    """Write the loop over a chain, and then answer."""
    code = LOOP.format(size=len(workload.pieces), seconds=workload.pieces[0].seconds)
    asked = {"name": "run_program", "args": {"code": code}, "id": "program", "type": "tool_call"}

    def answer(messages: Sequence[BaseMessage]) -> AIMessage:
        if messages[-1].type == "tool":
            return AIMessage(f"done; the last said: {messages[-1].text}")
        return AIMessage("", tool_calls=[asked])

    return answer
