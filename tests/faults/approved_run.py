"""A run of a playbook that people approved with the run before it: a fan-out, a branch, and two kinds of effects."""

from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from langgraph.types import Command
from reopened_run import Given, NoModel, decision, latest
from whole_run import ANY, Boundary, Logs, database_of, watched

from planner_executor import Playbook, build_graph
from planner_executor.graph.caller import Caller, invoked_by
from planner_executor.graph.runs.runs import Runs
from planner_executor.graph.testing import on_thread, step

BILLS = {**step("bill", "bill", name="{item_result} {param.to}"), "for_each": ["rent", "fee"]}
CALL = {**step("call", "mail", after=["bill"], name="call {param.to}"), "when": {"of": 7, "condition": "@ > `5`"}}
PLAYBOOK = Playbook.of(
    {
        "name": "onboarding",
        "version": 1,
        "parameters": {"to": {"type": "string"}},
        "steps": [BILLS, CALL],
        "answer": ["{bill_result}", "{call_result}"],
    }
)
EXPECTED = [["billed rent ben", "billed fee ben"], "mailed call ben"]
RUNS = 2
ONCE = ("bill", "mail", "person settles")
MOST = {f"person settles {name} {to}": 2 for name in ("rent", "fee", "call") for to in ("ann", "ben")}
FIRST, SECOND = "given", "covered"
WISH = {"at_most": 1, "params": {"to": {}}}


def tools(logs: Logs, boundary: Boundary) -> list[BaseTool]:
    """Return tools that note each effect and lie between two boundaries."""

    def made(kind: str, done: str) -> BaseTool:
        async def work(name: str) -> str:
            boundary(f"before {kind} {name}")
            logs.note(kind, name)
            boundary(f"after {kind} {name}")
            return f"{done} {name}"

        meant = {"effect": "external", "trusted": True}
        return StructuredTool(name=kind, description=kind, args_schema=ANY, coroutine=work, metadata=meant)

    return [made("bill", "billed"), made("mail", "mailed")]


async def drive(folder: Path, boundary: Boundary, durability: Any) -> dict[str, Any]:
    """Bring both runs to their ends; of the second nobody is asked but about calls that may have happened."""
    logs = Logs(folder)
    async with watched(database_of(folder), boundary) as (saver, ledger):
        graph = build_graph(
            NoModel(),
            tools=tools(logs, boundary),
            checkpointer=saver,
            ledger=ledger,
            replan="never",
            policy={"tools": {"mail": {"verdict": "ask"}}},
        )
        runs = Runs(ledger)
        for thread, to in ((FIRST, "ann"), (SECOND, "ben")):
            while (given := await _next_input(graph, runs, logs, thread, to)) is not None:
                with invoked_by(Caller.facade(thread, playbook=PLAYBOOK.named)):
                    await graph.ainvoke(given.value, on_thread(thread), durability=durability)
        record, uses = await latest(runs, SECOND), await ledger.standing()
    assert record is not None and record.ended is not None
    assert [use.left for use in uses] == [0], "the wish is kept with the decision, and a run is counted once"
    return {"status": record.ended.status, "answer": record.ended.answer.value}


async def _next_input(graph: Any, runs: Runs, logs: Logs, thread: str, to: str) -> Given | None:
    """Return what the graph is given next on a thread, None if all is done."""
    state, record = await graph.aget_state(on_thread(thread)), await latest(runs, thread)
    if record is None:
        values = {"to": to}
        return Given({"goal": PLAYBOOK.goal(values), "plan": PLAYBOOK.plan(values)})
    if record.ended is not None:
        return None
    if not state.interrupts or record.review_state.request is None:
        return Given() if state.next else Given({"operation": "continue"})
    actions = state.interrupts[0].value["action_requests"]
    assert thread == FIRST or not await runs.ledger.standing() or all(one["name"] == "settle_effect" for one in actions)
    return Given(Command(resume={"decisions": [_decision(action, logs) for action in actions]}))


def _decision(action: dict[str, Any], logs: Logs) -> dict[str, Any]:
    if action["name"] != "settle_effect":
        return {"type": "approve", **({"standing": WISH} if action["name"] == "run_plan" else {})}
    tool = action["args"]["tool"]
    logs.note("person settles", action["args"]["args"]["name"])
    return decision(action, logs, tool, "billed" if tool == "bill" else "mailed")
