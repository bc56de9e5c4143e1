"""How runs end in which a step failed and a replanner answered: nothing but its own work makes up for a failed step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from planner_executor import Agent
from planner_executor.graph.runs.run import Run
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step
from planner_executor.tools.errors import NothingHappened

MODES = ("always", "side_effects", "never")
LOOK = step("look", "look", query="q")
READ, MAIL = step("s", "broken", query="q"), step("s", "bounce", to="ann")
BY_MODEL = {"id": "s", "objective": "write to ann", "tools": ["bounce"], "required_tools": ["bounce"]}


def another(tool: str, name: str = "t", **more: Any) -> dict[str, Any]:
    args = {"query": "z"} if tool == "look" else {"to": "bob"}
    return {**step(name, tool, **args), **more}


def again(tool: str) -> dict[str, Any]:
    return another(tool, "s")


@dataclass(frozen=True)
class Case:
    """The failed step, what the replanner does about it, and how the run ends in each mode, or in all of them."""

    failed: Mapping[str, Any]
    steps: Sequence[Any]
    ends: str | Mapping[str, str]
    line: str = ""


PERSON = {"always": "succeeded", "side_effects": "succeeded", "never": "partial"}
GUESS = {"id": "t", "objective": "guess", "replaces": "s"}
IN_PLACE = {**BY_MODEL, "id": "t", "replaces": "s"}
INSTEAD = another("send", replaces="s")
UNRELATED = another("look")
LOOKS_INSTEAD = another("look", replaces="s")
BOUNCES_INSTEAD = another("bounce", replaces="s")
NOTHING = "Nothing here makes up for the failed s (bounce): the run cannot end as succeeded."
CASES = {
    "a read is dropped": Case(READ, [], "partial"),
    "a read is dropped, and something unrelated is read": Case(READ, [UNRELATED], "partial"),
    "a read takes the id of a read": Case(READ, [again("look")], "succeeded"),
    "a read replaces a read": Case(READ, [LOOKS_INSTEAD], "succeeded", "t (look) instead of the failed s."),
    "an effect replaces a read": Case(READ, [INSTEAD], "succeeded"),
    "two reads, one of which replaces a read": Case(READ, [UNRELATED, {**LOOKS_INSTEAD, "id": "u"}], "succeeded"),
    "a thought replaces a read": Case(READ, [GUESS], "succeeded"),
    "an effect is dropped": Case(MAIL, [], "partial"),
    "an effect is dropped, and something unrelated is read": Case(MAIL, [UNRELATED], "partial", NOTHING),
    "an effect is dropped, and its tool is called elsewhere": Case(MAIL, [another("bounce")], "partial", NOTHING),
    "a read takes the id of an effect": Case(MAIL, [again("look")], "partial", NOTHING),
    "a read replaces an effect": Case(MAIL, [LOOKS_INSTEAD], "partial", NOTHING),
    "a thought replaces an effect": Case(MAIL, [GUESS], "partial", NOTHING),
    "the same tool takes the id of an effect": Case(MAIL, [again("bounce")], "succeeded"),
    "the same tool replaces an effect": Case(MAIL, [BOUNCES_INSTEAD], "succeeded"),
    "a model with the same tool replaces an effect": Case(MAIL, [IN_PLACE], "succeeded"),
    "another effect takes the id of an effect": Case(MAIL, [again("send")], PERSON, "s (send) instead of the failed s"),
    "another effect replaces an effect": Case(
        MAIL, [INSTEAD], PERSON, "t (send) instead of the failed s (bounce). If you approve the plan, this makes up"
    ),
    "a model's effect is dropped": Case(BY_MODEL, [UNRELATED], "partial", NOTHING),
    "the same tool replaces a model's effect": Case(BY_MODEL, [BOUNCES_INSTEAD], "succeeded"),
    "a read replaces a model's effect": Case(BY_MODEL, [LOOKS_INSTEAD], "partial", NOTHING),
}


def ended(case: Case, mode: str, database: Path, decide: Any = None) -> tuple[Run, list[str]]:
    """Return the run when it has ended, and what was shown of revisions on the way."""
    log, bounces = LoggedTools(), iter([NothingHappened("no such address"), None, None])

    def bounce(**_: Any) -> str:
        if error := next(bounces):
            raise error
        return "sent"

    def fail(**_: Any) -> None:
        raise ValueError("down")

    tools = [
        log.tool("look", lambda query: query, effect="read"), log.tool("broken", fail, effect="read"),
        log.tool("bounce", bounce), log.tool("send", lambda to: to),
    ]  # fmt: skip
    call = _asks("bounce")
    fails = [call, RuntimeError("no luck")] if "tools" in case.failed else []
    executor = ScriptedModel([*fails, *([call, "done"] if _is_model(case.steps) else ["a guess"])])
    planned = [{"steps": [LOOK, dict(case.failed)]}, {"steps": list(case.steps), "answer": "All is done."}]
    shown: list[str] = []
    with Agent.open(database, planner=ScriptedModel(planned), executor=executor, tools=tools, approval=mode) as agent:
        run = agent.start("g", thread="t")
        while run.request is not None:
            shown += [run.request["action_requests"][0]["description"]]
            run = agent.resume("t", run.decide(approve=True), **(decide or {}))
        assert agent.replay("t").is_same
    return run, shown


def _is_model(steps: Sequence[Any]) -> bool:
    return any("tools" in one for one in steps)


def _asks(tool: str) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": tool, "args": {"to": "ann"}, "id": "1"}])


@pytest.mark.parametrize(
    ("name", "mode"),
    [(name, mode) for name, case in CASES.items() for mode in (MODES[::2] if isinstance(case.ends, str) else MODES)],
)
def test_a_run_succeeds_only_if_its_failed_step_is_made_up_for(tmp_path: Path, name: str, mode: str) -> None:
    case = CASES[name]

    run, shown = ended(case, mode, tmp_path / "runs.db")

    assert run.status == (case.ends if isinstance(case.ends, str) else case.ends[mode]), run.reason
    assert ("s failed" in str(run.reason)) == (run.status == "partial")
    assert mode != "always" or case.line in shown[-1]


def test_an_approval_that_nobody_looked_at_makes_up_for_nothing(tmp_path: Path) -> None:
    case = CASES["another effect replaces an effect"]

    run, _ = ended(case, "always", tmp_path / "runs.db", decide={"unseen": True})

    assert run.status == "partial"
