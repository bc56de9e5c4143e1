"""kill -9 in the middle of a run: finished steps stay finished, and an effect that may have happened is asked about."""

import signal
from pathlib import Path

import pytest
from crashing_run import PLANS, PREVIEWING, REFUSED, tools
from langchain_core.tools import BaseTool
from warm_process import run_warm

from planner_executor import Agent
from planner_executor.graph.testing import ScriptedModel

SCRIPT = Path(__file__).with_name("crashing_run.py")
pytestmark = pytest.mark.slow


def crash(tmp_path: Path, database: str, kill_at: str, plans: str = "chain") -> Path:
    log = tmp_path / "effects.log"
    done = run_warm([str(SCRIPT), database, str(log), kill_at, plans], cwd=tmp_path)
    assert done.returncode == -signal.SIGKILL, done.stderr
    return log


def surviving_tools(log: Path) -> list[BaseTool]:
    return tools(log, "never")


def effects(log: Path) -> list[str]:
    return log.read_text().split() if log.exists() else []


@pytest.mark.parametrize("kill_at", ["before:a", "before:d", "after:d"])
def test_a_run_goes_on_and_no_finished_step_runs_again(tmp_path: Path, database: str, kill_at: str) -> None:
    log = crash(tmp_path, database, kill_at)

    with Agent.open(database, planner=ScriptedModel([]), tools=surviving_tools(log)) as agent:
        run = agent.resume("crash")

    assert (run.status, run.answer) == ("succeeded", ["did a", "did c", "did d"])
    assert effects(log).count("c") == 1
    if kill_at != "before:a":
        assert effects(log).count("a") == effects(log).count("b") == 1


@pytest.mark.parametrize(("kill_at", "happened", "times"), [("before:c", False, 1), ("after:c", True, 1)])
def test_an_effect_that_may_have_happened_is_settled_by_a_person(
    tmp_path: Path, database: str, kill_at: str, happened: bool, times: int
) -> None:
    log = crash(tmp_path, database, kill_at)

    with Agent.open(database, planner=ScriptedModel([]), tools=surviving_tools(log)) as agent:
        run = agent.resume("crash")
        assert run.status == "waiting" and run.request is not None
        (action,) = run.request["action_requests"]
        assert (action["name"], action["args"]["tool"]) == ("settle_effect", "pay")
        assert effects(log).count("c") == (kill_at == "after:c")

        args = {"happened": happened, "result": "did c"}
        run = agent.resume("crash", {"type": "edit", "edited_action": {"name": "settle_effect", "args": args}})

    assert (run.status, run.answer) == ("succeeded", ["did a", "did c", "did d"])
    assert effects(log).count("c") == times


def test_a_person_may_stop_a_run_whose_effect_is_in_doubt(tmp_path: Path, database: str) -> None:
    log = crash(tmp_path, database, "after:c")

    with Agent.open(database, planner=ScriptedModel([]), tools=surviving_tools(log)) as agent:
        agent.resume("crash")
        run = agent.resume("crash", {"type": "reject"})

    assert run.status == "rejected" and effects(log).count("c") == 1 and "d" not in effects(log)


@pytest.mark.parametrize("kill_at", ["before:b", "before:c", "after:c", "before:d"])
def test_a_plan_within_a_plan_goes_on_where_it_was_and_is_not_planned_again(
    tmp_path: Path, database: str, kill_at: str
) -> None:
    log = crash(tmp_path, database, kill_at, "refined")
    asked = {"before:b": 2}.get(kill_at, 3)
    left = ScriptedModel(PLANS["refined"][asked:])

    with Agent.open(database, planner=left, tools=surviving_tools(log)) as agent:
        run = agent.resume("crash")

    assert (run.status, run.answer) == ("succeeded", ["did a", ["did b", "did d"]])
    assert len(left.prompts) == 3 - asked
    assert [effects(log).count(name) for name in "abd"] == [1, 1, 1]


