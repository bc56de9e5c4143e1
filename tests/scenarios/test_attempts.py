"""What fails for a reason that may pass is tried again, within limits that anybody may lower."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import PrivateAttr

from planner_executor import Agent
from planner_executor.graph.builder.configuration import settings_of
from planner_executor.graph.builder.graph_builder import compiled
from planner_executor.graph.calls.rate_limit import RateLimiter
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.chat_models.retry import Clock
from planner_executor.graph.chat_models.roles import role_models
from planner_executor.graph.context import Services
from planner_executor.graph.ledger.sqlite.memory import MemoryLedger
from planner_executor.graph.plan.reading import read_plan
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.replay.player import replayed
from planner_executor.graph.runs.run import Run
from planner_executor.graph.testing import LoggedTools, ScriptedModel, on_thread, step
from planner_executor.tools.errors import NothingHappened, Transient


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


def test_a_synchronous_tool_that_is_still_at_work_is_not_tried_again(tmp_path: Path, tools: LoggedTools) -> None:
    done = threading.Event()
    tool = tools.tool("work", lambda **_: done.wait(5), effect="read")
    run, _ = run_of(tmp_path, tool, {"timeout_s": 0.05, "attempts": 3, **QUICK})
    done.set()

    assert len(tools.calls) == 1 and "may still be at work" in str(run.results["one"].error)


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


@pytest.mark.parametrize(
    "fields",
    [{"tool": "work"}, {"tools": []}, {"ask": "?"}, {"gate": "?"}, {"refine": True}, {"gather": 1}],
    ids=lambda fields: next(iter(fields)),
)
def test_every_kind_of_step_may_be_limited(tools: LoggedTools, fields: dict[str, Any]) -> None:
    specs = Toolbox([tools.tool("work", effect="read")]).specs
    raw = {"steps": [{"id": "one", "objective": "o", "timeout_s": 5, "attempts": 2, "backoff_s": 0.5, **fields}]}

    assert read_plan(raw, specs).plan is not None, read_plan(raw, specs).issues


class Impatient(ScriptedModel):
    """Asked once per answer, as a model whose client makes the further requests itself."""

    max_retries: int = 1


BUSY = ConnectionError("reset")
MODEL_STEP = {"id": "one", "objective": "o", "tools": [], **QUICK}
REFINED = {"id": "one", "objective": "o", "refine": True, **QUICK}
JUDGED = {"id": "one", "objective": "o", "gather": "done", "success_criteria": "it is good", **QUICK}
INNER = {"steps": [{"id": "in", "objective": "o", "gather": 1}]}


@pytest.mark.parametrize(
    ("given", "role", "answers"),
    [
        (MODEL_STEP, "executor", [BUSY, BUSY, "done"]),
        (REFINED, "planner", [BUSY, BUSY, INNER]),
        (JUDGED, "judge", [BUSY, BUSY, {"met": True, "why": "yes"}]),
    ],
    ids=["model", "refine", "judge"],
)
@pytest.mark.parametrize("attempts", [1, 3])
def test_a_request_of_a_step_to_its_model_is_tried_again(
    tmp_path: Path, given: dict[str, Any], role: str, answers: list[Any], attempts: int
) -> None:
    model = Impatient(answers)
    models = {"planner": ScriptedModel([]), role: model}
    with Agent.open(tmp_path / "runs.db", **models, tools=[], replan="never", approval="never") as agent:
        run = agent.start("g", plan={"steps": [{**given, "attempts": attempts}]})
        ended = [event for event in agent.log(run.id) if event.kind == "model_finished"]
        assert agent.replay(run.id).is_same, str(agent.replay(run.id))

    assert len(model.prompts) == attempts
    assert [event.payload.get("again", False) for event in ended] == [True] * (attempts - 1) + [False]
    assert role == "judge" or run.status == ("succeeded" if attempts == 3 else "failed")


def test_an_attempt_of_a_model_that_the_budget_does_not_allow_is_not_made(tmp_path: Path) -> None:
    model = Impatient([BUSY, BUSY, "done"])
    options: dict[str, Any] = {"planner": ScriptedModel([]), "executor": model, "budget": {"model_calls": 2}}
    with Agent.open(tmp_path / "runs.db", **options, tools=[], replan="never") as agent:
        run = agent.resume(agent.start("g", plan={"steps": [{**MODEL_STEP, "attempts": 3}]}).id, "approve")

    assert (run.status, len(model.prompts)) == ("failed", 2)


class Passing:
    """Time limits of steps that pass as soon as their work hangs."""

    def __init__(self) -> None:
        self.hangs = asyncio.Event()
        self.limits: list[float] = []

    async def over(self, _step: str, seconds: float) -> None:
        self.limits.append(seconds)
        await self.hangs.wait()

    async def hang(self, **_: Any) -> None:
        self.hangs.set()
        await asyncio.Event().wait()


class HangingModel(ScriptedModel):
    """Never answers."""

    _passing: Passing = PrivateAttr()

    def __init__(self, passing: Passing) -> None:
        super().__init__([])
        self._passing = passing

    async def _agenerate(self, *_: Any, **__: Any) -> Any:
        await self._passing.hang()


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"tools": ["work"]}, "the step did not end within 3600 s"),
        ({"refine": True}, "it could not be refined: the step did not end within 3600 s"),
        ({"tools": ["work"], "for_each": [1], "max_items": 1}, "one[0] failed: the step did not end within 3600 s"),
    ],
    ids=["model", "refine", "item"],
)
async def test_a_limit_over_all_turns_is_kept_and_played_again_without_a_clock(
    saver: InMemorySaver, given: dict[str, Any], error: str
) -> None:
    passing, ledger = Passing(), MemoryLedger()

    async def opened() -> MemoryLedger:
        return ledger

    services = Services(
        settings_of({"approval": "never", "replan": "never"}),
        Toolbox([HANGING]),
        role_models({"planner": HangingModel(passing)}),
        opened,
        RateLimiter({}, lambda: 0.0),
        pauses=Clock(step_over=passing.over),
    )

    plan = {"steps": [{"id": "one", "objective": "o", "timeout_s": 3600, **given}]}
    state = await compiled(services, saver).ainvoke({"goal": "g", "plan": plan}, on_thread())
    state, played = (state, await replayed(await ledger.transcript(RunKey("thread", 1))))

    assert state["status"] == "failed" and error in state["results"]["one"]["error"]
    assert passing.limits == [pytest.approx(3600, rel=0.01)]
    assert played.is_same, str(played)
