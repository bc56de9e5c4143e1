"""A fork of a live run: a run that waits is forked, both are approved, and each makes the same payments.

What one has paid the other asks about; the person wants it a second time. A process that takes up goes on with the
other of the two first, so that one of them comes to a payment whose process died in the other.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from langgraph.types import Command
from reopened_run import ADA, Given, NoModel, decision, latest
from whole_run import ANY, Boundary, Logs, database_of, watched

from planner_executor import build_graph
from planner_executor.graph.caller import Caller, invoked_by
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.runs.forking import fork_of
from planner_executor.graph.runs.runs import Runs
from planner_executor.graph.testing import on_thread, step

PLAN = {
    "steps": [
        step("price", "look", name="price"),
        step("rent", "pay", name="rent", after=["price"]),
        step("fee", "pay", name="fee", after=["rent"]),
        step("last", "look", name="{fee_result}"),
    ],
    "answer": ["{rent_result}", "{last_result}"],
}
EXPECTED = [["paid rent", "saw paid fee"]] * 2
RUNS = 2
ONCE = ("pay", "person settles")
MOST = {
    **{f"pay {name}": 2 for name in ("rent", "fee")},
    **{f"person settles {name}": 2 for name in ("rent", "fee")},
    **{f"person wants {name}": 1 for name in ("rent", "fee")},
    **{f"look {name}": 2 for name in ("price", "paid fee")},
}
"""What both may do; a payment beyond the first takes a person's word, which is counted at the end."""
THREADS = ("source", "branch")


def tools(logs: Logs, boundary: Boundary) -> list[BaseTool]:
    """Return tools that note each effect and lie between two boundaries."""

    def made(kind: str, word: str, **metadata: Any) -> BaseTool:
        async def run(name: str) -> str:
            boundary(f"before {kind} {name}")
            logs.note(kind, name)
            boundary(f"after {kind} {name}")
            return f"{word} {name}"

        return StructuredTool(name=kind, description=kind, args_schema=ANY, coroutine=run, metadata=metadata)

    return [made("look", "saw", effect="read"), made("pay", "paid")]


async def drive(folder: Path, boundary: Boundary, durability: Any) -> dict[str, Any]:
    """Start the run and fork it while it waits, or take both up, and bring both to their ends."""
    logs = Logs(folder)
    logs.note(f"process {len(logs.lines())}")
    async with watched(database_of(folder), boundary) as (saver, ledger):
        graph = build_graph(NoModel(), tools=tools(logs, boundary), checkpointer=saver, ledger=ledger, replan="never")
        runs = Runs(ledger)
        await _begun(graph, runs, durability)
        taken_up = sum(line.startswith("process") for line in logs.lines()) - 1
        for thread in THREADS[::-1] if taken_up % 2 else THREADS:
            while (given := await _next_input(graph, runs, logs, thread)) is not None:
                await graph.ainvoke(given.value, on_thread(thread), durability=durability)
        ends = [record.ended for thread in THREADS if (record := await latest(runs, thread)) is not None]
    for name in ("rent", "fee"):
        paid, wanted = (logs.lines().count(f"{what} {name}") for what in ("pay", "person wants"))
        assert paid <= 1 + wanted, f"{name} was paid {paid} times, and wanted again {wanted} times"
    return {
        "status": ",".join(sorted({end.status for end in ends if end is not None})),
        "answer": [end.answer.value for end in ends if end is not None],
    }


async def _begun(graph: Any, runs: Runs, durability: Any) -> None:
    """Start the run and its fork, as far as they are not on record; both then wait for the approval of their plan."""
    source, branch = THREADS
    record = await latest(runs, source)
    if record is None:
        await graph.ainvoke({"goal": "pay", "plan": PLAN}, on_thread(source), durability=durability)
    while (record := await latest(runs, source)) is None or not _has_waited(record):
        await graph.ainvoke(None, on_thread(source), durability=durability)
    if await latest(runs, branch) is None:
        fork = await fork_of(runs, record.id, "price", {}, str(ADA))
        caller = replace(Caller(branch), fork=fork)
        with invoked_by(caller):
            given = {"goal": fork.source.started.goal, "plan": fork.plan}
            await graph.ainvoke(given, on_thread(branch), durability=durability)


def _has_waited(record: RunState) -> bool:
    return record.review_state.request is not None or record.ended is not None or bool(record.plan_state.plan)


async def _next_input(graph: Any, runs: Runs, logs: Logs, thread: str) -> Given | None:
    """Return what the graph is given next on a thread, None if its run has ended."""
    state, record = await graph.aget_state(on_thread(thread)), await latest(runs, thread)
    assert record is not None
    if record.ended is not None:
        return None
    if state.interrupts and record.review_state.request is not None:
        actions = state.interrupts[0].value["action_requests"]
        return Given(Command(resume={"decisions": [_decision(action, logs) for action in actions]}))
    return Given() if state.next else Given({"operation": "continue"})


def _decision(action: dict[str, Any], logs: Logs) -> dict[str, Any]:
    words = {"settle_effect": "settles", "run_step": "wants"}
    if action["name"] in words:
        logs.note("person", words[action["name"]], action["args"]["args"]["name"])
    return decision(action, logs)
