"""A call that may have happened is settled by its own request before any call that is the same, and by nothing else."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.types import Command

from planner_executor import Agent
from planner_executor.graph.runs.run import Run
from planner_executor.graph.testing import LoggedTools, ScriptedModel, asked, on_thread, step

Build = Callable[..., Any]
COPIES = {
    "type": "object",
    "properties": {
        "to": {"type": "string"},
        "copies": {"type": "number", "default": 1},
        "how": {"$ref": "#/$defs/how"},
    },
    "$defs": {"how": {"type": "object", "properties": {"loud": {"type": "boolean", "default": False}}}},
}


def plan(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"steps": list(steps), **more}


def by_model(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "objective": f"do {name}", "tools": ["pay"], **more}


def wants(**args: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": "pay", "args": args, "id": "1"}])


def names(state: Any) -> list[str]:
    return [action["name"] for action in asked(state)["action_requests"]]


def approved(graph: Any, state: Any) -> Any:
    """Say a plain yes to every plan that is shown, and return what comes after."""
    while "__interrupt__" in state and names(state) == ["run_plan"]:
        state = graph.invoke(Command(resume=True), on_thread())
    return state


def settle(happened: Any, result: Any = None) -> dict[str, Any]:
    args = {"happened": happened, "result": result}
    return {"type": "edit", "edited_action": {"name": "settle_effect", "args": args}}


class Payments:
    """A tool that pays, and then raises as often as it is told to."""

    def __init__(self, tools: LoggedTools, failures: int = 1) -> None:
        self.failures, self.log = failures, tools

    def pay(self, **_: Any) -> str:
        self.failures -= 1
        if self.failures >= 0:
            raise TimeoutError("no answer within 5 s")
        return "receipt"

    @property
    def count(self) -> int:
        return len(self.log.named("pay"))


@pytest.fixture
def payments(tools: LoggedTools) -> Payments:
    return Payments(tools)


@pytest.fixture
def graph(build: Build, tools: LoggedTools, payments: Payments) -> Build:
    """Build a graph that pays by `pay`, and says items."""

    def make(*answers: Any, **options: Any) -> Any:
        own = [
            tools.tool("pay", payments.pay, schema=COPIES),
            tools.tool("look", lambda: ["ann", "ann"], effect="read"),
            tools.tool("broken", _raise, effect="read"),
        ]
        return build(*answers, tools=own, **options)

    return make


def _raise(**_: Any) -> None:
    raise ValueError("down")


PAY = step("a", "pay", to="ann")
REPEATS: dict[str, Any] = {
    "the same step": plan(PAY),
    "another step": plan(step("b", "pay", to="ann")),
    "one that replaces it": plan({**step("b", "pay", to="ann"), "replaces": "a"}),
    "another number for the same amount": plan(step("b", "pay", copies=1.0, to="ann")),
    "a default said": plan(step("b", "pay", copies=1, to="ann")),
    "a default said within": plan(step("b", "pay", how={"loud": False}, to="ann")),
    "an item": plan({**step("b", "pay", to="{item_result}"), "for_each": ["ann"]}),
    "a step of a plan within": plan({"id": "r", "objective": "pay ann", "refine": True}),
    "a model": plan(by_model("m")),
    "a model, for an item": plan({**by_model("m"), "for_each": ["ann"]}),
}


@pytest.mark.parametrize("name", REPEATS)
@pytest.mark.parametrize("mode", ["always", "never"])
def test_no_approval_of_a_plan_lets_a_call_be_repeated_that_may_have_happened(
    graph: Build, payments: Payments, name: str, mode: str
) -> None:
    within = [plan(step("p", "pay", to="ann"))] if "within" in name and "plan" in name else []
    executor = ScriptedModel([wants(to="ann"), "paid"])
    how = {"to": "ann", "how": {}} if name == "a default said within" else {"to": "ann"}
    run = graph(plan(step("a", "pay", **how)), REPEATS[name], *within, executor=executor, approval=mode)
    state = run.invoke({"goal": "g"}, on_thread())

    state = approved(run, state)

    assert names(state) == ["settle_effect"] and payments.count == 1
    assert asked(run.invoke(Command(resume="yes"), on_thread()))["error"] and payments.count == 1
    state = run.invoke(Command(resume=settle(True, "receipt 7")), on_thread())
    assert payments.count == 1 and state["status"] == "succeeded"


def test_four_plain_yes_pay_once(graph: Build, payments: Payments) -> None:
    revisions = [plan(step(name, "pay", to="ann")) for name in "bcd"]
    run = graph(plan(PAY), *revisions, max_replans=9)
    state = run.invoke({"goal": "g"}, on_thread())

    for _ in range(4):
        state = run.invoke(Command(resume="yes"), on_thread())

    assert payments.count == 1 and names(state) == ["settle_effect"]


def test_what_did_not_happen_is_made_and_when_it_is_uncertain_again_it_is_asked_again(
    graph: Build, payments: Payments
) -> None:
    payments.failures = 2
    run = graph(plan(PAY), plan(step("b", "pay", to="ann")), plan(step("c", "pay", to="ann")))
    state = approved(run, run.invoke({"goal": "g"}, on_thread()))
    assert names(state) == ["settle_effect"] and payments.count == 1

    state = approved(run, run.invoke(Command(resume=settle(False)), on_thread()))
    assert names(state) == ["settle_effect"] and payments.count == 2
    assert asked(state)["action_requests"][0]["args"]["step"] == "b"
    state = run.invoke(Command(resume=settle(False)), on_thread())

    assert payments.count == 3 and state["results"]["c"]["status"] == "succeeded"


def test_two_steps_that_make_the_same_call_make_two_calls_when_nothing_is_uncertain(
    graph: Build, payments: Payments
) -> None:
    payments.failures = 0

    state = graph(plan(PAY, step("b", "pay", copies=1, to="ann")), approval="never").invoke({"goal": "g"}, on_thread())

    assert state["status"] == "succeeded" and payments.count == 2


@pytest.mark.parametrize(("happened", "calls"), [(True, 1), (False, 2)])
def test_a_call_waits_for_the_same_one_that_is_under_way_and_raises(
    graph: Build, payments: Payments, happened: bool, calls: int
) -> None:
    run = graph(plan(PAY, step("b", "pay", copies=1, to="ann")), approval="never", replan="never")

    state = run.invoke({"goal": "g"}, on_thread())
    statuses = {name: result["status"] for name, result in state["results"].items()}
    assert payments.count == 1 and statuses == {"a": "failed", "b": "uncertain"}
    state = run.invoke(Command(resume=settle(happened, "receipt 7" if happened else None)), on_thread())

    assert payments.count == calls and state["results"]["b"]["status"] == "succeeded"
    assert state["results"]["a"]["status"] == ("succeeded" if happened else "failed")


def test_of_the_same_items_one_is_called_when_it_raises(graph: Build, payments: Payments) -> None:
    each = {**step("e", "pay", to="{item_result}"), "for_each": "{look_result}"}
    run = graph(plan(step("look", "look"), each), approval="never", replan="never")

    state = run.invoke({"goal": "g"}, on_thread())
    assert names(state) == ["settle_effect"] and payments.count == 1
    state = run.invoke(Command(resume=settle(True, "receipt 7")), on_thread())

    assert state["answer"] == ["receipt 7", "receipt 7"] and payments.count == 1


def test_a_model_does_not_repeat_its_own_call_that_raised(graph: Build, payments: Payments) -> None:
    executor = ScriptedModel([wants(to="ann"), wants(to="ann", copies=1), "paid"])
    run = graph(plan(by_model("m", max_calls=2)), executor=executor, approval="never", replan="never")

    state = run.invoke({"goal": "g"}, on_thread())

    assert names(state) == ["settle_effect"] and payments.count == 1
    assert state["results"]["m"]["status"] == "uncertain"


def test_a_call_whose_result_does_not_meet_its_checks_did_happen(graph: Build, payments: Payments) -> None:
    payments.failures = 0
    checked = {**PAY, "checks": [{"matches": "no such thing"}]}
    run = graph(plan(checked, step("look", "look"), step("b", "pay", after=["look"], to="ann")), approval="never",
                replan="never")  # fmt: skip

    state = run.invoke({"goal": "g"}, on_thread())

    assert names(state) == ["settle_effect"] and payments.count == 1
    assert "It took effect, but its result will not do" in asked(state)["action_requests"][0]["description"]


def test_one_request_settles_all_calls_that_may_have_happened_and_names_each_once(
    graph: Build, payments: Payments
) -> None:
    payments.failures = 2
    run = graph(
        plan(PAY, step("b", "pay", to="bob")),
        plan(step("c", "pay", to="ann"), step("d", "pay", to="ann"), step("e", "pay", to="bob")),
        approval="never",
    )

    state = run.invoke({"goal": "g"}, on_thread())
    assert names(state) == ["settle_effect", "settle_effect"]
    state = run.invoke(Command(resume={"decisions": [settle(True, "one"), settle(False)]}), on_thread())

    assert payments.count == 3 and [state["results"][name]["value"] for name in "cde"] == ["one", "one", "receipt"]


def test_a_client_that_takes_the_question_out_of_the_state_is_asked_all_the_same(
    graph: Build, payments: Payments
) -> None:
    run = graph(plan(PAY), plan(step("b", "pay", to="ann")), approval="never")
    run.invoke({"goal": "g"}, on_thread())

    run.update_state(on_thread(), {"doubts": []})
    state = run.invoke(None, on_thread())

    assert names(state) == ["settle_effect"] and payments.count == 1


@pytest.mark.parametrize("settled", ["by nobody", "in its own run"])
@pytest.mark.parametrize("way", ["a new goal", "a fork"])
def test_in_another_run_of_the_thread_the_same_call_is_asked_about_before_it_is_made(
    graph: Build, payments: Payments, settled: str, way: str
) -> None:
    run = graph(plan(PAY), plan(PAY), plan(step("b", "pay", to="ann", copies=1)), max_replans=1)
    state = run.invoke({"goal": "g"}, on_thread())
    shown = run.get_state(on_thread()).config
    state = run.invoke(Command(resume=True), on_thread())
    state = run.invoke(Command(resume=True), on_thread())
    assert names(state) == ["settle_effect"]
    if settled == "in its own run":
        run.invoke(Command(resume=settle(True, "receipt 1")), on_thread())
    else:
        run.invoke(Command(resume={"type": "reject"}), on_thread())

    given, where = (None, shown) if way == "a fork" else ({"goal": "pay again"}, on_thread())
    state = run.invoke(given, where)
    assert names(state) == ["run_plan"] and payments.count == 1
    state = run.invoke(Command(resume=True), on_thread())
    if settled == "by nobody":
        assert names(state) == ["settle_effect"] and payments.count == 1
        assert "In run thread.1, a called pay" in asked(state)["action_requests"][0]["description"]
        state = run.invoke(Command(resume=settle(True)), on_thread())
    assert names(state) == ["run_step"] and payments.count == 1
    words = asked(state)["action_requests"][0]["description"]
    assert re.search(r"The same call happened in thread\.1 on 20\S+ at \S+ UTC; make it again\?", words)
    state = run.invoke(Command(resume={"type": "approve"}), on_thread())

    assert payments.count == 2 and state["status"] == "succeeded"


def test_a_call_that_did_not_happen_in_another_run_is_made_under_its_plans_approval(
    graph: Build, payments: Payments
) -> None:
    run = graph(plan(PAY), plan(PAY), plan(PAY), replan="never", approval="never")
    assert run.invoke({"goal": "g"}, on_thread())["status"] == "failed"

    state = run.invoke({"goal": "once more"}, on_thread())
    assert names(state) == ["settle_effect"]
    state = run.invoke(Command(resume=settle(False)), on_thread())

    assert state["status"] == "succeeded" and payments.count == 2
    assert run.invoke({"goal": "and again"}, on_thread())["status"] == "succeeded", "it is settled for all later runs"


def test_who_does_not_want_it_again_says_so(graph: Build, payments: Payments) -> None:
    run = graph(plan(PAY), plan(PAY), replan="never", approval="never")
    run.invoke({"goal": "g"}, on_thread())
    run.invoke({"goal": "once more"}, on_thread())
    state = run.invoke(Command(resume=settle(True)), on_thread())
    assert names(state) == ["run_step"]

    state = run.invoke(Command(resume={"type": "reject"}), on_thread())

    assert state["status"] == "rejected" and payments.count == 1


@pytest.mark.parametrize("ends", [{}, {"message": "stop"}, {"message": "wait", "final": True}])
def test_words_that_reject_an_uncertain_call_are_feedback_and_leave_it_uncertain(
    graph: Build, payments: Payments, ends: dict[str, Any]
) -> None:
    run = graph(plan(PAY), *(plan(step(name, "pay", to="ann")) for name in "bc"))
    state = approved(run, run.invoke({"goal": "g"}, on_thread()))
    assert names(state) == ["settle_effect"]

    state = run.invoke(Command(resume={"type": "reject", "message": "ask the bank first"}), on_thread())
    assert names(state) == ["run_plan"] and state["plan"]["steps"][0]["id"] == "c"
    state = run.invoke(Command(resume=True), on_thread())
    assert names(state) == ["settle_effect"] and payments.count == 1

    assert run.invoke(Command(resume={"type": "reject", **ends}), on_thread())["status"] == "rejected"
    assert payments.count == 1


def test_another_thread_and_other_arguments_are_nobodys_question(graph: Build, payments: Payments) -> None:
    run = graph(plan(PAY), plan(step("a", "pay", to="bob")), plan(PAY), replan="never", approval="never")
    assert run.invoke({"goal": "g"}, on_thread())["status"] == "failed"

    assert run.invoke({"goal": "g"}, on_thread())["status"] == "succeeded"
    assert run.invoke({"goal": "g"}, on_thread("another"))["status"] == "succeeded"


@pytest.fixture
def agent(database: str, tools: LoggedTools, payments: Payments) -> Iterator[Agent]:
    own = [tools.tool("pay", payments.pay, schema=COPIES)]
    first, other = step("a", "pay", to="ann@example.com"), step("b", "pay", to="ann@example.com", copies=1)
    model = ScriptedModel([plan(first), plan(other), plan(first)])
    with Agent.open(database, planner=model, tools=own) as opened:
        yield opened


def uncertain_run(agent: Agent) -> Run:
    run = agent.start("g", thread="t")
    run = agent.resume("t", run.decide(approve=True))
    return agent.resume("t", run.decide(approve=True))


def test_the_facade_shows_what_is_uncertain_and_settles_it(agent: Agent, payments: Payments) -> None:
    run = uncertain_run(agent)
    assert run.step_status == {"b": "uncertain"}

    run = agent.resume("t", run.decide(happened=[True], results=["receipt 7"]))

    assert (run.status, run.answer, payments.count) == ("succeeded", "receipt 7", 1)
    assert "b waits: its call of pay" in str(agent.audit("t"))


@pytest.mark.parametrize("value", ["ann@example.com", "no answer within"])
def test_a_run_that_settles_a_call_of_another_one_is_redacted_exported_verified_and_replayed(
    agent: Agent, tmp_path: Path, payments: Payments, value: str
) -> None:
    uncertain_run(agent)
    agent.cancel("t")
    run = agent.start("once more", thread="t")
    run = agent.resume("t", run.decide(approve=True))
    assert run.step_status == {"a": "uncertain"}
    run = agent.resume("t", run.decide(happened=[True]))
    run = agent.resume("t", run.decide(approve=True))
    assert (run.status, payments.count) == ("succeeded", 2)
    assert "of run t.1 happened" in str(agent.audit(run.id))

    agent.redact(run.id, value, reason="asked for")

    assert value not in str([event.payload for event in agent.log(run.id)])
    assert agent.verify(run.id).is_whole and agent.export(run.id, tmp_path / "run.jsonl").is_whole
    assert agent.replay(run.id).is_same and agent.replay(tmp_path / "run.jsonl").is_same


def test_of_a_call_whose_arguments_were_redacted_nobody_can_tell_whether_another_one_is_the_same(
    agent: Agent, payments: Payments
) -> None:
    uncertain_run(agent)
    agent.cancel("t")
    agent.redact("t", "ann@example.com", reason="asked for")

    run = agent.start("pay bob", thread="t", plan=plan(step("a", "pay", to="bob@example.com")))
    run = agent.resume("t", run.decide(approve=True))
    assert run.step_status == {"a": "uncertain"} and payments.count == 1
    run = agent.resume("t", run.decide(happened=[True]))
    run = agent.resume("t", run.decide(approve=True))
    assert (run.status, payments.count) == ("succeeded", 2)

    run = agent.start("pay eve", thread="t", plan=plan(step("a", "pay", to="eve@example.com")))
    assert agent.resume("t", run.decide(approve=True)).status == "succeeded", "it was settled, and is another call"
