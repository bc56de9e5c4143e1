"""Steps that a step is refined to keep the names that the planner gave; runs begun before go on with numbers."""

import gzip
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from planner_executor import Agent
from planner_executor.graph.testing import LoggedTools, ScriptedModel, on_thread, step

BEFORE = Path(__file__).parents[1] / "data" / "names_by_place" / "runs.db.gz"
VAGUE = {"id": "work", "objective": "do the work", "refine": True, "tools": ["look"], "depends_on": ["a"]}
INNER = {"id": "dig", "objective": "dig", "refine": True, "tools": ["look"], "depends_on": ["top"]}
PLAN = {"steps": [step("a", "look", name="first"), VAGUE], "answer": "{work_result}"}
PARTS = [
    {"steps": [step("top", "look", name="{a_result}"), INNER], "answer": ["{top_result}", "{dig_result}"]},
    {"steps": [step("deep", "look", name="deep")]},
]
Build = Callable[..., Any]


def agent_on(path: Path, *answers: Any) -> Agent:
    look = LoggedTools().tool("look", lambda name: f"saw {name}", effect="read", trusted=True)
    return Agent.open(path, planner=ScriptedModel(answers), tools=[look])


def names(run: Any) -> list[str]:
    return [one.id for one in run.plan.steps]


def test_a_run_begun_before_goes_on_with_numbers_and_is_played_by_them(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    path.write_bytes(gzip.decompress(BEFORE.read_bytes()))

    with agent_on(path, *PARTS) as agent:
        agent.resume("waits.1", "approve")

        for run in map(agent.show, ("done.1", "waits.1")):
            assert names(run) == ["a", "work_1", "work_2_1", "work_2", "work"]
            assert run.answer == ["saw saw first", "saw deep"]
            assert (played := agent.replay(run.id)).is_same, played


def test_a_run_keeps_the_names_over_a_restart_and_in_a_replay(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with agent_on(path, PLAN) as agent:
        waits = agent.start("g")
    with agent_on(path, *PARTS) as agent:
        agent.resume(waits.id, "approve")
        run = agent.show(waits.id)

        assert names(run) == ["a", "work_top", "work_dig_deep", "work_dig", "work"]
        assert run.answer == ["saw saw first", "saw deep"]
        assert (played := agent.replay(run.id)).is_same, played


def test_references_between_them_follow_their_names_wherever_they_stand(build: Build, tools: LoggedTools) -> None:
    vague = {"id": "work", "objective": "o", "refine": True, "tools": ["search"]}
    rows = {**step("rows", "search", query="x"), "checks": [{"non_empty": True}]}
    each = {**step("work_each", "search", query="{item_result}"), "for_each": "{rows_result.items}"}
    both = {
        "id": "both",
        "objective": "o",
        "gather": {"n": "{length(rows_result.items)}", "work_each": "{work_each_result}"},
    }
    last = step("last", "search", query="{{rows_result}} {both_result.n}", after=["work_each"])
    graph = build(
        {"steps": [vague, step("work_rows", "search", query="taken")], "answer": "{work_result}"},
        {"steps": [rows, each, both, last], "answer": ["{work_each_result}", "{last_result.items[0]}"]},
        approval="never",
    )

    state = graph.invoke({"goal": "g"}, on_thread())

    steps = {one["id"]: one for one in state["plan"]["steps"]}
    assert list(steps) == ["work_rows_2", "work_each", "work_both", "work_last", "work", "work_rows"]
    assert steps["work_each"]["for_each"] == "{work_rows_2_result.items}"
    assert steps["work_both"]["gather"] == {
        "n": "{length(work_rows_2_result.items)}",
        "work_each": "{work_each_result}",
    }
    assert steps["work_last"]["args"] == {"query": "{{rows_result}} {work_both_result.n}"}
    assert steps["work_last"]["depends_on"] == ["work_each"]
    assert state["answer"] == [[{"items": ["X"]}], "{ROWS_RESULT} 1"]


def test_an_expression_that_its_steps_longer_names_make_too_long_is_told_to_the_planner(
    build: Build, tools: LoggedTools
) -> None:
    vague = {"id": "work", "objective": "o", "refine": True, "tools": ["search"]}
    names = ", ".join(["b_result"] * 190)
    wide = {"id": "wide", "objective": "o", "gather": f"{{length([a_result, {names}])}}"}
    parts = [step("a", "search", query="x"), step("b", "search", query="y")]
    graph = build(
        {"steps": [vague]}, {"steps": [*parts, wide]}, {"steps": [*parts], "answer": "{b_result}"}, approval="never"
    )

    state = graph.invoke({"goal": "g"}, on_thread())

    assert state["status"] == "succeeded" and tools.named("search") != []
    told = str(graph.model.prompts[-1][-1].content)
    assert re.search(
        r"wide.{1,10}gather.+is longer than 2000 characters, once its steps are named in the whole plan", told
    )
