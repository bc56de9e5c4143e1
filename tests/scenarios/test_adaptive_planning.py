"""How far ahead is planned and when anew: step by step, after every step, and when the user changes their mind."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command

from planner_executor import Agent, build_graph
from planner_executor.graph.errors import ConfigError, InputError
from planner_executor.graph.testing import LoggedTools, ScriptedModel, asked, on_thread, step

Build = Callable[..., Any]
MULTIPLY = step("step_1", "multiply", a=12, b=4)
ADD = step("step_2", "add", a="{step_1_result}", b=5)
DONE = {"steps": [], "answer": "{step_2_result}"}


class Slow:
    """A tool's work that goes on until it is let go."""

    def __init__(self) -> None:
        self._began, self._go = threading.Event(), threading.Event()

    def work(self) -> str:
        self._began.set()
        assert self._go.wait(30)
        return "slow"

    @contextmanager
    def under_way(self, run: Callable[[], Any]) -> Iterator[None]:
        """Run in another thread, be in the middle of the work within the block, and wait for the run's end after it."""
        running = threading.Thread(target=run)
        running.start()
        assert self._began.wait(30)
        yield
        self._go.set()
        running.join(30)


def told(model: ScriptedModel, call: int = -1) -> dict[str, Any]:
    """Return the document that a model was given."""
    document: dict[str, Any] = json.loads(str(model.prompts[call][1].content))
    return document


def arithmetic(tools: LoggedTools) -> list[Any]:
    return [
        tools.tool("multiply", lambda a, b: a * b, effect="read"),
        tools.tool("add", lambda a, b: a + b, effect="read"),
    ]


def test_one_step_at_a_time_the_planner_sees_each_result_and_says_when_it_is_done(
    build: Build, tools: LoggedTools
) -> None:
    graph = build({"steps": [MULTIPLY]}, {"steps": [ADD]}, DONE, tools=arithmetic(tools), horizon=1, approval="never")

    state = graph.invoke({"goal": "What is 12 * 4 + 5?"}, on_thread())

    assert (state["status"], state["answer"]) == ("succeeded", 53)
    assert [name for name, _ in tools.calls] == ["multiply", "add"]
    assert told(graph.model, 1)["results"]["step_1"]["preview"] == 48 and len(graph.model.prompts) == 3
    assert "one step at a time" in str(graph.model.prompts[0][0].content)


def test_a_plan_beyond_the_horizon_is_sent_back(build: Build, tools: LoggedTools) -> None:
    both = {"steps": [MULTIPLY, ADD]}
    graph = build(both, {"steps": [MULTIPLY]}, DONE | {"answer": 48}, tools=arithmetic(tools), horizon=1)

    graph.invoke({"goal": "g"}, on_thread())

    assert "one step at a time" in str(graph.model.prompts[1][-1].content)


def test_a_planner_that_never_says_it_is_done_is_no_success(build: Build, tools: LoggedTools) -> None:
    steps = [{"steps": [step(f"s{n}", "add", a=n, b=1)]} for n in range(4)]
    graph = build(*steps, tools=arithmetic(tools), horizon=1, approval="never", max_rounds=3)

    state = graph.invoke({"goal": "g"}, on_thread())

    assert state["status"] == "partial" and "within 3 rounds" in state["reason"] and len(tools.calls) == 4


def test_a_failed_step_is_part_of_what_the_planner_sees(build: Build, tools: LoggedTools) -> None:
    graph = build({"steps": [step("a", "broken")]}, DONE | {"answer": "no"}, horizon=1, approval="never")

    graph.invoke({"goal": "g"}, on_thread())

    assert "the service is down" in told(graph.model)["failed"]["a"]


def test_after_every_step_what_still_holds_is_kept_and_the_rest_may_change(build: Build, tools: LoggedTools) -> None:
    plan = {"steps": [step("a", "search", query="1"), step("b", "search", after=["a"], query="2")]}
    better = {"steps": [step("b", "search", query="{a_result.items[0]} better")]}
    graph = build(plan, better, replan="every_step", approval="never")

    state = graph.invoke({"goal": "g"}, on_thread())

    assert state["status"] == "succeeded" and len(graph.model.prompts) == 2
    assert tools.named("search") == [{"query": "1"}, {"query": "1 better"}]


