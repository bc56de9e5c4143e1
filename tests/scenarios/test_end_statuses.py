"""How whole runs end: status, reason and answer follow from what happened, whatever models say of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from planner_executor import Agent
from planner_executor.graph.runs.run import Run
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step


def plan(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"steps": list(steps), **more}


A, B = step("a", "search", query="q"), step("b", "broken", after=["a"])
C, D = step("c", "search", query="{b_result}"), step("d", "search", query="d")
ITEMS = {"id": "e", "objective": "o", "tool": "search", "args": {"query": "{item_result}"}}
EACH = {**ITEMS, "for_each": ["x", "bad", "y"]}
DONE = {"steps": [], "answer": "All is done."}


@dataclass(frozen=True)
class Case:
    """What is planned, revised and decided, and how the run has to end; `reason` are words that stand in it."""

    answers: Sequence[Any]
    status: str
    reason: Sequence[str]
    answer: Any = None
    decisions: Sequence[dict[str, Any]] = ()
    options: dict[str, Any] | None = None


NEVER = {"replan": "never"}
CANCEL = {"cancel": True}
CASES = {
    "everything succeeded": Case([plan(A, D)], "succeeded", ["2 of 2"], {"a": "Q", "d": "D"}),
    "answered at once": Case([{"steps": [], "answer": 42}], "succeeded", ["without a plan"], 42),
    "a step failed, and what waits for it did not run": Case(
        [plan(A, B, C, D)], "partial", ["b failed: ValueError: down", "c blocked: waits for b"], {"d": "D"},
        options=NEVER,
    ),
    "only what others rest on succeeded": Case([plan(A, B)], "failed", ["b failed"], options=NEVER),
    "the answer rests on a step that failed": Case(
        [plan(A, B, D, answer="{a_result} {b_result}")], "failed", ["b failed"], options=NEVER
    ),
    "the answer rests on a blocked step": Case(
        [plan(A, B, C, D, answer={"found": "{c_result}", "also": "{d_result}"})], "failed", ["c blocked"], options=NEVER
    ),
    "the answer rests on nothing that is missing": Case(
        [plan(A, B, answer="{a_result}")], "partial", ["missing: b failed"], "Q", options=NEVER
    ),
    "the answer points at nothing": Case([plan(A, answer="{a_result.no.such}")], "failed", ["answer cannot be given"]),
    "an item failed, and none may": Case([plan(EACH)], "failed", ["1 of 3 items failed", "e[1]"], options=NEVER),
    "an item failed, and one may": Case(
        [plan({**EACH, "max_failures": 1})], "partial", ["missing: e[1] failed: ValueError: down"],
        ["X", {"error": "ValueError: down"}, "Y"], options=NEVER,
    ),
    "a check is unmet": Case(
        [plan({**A, "checks": [{"matches": "nothing like it"}]})], "failed", ["a failed"], options=NEVER
    ),
    "a step could not be refined": Case(
        [plan({"id": "r", "objective": "o", "refine": True}), "no plan", "none either"], "failed",
        ["could not be refined"], options=NEVER,
    ),
    "it was replanned as often as may be": Case(
        [plan(A, B, D), plan(B, keep=["d"])], "partial", ["missing: b failed"], {"d": "D"},
        options={"max_replans": 1},
    ),
    "a replanner drops what failed": Case([plan(A, B), DONE], "partial", ["b failed and was dropped"], "All is done."),
    "a replanner drops all of it": Case([plan(B | {"depends_on": []}), DONE], "partial", ["b failed"], "All is done."),
    "a planner drops what failed after feedback": Case(
        [plan(B | {"depends_on": []}), plan(step("b", "broken", why="now")), DONE], "partial", ["b failed"],
        "All is done.", decisions=[{"approve": True}, {"feedback": "just say so"}],
    ),
    "a planner drops what failed, and more was done": Case(
        [plan(A, B), plan(step("b", "broken", after=["a"], why="now")), DONE], "partial", ["b failed and was dropped"],
        "All is done.", decisions=[{"approve": True}, {"feedback": "just say so"}],
    ),
    "a person drops what failed": Case(
        [plan(A, B), plan(step("b", "broken", after=["a"], why="now"))], "partial", ["b failed and was dropped"], "Q",
        decisions=[{"approve": True}, {"plan": plan(A, answer="{a_result}")}],
    ),
    "a plan that cannot run": Case([plan(step("x", "no_such")), "nor this"], "failed", ["gave no plan"]),
    "a planner that breaks down": Case([RuntimeError("no luck")], "failed", ["no luck"]),
    "a plan was rejected": Case([plan(A)], "rejected", ["rejected"], decisions=[{"stop": True}]),
    "a revision was rejected": Case(
        [plan(A, B, D), plan(step("b", "search", after=["a"], query="other"), keep=["d"])], "rejected", ["rejected"],
        {"d": "D"}, decisions=[{"approve": True}, {"stop": True}],
    ),
    "the run was cancelled in the middle": Case(
        [plan(A, B, D), plan(step("b", "search", after=["a"], query="other"), keep=["d"])], "cancelled", ["cancelled"],
        decisions=[{"approve": True}, CANCEL],
    ),
    "a gate was not passed": Case(
        [plan({"id": "g", "objective": "o", "gate": "Fine?"}, step("z", "search", after=["g"], query="z"))],
        "rejected", ["rejected"], decisions=[{"stop": True}],
    ),
    "a question was not answered": Case(
        [plan({"id": "q", "objective": "o", "ask": "Which?"}, step("z", "search", query="{q_result}"))],
        "rejected", ["rejected"], decisions=[{"stop": True}],
    ),
    "an effect stays uncertain": Case(
        [plan(step("s", "send"), D), plan(step("s", "send"), keep=["d"])], "rejected", ["rejected"], {"d": "D"},
        decisions=[{"approve": True}, {"stop": True}],
    ),
    "the budget was not raised": Case(
        [plan(D, step("z", "search", query="{d_result}"), A)], "budget_exhausted", ["tool_calls", "z did not run"],
        {"a": "Q"}, decisions=[{"approve": True}, {"finish": True}], options={"budget": {"tool_calls": 2}},
    ),
}  # fmt: skip


def ended(case: Case, database: Path) -> Run:
    log = LoggedTools()

    def search(query: str) -> str:
        if query == "bad":
            raise ValueError("down")
        return query.upper()

    def fail(**_: Any) -> None:
        raise ValueError("down")

    tools = [
        log.tool("search", search, effect="read"), log.tool("broken", fail, effect="read"), log.tool("send", fail),
    ]  # fmt: skip
    with Agent.open(database, planner=ScriptedModel(case.answers), tools=tools, **(case.options or {})) as agent:
        run = agent.start("g", thread="t")
        said = list(case.decisions)
        for _ in range(9):
            if run.request is not None and said != [CANCEL]:
                run = agent.resume("t", run.decide(**(said.pop(0) if said else {"approve": True})))
        if said == [CANCEL]:
            run = agent.cancel("t")
        assert run.ended and said in ([], [CANCEL])
        played = agent.replay("t")
    assert played.is_same, str(played)
    return run


@pytest.mark.parametrize("name", CASES)
def test_a_run_ends_as_what_came_of_it(tmp_path: Path, name: str) -> None:
    case = CASES[name]

    run = ended(case, tmp_path / "runs.db")

    assert (run.status, run.answer) == (case.status, case.answer), run.reason
    assert [words for words in case.reason if words not in str(run.reason)] == []
