"""An owner that is frozen between the intent of a payment and the payment, as `docker pause` does; and its heir.

Forked by `test_frozen_owners.py` from a parent that has imported already.
"""

import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool, StructuredTool

from planner_executor import Agent
from planner_executor.graph.errors import AgentError
from planner_executor.graph.record.events import Draft
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.testing import ScriptedModel, step
from planner_executor.tools.errors import NothingHappened

ANY = {"type": "object", "properties": {}, "additionalProperties": True}
PAY = step("pay", "pay", name="980")
KINDS: Mapping[str, dict[str, Any]] = {
    "tool": PAY,
    "attempt": {**PAY, "attempts": 2},
    "items": {**step("pay", "pay", name="{item_result}"), "for_each": ["980"]},
    "model": {**step("pay"), "tools": ["pay"]},
}
"""Steps that make one payment, each in its own way; the second attempt follows one that did nothing."""
CALLS = AIMessage("", tool_calls=[{"name": "pay", "args": {"name": "980"}, "id": "1"}])


class Effects:
    """The payments, in a file that outlives every process."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "effects"

    def note(self, name: str) -> None:
        with self._file.open("a") as file:
            file.write(f"{name}\n")

    @property
    def made(self) -> list[str]:
        return self._file.read_text().split() if self._file.exists() else []


def pay_tool(folder: Path, kind: str) -> BaseTool:
    """Return a tool that notes each payment; of several attempts the first one of all does nothing."""

    def pay(name: str) -> str:
        if kind == "attempt" and not (folder / "closed").exists():
            (folder / "closed").touch()
            raise NothingHappened("the bank is closed")
        Effects(folder).note(name)
        return f"paid {name}"

    return StructuredTool(name="pay", description="pay", args_schema=ANY, func=pay)


class Freezer:
    """Stops this process after the intent of the `at`-th call is on disk, before the call."""

    def __init__(self, at: int, folder: Path) -> None:
        self._left, self._awake = at, folder / "awake"

    def __call__(self, _run: RunKey, drafts: Sequence[Draft]) -> None:
        self._left -= sum(draft.kind == "call_started" for draft in drafts)
        if self._left == 0:
            self._left = -1
            os.kill(os.getpid(), signal.SIGSTOP)
            while not self._awake.exists():  # other threads run on for a moment
                pass


def opened(folder: Path, database: str, kind: str, *answers: AIMessage, **more: Any) -> Agent:
    """Open the run's database, as each process does; a model says after its `answers` that it has paid."""
    plan = {"steps": [KINDS[kind]]}
    return Agent.open(
        database,
        planner=ScriptedModel([plan]),
        executor=ScriptedModel([*answers, "paid"]),
        tools=[pay_tool(folder, kind)],
        approval="never",
        replan="never",
        **more,
    )


def own(folder: Path, database: str, kind: str) -> None:
    """Start the run, be frozen before the payment, and write down how it went on."""
    try:
        with opened(folder, database, kind, CALLS, observers=[Freezer(2 if kind == "attempt" else 1, folder)]) as agent:
            said = agent.start("pay", thread="t").status
    except AgentError as error:
        said = type(error).__name__
    (folder / "owner").write_text(said)


def take_over(folder: Path, database: str, kind: str) -> None:
    """Take the run up, answer truthfully what became of the payment, and note what was asked, end and replay."""
    with opened(folder, database, kind) as agent:
        run = agent.resume("t")
        asked = run.request["action_requests"] if run.request else []
        (folder / "asked").write_text("\n".join(action["description"] for action in asked))
        while run.request is not None:
            run = agent.resume("t", run.decide(happened=[bool(Effects(folder).made)]))
        (folder / "heir").write_text(run.status)
        (folder / "replay").write_text(str(agent.replay("t")))