def test_a_plan_that_is_kept_after_a_step_is_no_new_revision(build: Build, tools: LoggedTools) -> None:
    plan = {"steps": [step("a", "search", query="1"), step("b", "search", after=["a"], query="2")]}
    graph = build(plan, {"keep": ["b"]}, replan="every_step", approval="never")

    state = graph.invoke({"goal": "g"}, on_thread())

    assert state["status"] == "succeeded" and state["revision"] == 1


def test_a_pass_that_stops_early_shows_what_was_done_before_it(build: Build, tools: LoggedTools) -> None:
    down = {"steps": [step("a", "down"), step("b", "search", query="1")]}
    again = {"keep": ["b"], "steps": [step("a", "down")]}
    kinds = [
        tools.tool("down", lambda: 1 / 0, effect="write"),
        tools.tool("search", lambda query: query, effect="read"),
    ]
    graph = build(down, again, "Hm.", "Hm.", tools=kinds, replan="every_step", approval="never", max_concurrency=1)
    (settle,) = asked(graph.invoke({"goal": "g"}, on_thread()))["action_requests"]

    edited = {"name": settle["name"], "args": {**settle["args"], "happened": False}}
    answer = {"decisions": [{"type": "edit", "edited_action": edited}]}
    passed = list(graph.stream(Command(resume=answer), on_thread(), stream_mode="updates"))

    shown = [update["executor"]["results"] for update in passed if "executor" in update]
    assert len(shown) > 0 and all(results["b"]["status"] == "succeeded" for results in shown)


def test_after_the_last_round_the_plan_in_force_is_carried_on(build: Build, tools: LoggedTools) -> None:
    plan = {
        "steps": [step("a", "search", query="1"), *(step(b, "search", after=[a], query="2") for a, b in ("ab", "bc"))]
    }
    better = {"keep": ["c"], "steps": [step("b", "search", after=["a"], query="better")]}
    graph = build(plan, better, replan="every_step", approval="never", max_rounds=1)

    state = graph.invoke({"goal": "g"}, on_thread())

    assert state["status"] == "succeeded" and len(graph.model.prompts) == 2
    assert [args["query"] for args in tools.named("search")] == ["1", "better", "2"]


@pytest.mark.parametrize("nothing", ["I am not sure.", {"steps": []}, {"steps": [MULTIPLY]}], ids=str)
def test_a_planner_that_gives_no_next_step_is_no_success(build: Build, tools: LoggedTools, nothing: Any) -> None:
    graph = build({"steps": [MULTIPLY]}, nothing, nothing, tools=arithmetic(tools), horizon=1, approval="never")

    state = graph.invoke({"goal": "g"}, on_thread())

    assert (state["status"], state["answer"]) == ("partial", 48) and "gave no" in state["reason"]


def test_a_planner_that_gives_no_next_step_is_for_a_person_to_see(build: Build, tools: LoggedTools) -> None:
    graph = build({"steps": [MULTIPLY]}, "Hm.", "Hm.", tools=arithmetic(tools), horizon=1)
    graph.invoke({"goal": "g"}, on_thread())

    request = asked(graph.invoke(Command(resume="approve"), on_thread()))

    assert "No progress" in request["action_requests"][0]["description"]


def test_instructions_of_a_role_are_added_to_what_it_is_told(build: Build) -> None:
    graph = build({"steps": [], "answer": "hello"}, instructions={"planner": "Speak like a pirate."})

    graph.invoke({"goal": "g"}, on_thread())

    assert str(graph.model.prompts[0][0].content).endswith("Speak like a pirate.")


