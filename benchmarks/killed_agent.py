"""A direct agent with LangGraph's saver, killed before and after each of its calls, and taken up by another process."""

import os
import signal
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver

from benchmarks.obedient_models import Obedient

PAYMENTS = ("first", "second", "third")
THREAD: Any = {"configurable": {"thread_id": "t"}}


class Payer(Obedient):
    """A model that may call tools."""

    def bind_tools(self, tools: Any, **_: Any) -> Any:  # noqa: ARG002  (LangChain's signature)
        """Return the model: its script knows the tools."""
        return self


def killed_agents() -> str:
    """Kill it at each boundary in a run of its own, and say how often a payment was made twice."""
    points = range(1, 4 * len(PAYMENTS) + 1)
    paid = [_paid(at) for at in points]
    twice = sum(len(made) > len(set(made)) for made in paid)
    lost = sum(set(made) != set(PAYMENTS) for made in paid)
    return f"{len(points)} runs killed: {twice} paid twice, {lost} missed a payment, none asked a person"


def _paid(at: int) -> Sequence[str]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kill in (at, 0):
            _in_child(lambda kill=kill: _drive(folder, kill))
        return (folder / "paid").read_text().split()


def _in_child(work: Callable[[], object]) -> None:
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
        return
    try:
        work()
    finally:
        os._exit(0)  # a child of a fork must not go on as its parent


def _drive(folder: Path, kill: int) -> None:
    """Begin the work, or go on from the last checkpoint; boundaries are before and after payments and model calls."""
    passed = 0

    def boundary() -> None:
        nonlocal passed
        passed += 1
        if passed == kill:
            os.kill(os.getpid(), signal.SIGKILL)

    @tool
    def pay(what: str) -> str:
        """Pay something."""
        boundary()
        with (folder / "paid").open("a") as file:
            file.write(f"{what}\n")
        boundary()
        return "paid"

    def answer(messages: Sequence[BaseMessage]) -> AIMessage:
        boundary()
        done = sum(message.type == "tool" for message in messages)
        calls = [{"name": "pay", "args": {"what": what}, "id": what} for what in PAYMENTS[done : done + 1]]
        said = AIMessage("" if calls else "done", tool_calls=calls)
        boundary()
        return said

    with SqliteSaver.from_conn_string(str(folder / "agent.db")) as saver:
        agent = create_agent(Payer(answer), [pay], checkpointer=saver)
        begun = agent.get_state(THREAD).values.get("messages")
        agent.invoke(None if begun else {"messages": [("user", "Pay three times")]}, THREAD, durability="sync")


if __name__ == "__main__":
    print(killed_agents())