@pytest.mark.parametrize("kill_at", [f"{when}:{name}" for name in "acd" for when in ("before", "after")])
def test_a_run_goes_on_in_the_branch_that_it_took_and_pays_once(tmp_path: Path, database: str, kill_at: str) -> None:
    log = crash(tmp_path, database, kill_at, "branch")
    settled = {"happened": kill_at == "after:c", "result": "did c"}

    with Agent.open(database, planner=ScriptedModel([]), tools=surviving_tools(log)) as agent:
        run = agent.resume("crash")
        if kill_at.endswith("c"):
            assert run.status == "waiting"
            run = agent.resume("crash", {"type": "edit", "edited_action": {"name": "settle_effect", "args": settled}})
        evaluated = [event.step for event in agent.log("crash.1") if event.kind == "condition_evaluated"]

    assert (run.status, run.answer) == ("succeeded", [None, "did c", "did d"])
    assert effects(log).count("c") == 1 and "b" not in effects(log)
    assert sorted(evaluated) == ["b", "c"]


@pytest.mark.parametrize("kill_at", ["before:c", "after:c"])
def test_items_that_are_done_are_not_done_again(tmp_path: Path, database: str, kill_at: str) -> None:
    log = crash(tmp_path, database, kill_at, "each")

    with Agent.open(database, planner=ScriptedModel([]), tools=surviving_tools(log)) as agent:
        run = agent.resume("crash")

    assert (run.status, run.answer) == ("succeeded", ["did a", "did b", "did c", "did d"])
    assert [effects(log).count(name) for name in "abd"] == [1, 1, 1]


@pytest.mark.parametrize("kill_at", ["before:c", "after:c"])
def test_a_models_loop_goes_on_where_it_was_after_calls_that_succeeded_and_failed(
    tmp_path: Path, database: str, kill_at: str
) -> None:
    log = crash(tmp_path, database, kill_at, "loop")
    left = ScriptedModel(PLANS["loop"][4:])

    with Agent.open(database, planner=left, tools=surviving_tools(log)) as agent:
        run = agent.resume("crash")

    assert (run.status, run.answer, len(left.prompts)) == ("succeeded", "looked around", 1)
    assert [effects(log).count(name) for name in ("a", "odd")] == [1, 1]


@pytest.mark.parametrize("kind", REFUSED)
def test_a_call_that_was_refused_before_the_kill_fails_its_step_whatever_the_model_says_afterwards(
    tmp_path: Path, database: str, kind: str
) -> None:
    log = crash(tmp_path, database, "model", kind)

    own = surviving_tools(log)
    model = ScriptedModel(["The rent is paid."])
    with Agent.open(database, planner=model, tools=own, replan="never") as agent:  # the policy is that of the record
        (why,) = [event.payload["why"] for event in agent.log("crash.1") if event.kind == "call_refused"]
        run = agent.resume("crash")

    assert (run.status, run.answer) == ("failed", None)
    assert run.results["rent"].error == f"its call of pay was refused: {why}"
    assert effects(log) == ["c"] * (kind == "number of calls")


def test_a_preview_that_left_before_the_kill_is_on_record_and_made_again(tmp_path: Path, database: str) -> None:
    log = crash(tmp_path, database, "after:preview-o", "previewed")

    model, own = ScriptedModel(PLANS["previewed"]), surviving_tools(log)
    with Agent.open(database, planner=model, tools=own, policy=PREVIEWING) as agent:
        (left,) = [event.payload["previews"][0] for event in agent.log("crash.1") if event.kind == "call_previewed"]
        run = agent.resume("crash")
        assert run.request is not None
        assert run.request["review"]["actions"][0]["previews"][0]["text"] == "did preview-o"
        assert agent.resume("crash", "approve").status == "succeeded"

    assert (left["place"], left["tool"]) == ("o", "order") and "text" not in left
    assert effects(log) == ["preview-o", "preview-o", "preview-o", "o"]
