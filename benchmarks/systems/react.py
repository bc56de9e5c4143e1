"""A single ReAct agent: `create_agent`, with a model that calls the tools one by one, or all that are ready at once."""

from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import BaseTool, ToolException

from benchmarks.database import Database
from benchmarks.simulated import Script, SimulatedModel
from benchmarks.workloads import Workload


@wrap_tool_call
async def told_of_errors(request: Any, handler: Any) -> Any:
    """Give the model a tool's error to read; without it the error would end the run."""
    try:
        return await handler(request)
    except ToolException as error:
        return ToolMessage(str(error), tool_call_id=request.tool_call["id"], status="error")


def build(model: SimulatedModel, tools: list[BaseTool], database: Database | None) -> Any:
    """Return the agent; without a database it uses the one of the graph that calls it."""
    return create_agent(model, tools, middleware=[told_of_errors], checkpointer=database.saver if database else None)


def one_by_one(workload: Workload) -> Script:
    """Call one tool, look at what it says, call the next."""
    return _script(workload, most=1)


def in_parallel(workload: Workload) -> Script:
    """Call every tool whose inputs are there, look at what they say, go on."""
    return _script(workload, most=len(workload.pieces))


def _script(workload: Workload, most: int) -> Script:
    def answer(messages: Sequence[BaseMessage]) -> AIMessage:
        seen = [message for message in messages if isinstance(message, ToolMessage)]
        done = {message.tool_call_id.partition("/")[0] for message in seen if message.status == "success"}
        failed = {message.tool_call_id for message in seen if message.status == "error"}
        if len(done) == len(workload.pieces):
            return AIMessage(f"done; the last said: {messages[-1].text}")
        ready = [piece.id for piece in workload.pieces if piece.id not in done and done.issuperset(piece.after)]
        return AIMessage("", tool_calls=[tool_call(workload, step, step in failed) for step in ready[:most]])

    return answer


def tool_call(workload: Workload, step: str, again: bool) -> Any:
    """Return the call for a step; where the first tool failed it is the other one's turn."""
    name, suffix = ("look_elsewhere", "/again") if again else (workload.tool, "")
    return {"name": name, "args": workload.args(step), "id": step + suffix, "type": "tool_call"}