@pytest.mark.parametrize("odd", [{"horizon": 2}, {"replan": "sometimes"}, {"instructions": {"cook": "x"}}])
def test_a_setting_that_cannot_work_is_refused_before_anything_starts(odd: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        build_graph(ScriptedModel([]), **odd)


def test_planners_are_told_the_limits_and_what_the_policy_allows(build: Build) -> None:
    policy = {"tools": {"send": {"verdict": "deny"}, "write": {"args": {"text": {"pattern": "[a-z]+"}}}}}
    graph = build({"steps": [], "answer": "x"}, policy=policy, budget={"tool_calls": 7})

    graph.invoke({"goal": "g"}, on_thread())

    document = told(graph.model)
    assert document["limits"]["budget_left"] == {"tool_calls": 7}
    tools = str(graph.model.prompts[0][0].content).partition("\nTools:\n")[2].splitlines()
    assert [line.partition("(")[0] for line in tools[:3]] == ["search", "write", "broken"]
    assert tools[1].startswith('write(text?: any, only {"pattern": "[a-z]+"}; …: any): ')


def test_who_refines_a_step_is_told_the_limits_too(build: Build) -> None:
    vague = {"id": "work", "objective": "do the work", "refine": True, "tools": ["search"]}
    graph = build({"steps": [vague]}, {"steps": [], "answer": "x"}, budget={"tool_calls": 7}, approval="never")

    graph.invoke({"goal": "g"}, on_thread())

    document = told(graph.model)
    assert document["objective"] == "do the work" and document["limits"]["budget_left"] == {"tool_calls": 7}


def open_agent(path: Path, tools: list[Any], *answers: Any, **options: Any) -> Any:
    return Agent.open(path / "runs.db", planner=ScriptedModel(answers), tools=tools, **options)


def test_a_constraint_added_while_a_plan_waits_makes_another_plan(tmp_path: Path, tools: LoggedTools) -> None:
    buy = tools.tool("buy", lambda price: f"bought for {price}", effect="external")
    dear, cheap = {"steps": [step("a", "buy", price=900)]}, {"steps": [step("a", "buy", price=150)]}
    model = ScriptedModel([dear, cheap])
    with Agent.open(tmp_path / "runs.db", planner=model, tools=[buy]) as agent:
        first = agent.start("a chair")
        second = agent.steer(first.id, add=["spend at most 200"])
        ended = agent.resume(first.id, "approve")

    assert second.request is not None and second.request["digest"] != first.request["digest"]
    assert second.constraints == ("spend at most 200",) and told(model)["constraints"] == ["spend at most 200"]
    assert ended.status == "succeeded" and tools.named("buy") == [{"price": 150}]


def test_a_constraint_is_withdrawn_by_its_words(tmp_path: Path, tools: LoggedTools) -> None:
    plan = {"steps": [step("a", "search", query="q")]}
    search = tools.tool("search", lambda query: query, effect="read")
    with open_agent(tmp_path, [search], plan, plan) as agent:
        run = agent.start("g", constraints=["be quick", "be cheap"])
        with pytest.raises(InputError):
            agent.steer(run.id, withdraw=["be slow"])
        assert agent.steer(run.id, withdraw=["be quick"]).constraints == ("be cheap",)


def test_a_run_that_has_ended_cannot_be_steered(tmp_path: Path) -> None:
    with open_agent(tmp_path, [], {"steps": [], "answer": "x"}) as agent:
        run = agent.start("g")
        with pytest.raises(InputError):
            agent.steer(run.id, add=["more"])


def test_a_run_that_executes_elsewhere_starts_nothing_more_and_plans_again(tmp_path: Path, tools: LoggedTools) -> None:
    slow = Slow()
    own = [tools.tool("slow", slow.work, effect="read"), tools.tool("buy", lambda price: price, effect="external")]
    dear = {"steps": [step("a", "slow"), step("b", "buy", after=["a"], price=900)]}
    cheap = {"steps": [step("b", "buy", after=["a"], price=150)]}
    model = ScriptedModel([dear, cheap])
    with Agent.open(tmp_path / "runs.db", planner=model, tools=own) as agent:
        run = agent.start("a chair")
        with (
            slow.under_way(lambda: agent.resume(run.id, "approve")),
            Agent.open(tmp_path / "runs.db", tools=own) as elsewhere,
        ):
            elsewhere.steer(run.id, add=["spend at most 200"])
        waiting = agent.show(run.id)
        assert tools.named("buy") == [] and waiting.request is not None
        ended = agent.resume(run.id, "approve")

    assert "spend at most 200" in told(model)["why"]
    assert ended.status == "succeeded" and tools.named("buy") == [{"price": 150}]


def test_steering_that_stays_within_what_was_approved_asks_nobody(tmp_path: Path, tools: LoggedTools) -> None:
    slow = Slow()
    own = [tools.tool("slow", slow.work, effect="read"), tools.tool("buy", lambda price: price, effect="external")]
    plan = {
        "steps": [step("a", "slow"), step("b", "buy", after=["a"], price=1), step("c", "buy", after=["a"], price=2)]
    }
    model = ScriptedModel([plan, {"keep": ["b"], "answer": "{b_result}"}])
    with Agent.open(tmp_path / "runs.db", planner=model, tools=own) as agent:
        run = agent.start("g")
        with (
            slow.under_way(lambda: agent.resume(run.id, "approve")),
            Agent.open(tmp_path / "runs.db", tools=own) as elsewhere,
        ):
            elsewhere.steer(run.id, feedback="one is enough")
        ended = agent.show(run.id)

    assert ended.status == "succeeded" and tools.named("buy") == [{"price": 1}]


def test_steering_while_the_last_step_is_under_way_is_heeded_before_the_end(tmp_path: Path, tools: LoggedTools) -> None:
    slow = Slow()
    own = [tools.tool("slow", slow.work, effect="read")]
    model = ScriptedModel([{"steps": [step("a", "slow")]}, {"steps": [], "answer": "{a_result}, but nicely"}])
    with Agent.open(tmp_path / "runs.db", planner=model, tools=own, approval="never") as agent:
        with (
            slow.under_way(lambda: agent.start("g", thread="t")),
            Agent.open(tmp_path / "runs.db", tools=own) as elsewhere,
        ):
            elsewhere.steer("t", add=["be nice"])
        ended = agent.show("t")

        assert (ended.status, ended.answer, ended.constraints) == ("succeeded", "slow, but nicely", ("be nice",))
        assert told(model)["constraints"] == ["be nice"] and agent.replay("t").is_same


def test_what_is_said_of_a_paused_run_is_told_in_full_when_it_goes_on(tmp_path: Path, tools: LoggedTools) -> None:
    slow = Slow()
    own = [tools.tool("slow", slow.work, effect="read"), tools.tool("buy", lambda price: price, effect="external")]
    plan = {"steps": [step("a", "slow"), step("b", "buy", after=["a"], price=900)]}
    model = ScriptedModel([plan, {"steps": [step("b", "buy", after=["a"], price=150)]}])
    with Agent.open(tmp_path / "runs.db", planner=model, tools=own) as agent:
        run = agent.start("a chair", constraints=["be quick"])
        with (
            slow.under_way(lambda: agent.resume(run.id, "approve")),
            Agent.open(tmp_path / "runs.db", tools=own) as elsewhere,
        ):
            elsewhere.pause(run.id)
        assert agent.steer(run.id, add=["spend at most 200"]).status == "paused"
        agent.steer(run.id, withdraw=["be quick"], feedback="no red one")
        waiting = agent.resume(run.id)
        ended = agent.resume(run.id, "approve")

    document = told(model)
    assert document["why"] == "the user added: spend at most 200; the user withdrew: be quick, said: no red one"
    assert document["constraints"] == ["spend at most 200"] and document["feedback"] == ["no red one"]
    assert waiting.status == "waiting" and ended.status == "succeeded" and tools.named("buy") == [{"price": 150}]


@pytest.mark.parametrize("nothing", [{}, {"add": [" "]}, {"feedback": ""}, {"add": ["\ud800"]}], ids=str)
def test_steering_that_says_nothing_is_refused(tmp_path: Path, nothing: dict[str, Any]) -> None:
    with open_agent(tmp_path, [], {"steps": [step("a")]}) as agent:
        run = agent.start("g")
        with pytest.raises(InputError):
            agent.steer(run.id, **nothing)
        assert agent.show(run.id).request is not None


def test_a_chat_message_steers_the_run_under_way(build: Build, tools: LoggedTools) -> None:
    dear, cheap = {"steps": [step("a", "write", text="dear")]}, {"steps": [step("a", "write", text="cheap")]}
    graph = build(dear, cheap)
    graph.invoke({"messages": [{"role": "user", "content": "a chair"}]}, on_thread())

    state = graph.invoke({"messages": [{"role": "user", "content": "Steer: spend at most 200"}]}, on_thread())
    ended = graph.invoke(Command(resume=True), on_thread())

    assert asked(state)["run"] == "thread.1" and told(graph.model)["constraints"] == ["spend at most 200"]
    assert ended["status"] == "succeeded" and tools.named("write") == [{"text": "cheap"}]
