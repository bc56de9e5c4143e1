"""A limit that starts at nothing and is raised by one again and again: every kind of work goes on where it stopped."""

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from planner_executor import Agent
from planner_executor.graph.runs.run import Run
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step


def calls(*made: tuple[str, str]) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": tool, "args": {"name": n}, "id": n} for tool, n in made])


PLAN = {
    "steps": [
        step("f", "flaky"),
        {"id": "m", "objective": "o", "tools": ["look", "pay"], "max_calls": 2, "depends_on": ["f"]},
        {"id": "r", "objective": "dig", "refine": True, "tools": ["look"], "depends_on": ["m"]},
        {**step("e", "look", name="{item_result}", after=["m"]), "for_each": ["a", "b", "c"]},
        {**step("j", "look", name="j", after=["m"]), "success_criteria": "good"},
    ]
}
REFINED = {"steps": [step("x", "look", name="x"), step("y", "look", name="y", after=["x"])]}
EVERY_KIND: dict[str, list[Any]] = {
    "planner": [PLAN, REFINED],
    "executor": [calls(("look", "1"), ("pay", "p")), calls(("look", "2")), "done"],
    "replanner": [{"keep": ["m", "r", "e", "j"], "steps": [step("f", "flaky")]}],
    "judge": [{"met": True, "why": "it is"}],
}
STEPS = [step("a", "look", name="1"), step("b", "look", name="2", after=["a"]), step("c", "pay", name="3", after=["b"])]
ONE_BY_ONE: dict[str, list[Any]] = {"planner": [*({"steps": [one]} for one in STEPS), {"steps": [], "answer": "fine"}]}
AFTER_EACH: dict[str, list[Any]] = {
    "planner": [{"steps": STEPS}], "replanner": [{"keep": ["b", "c"]}, {"keep": ["c"]}],
}  # fmt: skip


def raised(
    tmp_path: Path, limit: str, answers: dict[str, list[Any]], **options: Any
) -> tuple[Run, int, dict[str, int]]:
    """Return the end of a run, how often its limit was raised, and how often each tool and model was called."""
    log, models = LoggedTools(), {role: ScriptedModel(said) for role, said in answers.items()}

    def flaky() -> str:
        if len(log.named("flaky")) == 1:
            raise ValueError("not now")
        return "there"

    tools = [log.tool("look", effect="read"), log.tool("flaky", flaky, effect="read"), log.tool("pay")]
    options = {"tools": tools, "approval": "never", **models, **options}
    with Agent.open(tmp_path / "runs.db", budget=at(limit, 0), **options) as agent:
        run = agent.start("g", thread="t")
    times = 0
    while not run.ended:
        assert run.request is not None
        assert [action["name"] for action in run.request["action_requests"]] == ["raise_budget"]
        times += 1
        with Agent.open(tmp_path / "runs.db", **options) as agent:
            run = agent.resume("t", run.decide(limits=at(limit, times)))
    with Agent.open(tmp_path / "runs.db", **options) as agent:
        assert agent.replay("t").is_same
    made = {name: len(log.named(name)) for name in ("flaky", "look", "pay")}
    return run, times, made | {role: len(model.prompts) for role, model in models.items()}


def at(limit: str, most: int) -> dict[str, Any]:
    return {"calls": {limit[6:]: most}} if limit.startswith("calls.") else {limit: most}


@pytest.mark.parametrize(
    ("limit", "times", "at_once"),
    [
        ("model_calls", 7, 1),
        ("tool_calls", 11, 8),
        ("steps", 6, 8),
        ("replans", 1, 1),
        ("calls.look", 8, 1),
        ("calls.pay", 1, 8),
    ],
)
def test_every_kind_of_step_goes_on_and_nothing_is_called_twice(
    tmp_path: Path, limit: str, times: int, at_once: int
) -> None:
    run, raises, made = raised(tmp_path, limit, EVERY_KIND, max_concurrency=at_once)

    assert (run.status, raises) == ("succeeded", times)
    assert made == {"flaky": 2, "look": 8, "pay": 1, "planner": 2, "executor": 3, "replanner": 1, "judge": 1}


@pytest.mark.parametrize(("limit", "times"), [("model_calls", 4), ("tool_calls", 3), ("steps", 3)])
def test_planning_one_step_at_a_time_goes_on(tmp_path: Path, limit: str, times: int) -> None:
    run, raises, made = raised(tmp_path, limit, ONE_BY_ONE, horizon=1)

    assert (run.status, run.answer, raises) == ("succeeded", "fine", times)
    assert made == {"flaky": 0, "look": 2, "pay": 1, "planner": 4}


@pytest.mark.parametrize(("limit", "times"), [("model_calls", 3), ("tool_calls", 3), ("steps", 3)])
def test_replanning_after_every_step_goes_on(tmp_path: Path, limit: str, times: int) -> None:
    run, raises, made = raised(tmp_path, limit, AFTER_EACH, replan="every_step", max_concurrency=1)

    assert (run.status, raises) == ("succeeded", times)
    assert made == {"flaky": 0, "look": 2, "pay": 1, "planner": 1, "replanner": 2}
