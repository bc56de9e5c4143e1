"""A retried fan-out: letters to a list of people, of which one is refused and one has no answer, until a retry.

Everything that a process has to know to go on is in the database, as for a run that another machine takes up.
"""

from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from langgraph.types import Command
from reopened_run import Given, NoModel, decision, latest
from whole_run import ANY, Boundary, Logs, database_of, watched

from planner_executor import build_graph
from planner_executor.graph.runs.runs import Runs
from planner_executor.graph.testing import on_thread, step
from planner_executor.tools.errors import NothingHappened

PEOPLE = ["ada", "bo", "cy", "di"]
FAILURES = {"bo": NothingHappened("refused"), "di": TimeoutError("no answer")}
"""What befalls a letter while the post is out: the first did nothing, the second may have arrived."""
PLAN = {
    "steps": [
        step("people", "look", name="people"),
        {**step("sent", "mail", name="{item_result}", after=["people"]), "for_each": "{people_result}"},
        step("last", "look", name="proof", after=["sent"]),
    ],
    "answer": ["{sent_result}", "{last_result}"],
}
EXPECTED = [[f"sent {name}" for name in PEOPLE], "saw proof"]
RUNS = 1
ONCE = ("mail", "person settles")
MOST = {f"person settles {name}": 2 for name in PEOPLE}
THREAD = "mailed"


def tools(logs: Logs, boundary: Boundary) -> list[BaseTool]:
    """Return tools that note each effect and lie between two boundaries."""

    async def look(name: str) -> Any:
        logs.note("look", name)
        return PEOPLE if name == "people" else f"saw {name}"

    async def mail(name: str) -> str:
        boundary(f"before mail {name}")
        if name in FAILURES and "back post" not in logs.lines():
            logs.note("tried", name)
            boundary(f"after tried {name}")
            raise FAILURES[name]
        logs.note("mail", name)
        boundary(f"after mail {name}")
        return f"sent {name}"

    return [
        StructuredTool(name="look", description="look", args_schema=ANY, coroutine=look, metadata={"effect": "read"}),
        StructuredTool(name="mail", description="mail", args_schema=ANY, coroutine=mail),
    ]


async def drive(folder: Path, boundary: Boundary, durability: Any) -> dict[str, Any]:
    """Start the run, or take it up, and retry it until it has succeeded."""
    logs = Logs(folder)
    async with watched(database_of(folder), boundary) as (saver, ledger):
        graph = build_graph(NoModel(), tools=tools(logs, boundary), checkpointer=saver, ledger=ledger, replan="never")
        runs = Runs(ledger)
        while (given := await _next_input(graph, runs, logs)) is not None:
            await graph.ainvoke(given.value, on_thread(THREAD), durability=durability)
        record = await latest(runs, THREAD)
    assert record is not None and record.ended is not None
    return {"status": record.ended.status, "answer": record.ended.answer.value}


async def _next_input(graph: Any, runs: Runs, logs: Logs) -> Given | None:
    """Return what the graph is given next, None if all is done."""
    state, record = await graph.aget_state(on_thread(THREAD)), await latest(runs, THREAD)
    if record is None:
        return Given({"goal": "write to all", "plan": PLAN})
    if record.ended is None:
        if state.interrupts and record.review_state.request is not None:
            actions = state.interrupts[0].value["action_requests"]
            return Given(Command(resume={"decisions": [_decision(action, logs) for action in actions]}))
        return Given() if state.next else Given({"operation": "continue"})
    if record.ended.status == "succeeded":
        return None
    logs.note("back", "post")
    return Given({"operation": "retry", "run": record.id})


def _decision(action: dict[str, Any], logs: Logs) -> dict[str, Any]:
    if action["name"] == "settle_effect":
        logs.note("person settles", action["args"]["args"]["name"])
    return decision(action, logs, "mail", "sent")
