"""What fails for a reason that may pass is tried again, within limits that anybody may lower."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool

from graph import Agent
from graph.runs import Run
from graph.testing import LoggedTools, ScriptedModel, step
from tools.errors import NothingHappened, Transient


class Failing:
    """Fails so many times, and then answers."""

    def __init__(self, error: Exception, times: int) -> None:
        self.error, self.left = error, times

    def __call__(self, **args: Any) -> Any:
        if self.left:
            self.left -= 1
            raise self.error
        return args


class HttpError(Exception):
    def __init__(self, status_code: int) -> None:
        self.status_code = status_code
        super().__init__(f"HTTP {status_code}")


QUICK = {"backoff_s": 0}


async def hang(**_: Any) -> None:
    """Wait for ever."""
    await asyncio.Event().wait()


ANY = {"type": "object", "properties": {}, "additionalProperties": True}
HANGING = StructuredTool(
    name="work", description="hangs", args_schema=ANY, coroutine=hang, metadata={"effect": "read", "trusted": True}
)


def run_of(tmp_path: Path, tool: Any, fields: dict[str, Any], **options: Any) -> tuple[Run, list[Any]]:
    plan = {"steps": [{**step("one", "work", x=1), **fields}]}
    tmp_path.mkdir(exist_ok=True)
    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([]), tools=[tool], replan="never", **options) as agent:
        run = agent.resume(agent.start("g", plan=plan).id, "approve")
        assert agent.replay(run.id).is_same, str(agent.replay(run.id))
        return run, [event for event in agent.log(run.id) if event.step == "one"]


@pytest.mark.parametrize(
    "error",
    [Transient("busy"), ConnectionError("reset"), TimeoutError("late"), HttpError(429), HttpError(503)],
    ids=repr,
)
def test_a_call_that_may_be_repeated_is_tried_again_after_a_failure_that_may_pass(
    tmp_path: Path, tools: LoggedTools, error: Exception
) -> None:
    tool = tools.tool("work", Failing(error, 2), effect="read")
    run, events = run_of(tmp_path, tool, {"attempts": 3, **QUICK})

    assert run.status == "succeeded" and len(tools.calls) == 3
    assert [event.kind for event in events] == ["call_started", "call_finished"] * 3
    assert [event.payload.get("attempt", 1) for event in events[::2]] == [1, 2, 3]
    assert [event.payload.get("again", False) for event in events[1::2]] == [True, True, False]


@pytest.mark.parametrize("error", [ValueError("wrong"), HttpError(404), NothingHappened("no such file")], ids=repr)
def test_a_failure_that_would_come_again_is_not_tried_again(
    tmp_path: Path, tools: LoggedTools, error: Exception
) -> None:
    run, _ = run_of(tmp_path, tools.tool("work", Failing(error, 9), effect="read"), {"attempts": 3, **QUICK})

    assert run.status == "failed" and len(tools.calls) == 1


def test_by_default_nothing_is_tried_again(tmp_path: Path, tools: LoggedTools) -> None:
    run, _ = run_of(tmp_path, tools.tool("work", Failing(Transient("busy"), 9), effect="read"), {})

    assert run.status == "failed" and len(tools.calls) == 1


def test_the_last_failure_is_the_step_s(tmp_path: Path, tools: LoggedTools) -> None:
    run, _ = run_of(
        tmp_path, tools.tool("work", Failing(Transient("busy"), 9), effect="read"), {"attempts": 2, **QUICK}
    )

    assert run.status == "failed" and len(tools.calls) == 2 and run.results["one"].error == "busy"


@pytest.mark.parametrize(
    ("metadata", "options", "calls"),
    [
        ({"attempts": 2}, {}, 2),
        ({}, {"attempts": 3}, 3),
        ({}, {"policy": {"steps": {"attempts": 2}}}, 2),
        ({"attempts": 4}, {"attempts": 3, "policy": {"steps": {"attempts": 2}}}, 2),
    ],
)
def test_the_lowest_limit_counts(
    tmp_path: Path, tools: LoggedTools, metadata: dict[str, Any], options: dict[str, Any], calls: int
) -> None:
    tool = tools.tool("work", Failing(Transient("busy"), 9), effect="read", **metadata)
    run_of(tmp_path, tool, {"attempts": 5, **QUICK}, **options)

    assert len(tools.calls) == calls


def test_a_call_that_may_not_be_repeated_is_tried_again_only_if_nothing_happened(
    tmp_path: Path, tools: LoggedTools
) -> None:
    closed = tools.tool("work", Failing(NothingHappened("closed"), 1), effect="external")
    run, _ = run_of(tmp_path / "a", closed, {"attempts": 3, **QUICK})
    assert run.status == "succeeded" and len(tools.calls) == 2

    tools.calls.clear()
    busy = tools.tool("work", Failing(Transient("busy"), 1), effect="external")
    run, _ = run_of(tmp_path / "b", busy, {"attempts": 3, **QUICK})
    assert run.status == "failed" and len(tools.calls) == 1


def test_every_attempt_counts_in_the_budget(tmp_path: Path, tools: LoggedTools) -> None:
    tool = tools.tool("work", Failing(Transient("busy"), 9), effect="read")
    run, _ = run_of(tmp_path, tool, {"attempts": 9, **QUICK}, budget={"tool_calls": 3})

    assert run.status == "failed" and len(tools.calls) == 3


def test_a_plan_may_give_a_call_less_time(tmp_path: Path) -> None:
    run, _ = run_of(tmp_path, HANGING, {"timeout_s": 0.05})

    assert run.status == "failed" and "no answer within 0.05 s" in str(run.results["one"].error)


def test_a_model_step_has_one_limit_over_all_its_turns(tmp_path: Path) -> None:
    asks = AIMessage("", tool_calls=[{"name": "work", "args": {}, "id": "1"}])
    own = [HANGING]
    plan = {"steps": [{"id": "one", "objective": "o", "tools": ["work"], "timeout_s": 0.2}]}
    with Agent.open(
        tmp_path / "runs.db", planner=ScriptedModel([]), executor=ScriptedModel([asks]), tools=own, replan="never"
    ) as agent:
        run = agent.resume(agent.start("g", plan=plan).id, "approve")

    assert run.status == "failed" and run.results["one"].error == "the step did not end within 0.2 s"


@pytest.mark.parametrize(
    "fields", [{"attempts": 0}, {"attempts": 1.5}, {"timeout_s": 0}, {"timeout_s": "5"}, {"backoff_s": -1}]
)
def test_a_limit_that_cannot_be_is_a_fault_of_the_plan(
    tmp_path: Path, tools: LoggedTools, fields: dict[str, Any]
) -> None:
    plan = {"steps": [{**step("one", "work", x=1), **fields}]}
    with Agent.open(
        tmp_path / "runs.db", planner=ScriptedModel([]), tools=[tools.tool("work", effect="read")]
    ) as agent:
        run = agent.start("g", plan=plan)

    assert run.status == "failed" and next(iter(fields)) in str(run.reason)


def test_a_step_that_waits_for_a_person_has_no_attempts(tmp_path: Path, tools: LoggedTools) -> None:
    plan = {"steps": [{"id": "one", "objective": "o", "gate": "Go on?", "attempts": 2}]}
    with Agent.open(
        tmp_path / "runs.db", planner=ScriptedModel([]), tools=[tools.tool("work", effect="read")]
    ) as agent:
        run = agent.start("g", plan=plan)

    assert run.status == "failed" and "attempts" in str(run.reason)
