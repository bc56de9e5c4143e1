"""A run that goes on after its end: a step is skipped, a service is out, the run is retried, and then forked.

Two steps fail once and are tried again at once: a read, and a call that may not be repeated but did nothing.

Everything that a process has to know to go on is in the database, as for a run that another machine takes up.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.outputs import ChatResult
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.types import Command
from whole_run import ANY, Boundary, Logs, database_of, watched

from planner_executor import build_graph
from planner_executor.graph.record.person import Approver
from planner_executor.graph.record.projection import project
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.runs.runs import Runs
from planner_executor.graph.runs.step_changes import skip_step, supply_result
from planner_executor.graph.testing import on_thread, step
from planner_executor.tools.errors import NothingHappened

ADA = Approver("ada", "os")
TWICE = {"attempts": 2, "backoff_s": 0}
PLAN = {
    "steps": [
        step("pay_1", "pay", name="first"),
        {**step("weak", "look", name="weak"), **TWICE},
        {**step("post", "pay", name="weak letter", after=["weak"]), **TWICE},
        step("known", "look", name="known"),
        step("fax", "pay", name="fax"),
        step("proof", "look", name="{fax_result}"),
        step("ask", "service", name="one", after=["pay_1"]),
        step("pay_2", "pay", name="second {ask_result} {known_result}"),
        step("last", "look", name="{pay_2_result}"),
    ],
    "answer": ["{pay_1_result}", "{last_result}"],
}
EXPECTED = ["paid first", "saw paid second asked one given"]
RUNS = 2
MOST = {"pay second asked one given": 2, "look paid second asked one given": 2}
"""What happens more than once: the fork makes it again, after a person saw the call."""
ONCE = ("pay", "person settles")
THREAD = "reopened"


class NoModel(BaseChatModel):
    """Nothing is asked in this run."""

    @property
    def _llm_type(self) -> str:
        return "none"

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        raise AssertionError(f"a model was asked: {messages}")


def tools(logs: Logs, boundary: Boundary) -> list[BaseTool]:
    """Return tools that note each effect and lie between two boundaries; the service is out until it is back."""

    def made(kind: str, word: str, **metadata: Any) -> BaseTool:
        async def run(name: str) -> Any:
            boundary(f"before {kind} {name}")
            if kind == "service" and "back service" not in logs.lines():
                raise ConnectionError("the service is out")
            if name.startswith("weak") and f"tried {name}" not in logs.lines():
                logs.note("tried", name)
                boundary(f"after tried {name}")
                raise ConnectionError("reset") if kind == "look" else NothingHappened("refused")
            logs.note(kind, name)
            boundary(f"after {kind} {name}")
            return f"{word} {name}"

        return StructuredTool(name=kind, description=kind, args_schema=ANY, coroutine=run, metadata=metadata)

    return [made("look", "saw", effect="read"), made("pay", "paid"), made("service", "asked", effect="read")]


async def drive(folder: Path, boundary: Boundary, durability: Any) -> dict[str, Any]:
    """Start the run, or take it up, and do what is due until its fork has ended."""
    logs = Logs(folder)
    async with watched(database_of(folder), boundary) as (saver, ledger):
        own = tools(logs, boundary)
        graph = build_graph(NoModel(), tools=own, checkpointer=saver, ledger=ledger, replan="never")
        runs = Runs(ledger)
        while (given := await _next_input(graph, runs, logs, boundary)) is not None:
            await graph.ainvoke(given.value, on_thread(THREAD), durability=durability)
        record = await latest(runs, THREAD)
    assert record is not None and record.ended is not None
    return {"status": record.ended.status, "answer": record.ended.answer.value}


@dataclass(frozen=True)
class Given:
    """An input of the graph; None goes on from the last checkpoint."""

    value: Any = None


async def _next_input(graph: Any, runs: Runs, logs: Logs, boundary: Boundary) -> Given | None:
    """Return what the graph is given next, None if all is done."""
    state = await graph.aget_state(on_thread(THREAD))
    record = await latest(runs, THREAD)
    if record is None:
        return Given({"goal": "go on", "plan": PLAN})
    if record.ended is None:
        return await _to_go_on(state, runs, record, logs, boundary)
    if record.assignment.started.n == 1 and record.ended.status != "succeeded":
        logs.note("back", "service")
        return Given({"operation": "retry", "run": record.id})
    if record.assignment.started.n == 1:
        return Given({"fork_from": {"run": record.id, "step": "pay_2"}})
    return None


async def _to_go_on(state: Any, runs: Runs, record: RunState, logs: Logs, boundary: Boundary) -> Given:
    """Return the answer to what is asked; before the first one a step is skipped, and another's result is given."""
    if state.interrupts and record.assignment.started.n == 1 and not record.steps.is_settled("known"):
        if not record.steps.is_skipped("fax"):
            await skip_step(runs, THREAD, "fax", "sent by hand", ADA)
            boundary("after skip")
        await supply_result(runs, THREAD, "known", "given", ADA)
        boundary("after supply")
        return Given()
    if state.interrupts and record.review_state.request is not None:
        request = state.interrupts[0].value
        return Given(Command(resume={"decisions": [decision(action, logs) for action in request["action_requests"]]}))
    return Given() if state.next else Given({"operation": "continue"})


def decision(action: dict[str, Any], logs: Logs, tool: str = "pay", answer: str = "paid") -> dict[str, Any]:
    """A person who approves plans and calls, and looks up what a tool has done before settling an effect."""
    if action["name"] != "settle_effect":
        return {"type": "approve"}
    name = action["args"]["args"]["name"]
    happened = f"{tool} {name}" in logs.lines()
    args = {"happened": happened, "result": f"{answer} {name}" if happened else None}
    return {"type": "edit", "edited_action": {"name": action["name"], "args": args}}


async def latest(runs: Runs, thread: str) -> RunState | None:
    """Return what is on record of a thread's latest run."""
    found = await runs.ledger.last_run(thread)
    return None if found is None else project(await runs.ledger.events(found))
