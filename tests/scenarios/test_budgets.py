"""Budgets as whole runs: each limit checks in with a person, is kept in the file, and nothing is spent twice."""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from planner_executor import Agent, build_graph
from planner_executor.graph import testing as shown
from planner_executor.graph.builder.configuration import settings_of
from planner_executor.graph.builder.graph_builder import compiled
from planner_executor.graph.calls.rate_limit import RateLimiter
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.chat_models.retry import Clock
from planner_executor.graph.chat_models.roles import role_models
from planner_executor.graph.chat_models.settings import ModelSettings
from planner_executor.graph.checkpoints.checkpoint import ledger_of
from planner_executor.graph.checkpoints.saver import strict_serializer
from planner_executor.graph.context import Services
from planner_executor.graph.errors import ConfigError
from planner_executor.graph.ledger.sqlite.memory import MemoryLedger
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.replay.player import replayed
from planner_executor.graph.runs.run import Run
from planner_executor.graph.testing import LoggedTools, PassingClock, ScriptedModel, on_thread, step

PRICES = {"prices": {"scripted": {"input": 1_000.0, "output": 1_000.0}}}
"""A tenth of a cent per token, so that an answer of 1,000 tokens costs a dollar."""


def said(words: Any, tokens: int = 1_000) -> AIMessage:
    """Return an answer that took so many tokens, as a provider counts them."""
    text = words if isinstance(words, str) else ScriptedModel([words]).invoke("").text
    counted = {"input_tokens": tokens // 2, "output_tokens": tokens - tokens // 2, "total_tokens": tokens}
    return AIMessage(text, usage_metadata=counted)


@dataclass
class World:
    """A database that is opened anew for each step of the way, as by another process, and what models and tools got."""

    database: Path
    answers: Mapping[str, list[Any]]
    options: Mapping[str, Any]
    log: LoggedTools = field(default_factory=LoggedTools)

    def __post_init__(self) -> None:
        self.models = {role: ScriptedModel(answers) for role, answers in self.answers.items()}

    def open(self) -> Any:
        look = self.log.tool("look", self._look, effect="read", trusted=True)
        tools = [look, self.log.tool("pay", lambda name: f"paid {name}")]
        return Agent.open(self.database, tools=tools, **self.models, **{"max_concurrency": 1, **self.options})

    def _look(self, name: str) -> str:
        if name == "flaky" and self.made.count(name) == 1:
            raise ValueError("not now")
        return f"did {name}"

    def until_short(self) -> Run:
        """Approve plans until the run checks in for want of budget, and return it."""
        with self.open() as agent:
            run: Run = agent.start("g", thread="t")
        while asked(run) == ["run_plan"]:
            run = self.go_on(approve=True)
        return run

    def go_on(self, **said: Any) -> Run:
        with self.open() as agent:
            run: Run = agent.resume("t", agent.show("t").decide(**said))
            assert not run.ended or agent.replay("t").is_same, str(agent.replay("t"))
        return run

    @property
    def prompts(self) -> list[str]:
        return [role for role, model in self.models.items() for _ in model.prompts]

    @property
    def made(self) -> list[str]:
        return [args["name"] for _, args in self.log.calls]


def asked(run: Run) -> list[str]:
    return [action["name"] for action in run.request["action_requests"]] if run.request else []


PLAN = {
    "steps": [
        step("a", "look", name="a"),
        step("flaky", "look", name="flaky", after=["a"]),
        step("think", after=["flaky"]),
        step("b", "pay", name="b {think_result}", after=["think"]),
        step("apart", "look", name="apart", after=["a"]),
    ]
}
REVISION = {"steps": [step("flaky", "look", name="flaky", after=["a"])], "keep": ["think", "b", "apart"]}
ANSWERS = {"planner": [said(PLAN)], "replanner": [said(REVISION, 2_500)], "executor": [said("thought")]}
EVERYTHING = ["a", "apart", "flaky", "flaky", "b thought"]


@dataclass(frozen=True)
class Case:
    """A limit, what it is raised to, and what was called and asked when it was reached."""

    limit: str
    budget: dict[str, Any]
    more: dict[str, Any]
    made: list[str]
    prompts: list[str]


CASES = {
    "tool calls": Case("tool_calls", {"tool_calls": 4}, {"tool_calls": 5}, EVERYTHING[:4], [*ANSWERS]),
    "calls of a tool": Case(
        "calls.look", {"calls": {"look": 3}}, {"calls": {"look": 4}}, EVERYTHING[:3], ["planner", "replanner"]
    ),
    "model calls, at the replanner": Case(
        "model_calls", {"model_calls": 1}, {"model_calls": 3}, EVERYTHING[:3], ["planner"]
    ),
    "model calls, at a step": Case(
        "model_calls", {"model_calls": 2}, {"model_calls": 3}, EVERYTHING[:4], ["planner", "replanner"]
    ),
    "tokens, at the replanner": Case("tokens", {"tokens": 2_500}, {"tokens": 9_000}, EVERYTHING[:3], ["planner"]),
    "tokens, at a step": Case("tokens", {"tokens": 3_400}, {"tokens": 9_000}, EVERYTHING[:4], ["planner", "replanner"]),
    "cost, at the replanner": Case("cost_usd", {"cost_usd": 2.5}, {"cost_usd": 9.0}, EVERYTHING[:3], ["planner"]),
    "cost, at a step": Case("cost_usd", {"cost_usd": 3.4}, {"cost_usd": 9.0}, EVERYTHING[:4], ["planner", "replanner"]),
    "steps": Case("steps", {"steps": 3}, {"steps": 5}, EVERYTHING[:4], ["planner", "replanner"]),
    "replans": Case("replans", {"replans": 0}, {"replans": 1}, EVERYTHING[:3], ["planner"]),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


@pytest.fixture
def world(case: Case, tmp_path: Path) -> World:
    return World(tmp_path / "runs.db", ANSWERS, {"budget": case.budget, "policy": PRICES})


def test_a_run_checks_in_with_what_is_left_to_do_and_after_a_raise_nothing_is_done_or_asked_twice(
    case: Case, world: World
) -> None:
    run = world.until_short()

    assert (run.status, asked(run)) == ("waiting", ["raise_budget"]) and run.request is not None
    (action,) = run.request["action_requests"]
    assert sorted(world.made) == sorted(case.made) and world.prompts == case.prompts
    assert action["args"]["budget"] == case.budget and action["args"]["spent"]["tool_calls"] == len(case.made)
    assert f"limit of {case.limit} is reached" in action["description"] and " b." in action["description"]

    run = world.go_on(limits=case.more)

    assert (run.status, run.answer) == ("succeeded", {"b": "paid b thought", "apart": "did apart"})
    assert sorted(world.made) == sorted(EVERYTHING) and world.prompts == [*ANSWERS]


def test_finished_with_what_there_is_the_answer_has_what_was_done_and_the_reason_what_is_missing(
    case: Case, world: World
) -> None:
    run = world.until_short()

    run = world.go_on(finish=True)

    assert (run.status, run.answer) == ("budget_exhausted", {"apart": "did apart"})
    with world.open() as agent:
        assert "finished with what there is by a person" in str(agent.audit("t", "budget"))
    assert f"limit of {case.limit} was reached" in str(run.reason) and "b did not run" in str(run.reason)
    assert sorted(world.made) == sorted(case.made) and world.prompts == case.prompts


def test_a_run_that_is_stopped_at_its_limit_is_rejected(case: Case, world: World) -> None:
    world.until_short()

    run = world.go_on(stop=True)

    assert (run.status, sorted(world.made)) == ("rejected", sorted(case.made))


UNPLANNED = [
    ({"model_calls": 0}, {"model_calls": 3}),
    ({"tokens": 10}, {"tokens": 20_000}),
    ({"cost_usd": 0.01}, {"cost_usd": 20.0}),
    ({"wall_s": 0}, {"wall_s": 600.0}),
    ({"elapsed_s": 0}, {"elapsed_s": 1e6}),
]


@pytest.mark.parametrize(("budget", "more"), UNPLANNED)
def test_a_budget_that_is_spent_before_there_is_a_plan_is_asked_about_too(
    tmp_path: Path, budget: dict[str, Any], more: dict[str, Any]
) -> None:
    world = World(tmp_path / "runs.db", ANSWERS, {"budget": budget, "policy": PRICES})

    assert asked(world.until_short()) == ["raise_budget"] and world.prompts == []
    assert asked(world.go_on(feedback="do less")) == ["raise_budget"] and world.prompts == []
    assert asked(world.go_on(limits=more)) == ["run_plan"] and world.prompts == ["planner"]


@pytest.mark.parametrize(("budget", "more"), UNPLANNED)
def test_finished_without_a_plan_a_run_says_so(tmp_path: Path, budget: dict[str, Any], more: dict[str, Any]) -> None:
    world = World(tmp_path / "runs.db", ANSWERS, {"budget": budget, "policy": PRICES})
    world.until_short()

    run = world.go_on(finish=True)

    (limit,) = more
    assert (run.status, run.answer) == ("budget_exhausted", None)
    assert run.reason == f"the budget's limit of {limit} was reached; there is no plan yet"


@pytest.mark.parametrize("model_calls", [1, 2])
def test_a_run_that_is_steered_beyond_its_budget_asks_once_and_then_plans(
    saver: InMemorySaver, tools: LoggedTools, model_calls: int
) -> None:
    look = tools.tool("look", lambda at: at, effect="read")
    plan = {"steps": [step("a", "look", at="x"), step("think", after=["a"])], "answer": "{a_result}"}
    model = ScriptedModel([plan, *(["thought"] if model_calls > 1 else []), {"steps": [step("a", "look", at="y")]}])
    graph = build_graph(model, tools=[look], checkpointer=saver, budget={"model_calls": model_calls})
    bounded = {**on_thread(), "recursion_limit": 20}
    graph.invoke({"goal": "g"}, bounded)

    state = graph.invoke({"messages": [("user", "steer: be kind")]}, bounded)

    state = graph.invoke({"operation": "continue"}, bounded)
    (request,) = shown.asked(state)["action_requests"]
    assert request["name"] == "raise_budget" and len(model.prompts) == model_calls
    ledger = asyncio.run(ledger_of(None, saver, lambda _: None)())
    events = asyncio.run(ledger.events(RunKey("thread", 1)))
    assert [event.kind for event in events].count("budget_reached") == 1
    raised = {"name": "raise_budget", "args": {**request["args"], "budget": {"model_calls": 9}}}
    state = graph.invoke(Command(resume={"decisions": [{"type": "edit", "edited_action": raised}]}), bounded)
    assert state["plan"]["steps"][0]["args"] == {"at": "y"}
    assert graph.invoke(Command(resume="approve"), bounded)["answer"] == "y"


def test_time_is_what_was_worked_and_not_what_a_person_took(saver: InMemorySaver, tools: LoggedTools) -> None:
    clock, ledger = PassingClock(), MemoryLedger()

    def work(name: str) -> str:
        clock.now += 10
        return name

    async def opened() -> MemoryLedger:
        return ledger

    names = {"a": [], "b": ["a"], "c": ["b"]}
    plan = {"steps": [step(name, "look", after=after, name=name) for name, after in names.items()]}
    graph = compiled(
        Services(
            settings_of({"budget": {"wall_s": 20.0}, "approval": "never"}),
            Toolbox([tools.tool("look", work, effect="read")]),
            role_models({"planner": ScriptedModel([])}),
            opened,
            RateLimiter({}, clock.clock.now),
            clock.clock.now,
        ),
        saver,
    )

    state = graph.invoke({"goal": "g", "plan": plan}, on_thread())
    (action,) = shown.asked(state)["action_requests"]
    assert action["args"]["spent"]["wall_s"] == 20.0 and len(tools.calls) == 2

    clock.now += 100_000  # somebody sleeps over it
    edit = {"name": "raise_budget", "args": {"budget": {"wall_s": 21.0}}}
    state = graph.invoke(Command(resume={"type": "edit", "edited_action": edit}), on_thread())

    assert (state["status"], len(tools.calls)) == ("succeeded", 3)


async def _is_played_the_same(ledger: MemoryLedger) -> bool:
    return (await replayed(await ledger.transcript(RunKey("thread", 1)))).is_same


def test_a_deadline_counts_what_a_person_took(saver: InMemorySaver, tools: LoggedTools) -> None:
    slept_s, ledger = [0.0], MemoryLedger()

    async def opened() -> MemoryLedger:
        return ledger

    plan = {"steps": [step("a", "look", name="a"), {"id": "b", "objective": "o", "ask": "And?", "depends_on": ["a"]}]}
    plan["steps"].append(step("c", "look", name="{b_result}"))
    graph = compiled(
        Services(
            settings_of({"budget": {"elapsed_s": 3600}, "approval": "never"}),
            Toolbox([tools.tool("look", lambda name: name, effect="read")]),
            role_models({"planner": ScriptedModel([])}),
            opened,
            RateLimiter({}, time.monotonic),
            pauses=Clock(now=lambda: time.time() + slept_s[0]),
        ),
        saver,
    )

    state = graph.invoke({"goal": "g", "plan": plan}, on_thread())
    assert [one["name"] for one in shown.asked(state)["action_requests"]] == ["answer_question"]
    slept_s[0] = 5000.0
    answer = {"type": "edit", "edited_action": {"name": "answer_question", "args": {"answer": "c"}}}
    state = graph.invoke(Command(resume=answer), on_thread())
    (action,) = shown.asked(state)["action_requests"]
    assert (action["name"], len(tools.calls)) == ("raise_budget", 1)
    edit = {"name": "raise_budget", "args": {"budget": {"elapsed_s": 6000}}}
    state = graph.invoke(Command(resume={"type": "edit", "edited_action": edit}), on_thread())

    assert (state["status"], len(tools.calls)) == ("succeeded", 2)
    assert asyncio.run(_is_played_the_same(ledger))


@pytest.mark.parametrize("unpriced", ["planner", "executor", "a model that stands in"])
def test_a_cost_that_nobody_can_know_is_refused_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unpriced: str
) -> None:
    models: dict[str, Any] = {"planner": ScriptedModel([]), "executor": ScriptedModel([])}
    if unpriced == "a model that stands in":
        monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
        models["executor"] = ModelSettings(model="openai:scripted", fallbacks=("openai:other",))
    else:
        models[unpriced].model_name = "other"

    with (
        pytest.raises(ConfigError, match=r"other has no price.*\[prices\.\"other\"\]"),
        Agent.open(tmp_path / "runs.db", tools=[], budget={"cost_usd": 1.0}, policy=PRICES, **models),
    ):
        raise AssertionError("it was opened")


KINDS = st.lists(st.sampled_from(["look", "pay", "think"]), min_size=1, max_size=9)
LIMIT = st.none() | st.integers(0, 6)


@settings(max_examples=25)
@given(KINDS, st.integers(1, 9), LIMIT, LIMIT, LIMIT, LIMIT)
def test_steps_side_by_side_never_overdraw_and_after_a_raise_each_is_done_once(
    kinds: list[str], at_once: int, calls: int | None, pays: int | None, models: int | None, steps: int | None
) -> None:
    log = LoggedTools()
    model = ScriptedModel(["thought"] * len(kinds))
    limits = {"tool_calls": calls, "model_calls": models, "steps": steps}
    budget = {**limits, **({"calls": {"pay": pays}} if pays is not None else {})}
    plan = [step(f"s{n}", *([] if kind == "think" else [kind]), name=f"{n}") for n, kind in enumerate(kinds)]
    for made in plan:
        if "tool" not in made:
            del made["args"]
    graph = build_graph(
        model,
        tools=[log.tool("look", effect="read"), log.tool("pay", is_async=True)],
        checkpointer=InMemorySaver(serde=strict_serializer()),
        budget=budget,
        approval="never",
        max_concurrency=at_once,
    )

    state = graph.invoke({"goal": "g", "plan": {"steps": plan}}, on_thread())
    done = Counter(name for name, _ in log.calls) + Counter(think=len(model.prompts))
    within = {
        "tool_calls": done["look"] + done["pay"], "model_calls": done["think"], "steps": done.total(),
    }  # fmt: skip
    assert all(limit is None or within[name] <= limit for name, limit in limits.items())
    assert pays is None or done["pay"] <= pays
    if "__interrupt__" in state:
        edit = {"name": "raise_budget", "args": {"budget": dict.fromkeys(limits)}}
        state = graph.invoke(Command(resume={"type": "edit", "edited_action": edit}), on_thread())

    assert state["status"] == "succeeded" and len(model.prompts) == kinds.count("think")
    assert sorted(args["name"] for _, args in log.calls) == [f"{n}" for n, kind in enumerate(kinds) if kind != "think"]
