"""Calls that the policy asks about: shown with their arguments before they are made, whoever filled them."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from planner_executor import build_graph
from planner_executor.graph.checkpoints.checkpoint import ledger_of
from planner_executor.graph.record.events import Event
from planner_executor.graph.testing import LoggedTools, ScriptedModel, asked, on_thread, step

Start = Callable[..., Any]
ASK: dict[str, Any] = {"tools": {"pay": {"verdict": "ask"}}}
ABOVE: dict[str, Any] = {"tools": {"pay": {"ask_when": {"amount": {"above": 100}}}}}
PAY = {"steps": [step("a", "pay", to="ann", amount=150)], "answer": "{a_result}"}


@pytest.fixture
def saver() -> InMemorySaver:
    return InMemorySaver()


class Case:
    """A graph and its thread; `decide` answers the open request."""

    def __init__(self, graph: Any, saver: InMemorySaver) -> None:
        self.graph, self.saver = graph, saver
        self.state: dict[str, Any] = {}

    def start(self, plan: Any) -> "Case":
        self.state = self.graph.invoke({"goal": "g", "plan": plan}, on_thread())
        return self

    def decide(self, *decisions: Any) -> "Case":
        self.state = self.graph.invoke(Command(resume={"decisions": list(decisions)}), on_thread())
        return self

    @property
    def shown(self) -> list[tuple[str, Any]]:
        actions = asked(self.state)["action_requests"] if "__interrupt__" in self.state else []
        return [(action["name"], action["args"].get("args")) for action in actions]

    def events(self, kind: str) -> list[Any]:
        return [event.payload for event in self.record if event.kind == kind]

    @property
    def record(self) -> list[Event]:
        async def read() -> list[Event]:
            ledger = await ledger_of(None, self.saver, lambda _: None)()
            (run,) = await ledger.runs()
            return await ledger.events(run)

        return asyncio.run(read())


@pytest.fixture
def case(saver: InMemorySaver, tools: LoggedTools) -> Callable[..., Case]:
    own = [
        tools.tool("pay", lambda **args: f"paid {args['amount']}", effect="external", trusted=True),
        tools.tool("quote", lambda: 150, effect="read", trusted=True),
    ]

    def made(policy: Any, *answers: Any, **options: Any) -> Case:
        model = ScriptedModel(answers)
        options = {"approval": "never", **options}
        return Case(build_graph(planner=model, tools=own, policy=policy, checkpointer=saver, **options), saver)

    return made


def edit(**args: Any) -> dict[str, Any]:
    return {"type": "edit", "edited_action": {"name": "run_step", "args": {"args": args}}}


APPROVE = {"type": "approve"}
LATER = {**APPROVE, "ask_later": ["a"]}
BY_MODEL = {"steps": [{"id": "m", "objective": "pay", "tools": ["pay"], "max_calls": 2}], "answer": "{m_result}"}


def call(name: str, **args: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": "pay", "args": args, "id": name}])


@pytest.mark.parametrize("policy", [ASK, ABOVE, {"effects": {"external": "ask"}},
                                    {"effects": {"external": {"ask_when": {"to": {"one_of": ["ann"]}}}}}])  # fmt: skip
@pytest.mark.parametrize("mode", ["never", "always"])
def test_a_call_is_shown_with_its_arguments_before_it_is_made_under_every_mode(
    case: Callable[..., Case], tools: LoggedTools, policy: Any, mode: str
) -> None:
    found = case(policy, approval=mode).start(PAY)
    if mode == "always":
        assert [name for name, _ in found.shown] == ["run_plan"]
        found.decide(LATER)

    assert found.shown == [("run_step", {"to": "ann", "amount": 150})] and tools.calls == []
    description = asked(found.state)["action_requests"][0]["description"]
    assert "the policy asks" in description and "run_step" not in description

    assert found.decide(APPROVE).state["answer"] == "paid 150"
    assert tools.calls == [("pay", {"to": "ann", "amount": 150})]


@pytest.mark.parametrize(
    ("amount", "is_shown"), [(100, False), (100.5, True), ("a hundred", True), ([5, 101], True), ([5, 6], False)]
)
def test_a_condition_looks_at_the_value_and_what_it_cannot_judge_is_shown(
    case: Callable[..., Case], amount: Any, is_shown: bool
) -> None:
    found = case(ABOVE).start({"steps": [step("a", "pay", to="ann", amount=amount)]})

    assert bool(found.shown) is is_shown


def test_a_bound_argument_is_shown_as_the_value_that_it_has(case: Callable[..., Case]) -> None:
    plan = {"steps": [step("q", "quote"), step("a", "pay", to="ann", amount="{q_result}")]}

    assert case(ABOVE).start(plan).shown == [("run_step", {"to": "ann", "amount": 150})]


def test_each_item_of_a_list_is_shown_and_decided_by_itself(case: Callable[..., Case], tools: LoggedTools) -> None:
    each = {**step("a", "pay", to="{item_result}", amount=150), "for_each": ["ann", "bob", "cy"], "max_failures": 1}
    found = case(ASK).start({"steps": [each]})
    assert sorted(args["to"] for _, args in found.shown) == ["ann", "bob", "cy"]
    decisions = {"ann": APPROVE, "bob": {"type": "reject", "message": "not bob"}, "cy": edit(to="dan", amount=150)}

    found.decide(*(decisions[args["to"]] for _, args in found.shown))

    assert sorted(args["to"] for args in tools.named("pay")) == ["ann", "dan"]
    assert found.state["status"] in ("succeeded", "partial")
    assert found.state["results"]["a"]["value"][1] == {"error": "a person rejected this call: not bob"}


def test_a_models_call_is_shown_and_a_rejection_is_its_tools_answer(
    case: Callable[..., Case], tools: LoggedTools
) -> None:
    answers = [call("1", to="ann", amount=150), call("2", to="ann", amount=90), "done"]
    found = case(ASK, *answers).start(BY_MODEL)
    assert found.shown == [("run_step", {"to": "ann", "amount": 150})] and tools.calls == []

    found.decide({"type": "reject", "message": "at most 90"})
    assert found.shown == [("run_step", {"to": "ann", "amount": 90})]
    found.decide(APPROVE)

    assert found.state["answer"] == "done" and tools.named("pay") == [{"to": "ann", "amount": 90}]


def test_a_rejected_call_counts_as_one_of_the_models_calls(case: Callable[..., Case], tools: LoggedTools) -> None:
    answers = [call(str(at), to="ann", amount=150 + at) for at in range(3)]
    found = case(ASK, *answers, "gave up").start(BY_MODEL)

    for _ in range(2):
        found.decide({"type": "reject", "message": "too much"})

    assert found.state["answer"] == "gave up" and tools.calls == []
    assert "may be called 2 times" in found.events("call_refused")[0]["why"]


def test_a_model_is_told_that_a_person_changed_its_call(case: Callable[..., Case], tools: LoggedTools) -> None:
    found = case(ASK, call("1", to="ann", amount=150), "done").start(BY_MODEL)

    found.decide(edit(to="ann", amount=20))

    assert found.state["answer"] == "done" and tools.named("pay") == [{"to": "ann", "amount": 20}]
    (started,) = found.events("call_started")
    assert started["replaces"] and started["key"] != started["replaces"]
    assert found.events("decided")[-1]["replaced"] == {started["replaces"]: {"to": "ann", "amount": 20}}


def test_a_rejected_step_fails_with_the_words_and_the_replanner_goes_on(
    case: Callable[..., Case], tools: LoggedTools
) -> None:
    other = {"steps": [step("a", "pay", to="ann", amount=90)], "answer": "{a_result}"}
    found = case(ABOVE, other).start(PAY)

    found.decide({"type": "reject", "message": "at most 90"})

    assert found.state["answer"] == "paid 90" and tools.named("pay") == [{"to": "ann", "amount": 90}]
    (failed,) = found.events("step_finished")
    assert failed["error"] == "a person rejected this call: at most 90"


def test_the_other_decisions_of_the_same_answer_stand(case: Callable[..., Case], tools: LoggedTools) -> None:
    plan = {"steps": [step("a", "pay", to="ann", amount=150), step("b", "pay", to="bob", amount=150)]}
    found = case(ASK, replan="never").start(plan)

    found.decide({"type": "reject", "message": "not ann"}, APPROVE)

    assert tools.named("pay") == [{"to": "bob", "amount": 150}] and found.state["status"] == "partial"


@pytest.mark.parametrize("decision", [{"type": "reject"}, {"type": "reject", "message": "no way", "final": True}])
def test_a_final_rejection_of_a_call_ends_the_run(case: Callable[..., Case], tools: LoggedTools, decision: Any) -> None:
    assert case(ASK).start(PAY).decide(decision).state["status"] == "rejected" and tools.calls == []


def test_an_edit_within_the_grant_is_a_new_call_and_the_plan_stays(
    case: Callable[..., Case], tools: LoggedTools
) -> None:
    plan = {"steps": [step("q", "quote"), step("a", "pay", to="ann", amount="{q_result}")], "answer": "{a_result}"}

    found = case(ASK).start(plan).decide(edit(to="ann", amount=20))

    assert tools.named("pay") == [{"to": "ann", "amount": 20}] and found.state["revision"] == 1


def test_an_edit_beyond_the_grant_is_a_revision(case: Callable[..., Case], tools: LoggedTools) -> None:
    found = case(ASK, approval="always").start(PAY).decide(LATER).decide(edit(to="{a_result}", amount=20))

    assert found.state["answer"] == "paid 20" and tools.named("pay") == [{"to": "{a_result}", "amount": 20}]
    assert found.state["revision"] == 2 and found.state["plan"]["steps"][0]["args"]["amount"] == 20
    assert [event["author"] for event in found.events("plan_revised")] == ["caller", "person"]


def test_an_edit_that_changes_more_calls_than_the_one_shown_is_reviewed_as_a_plan(
    case: Callable[..., Case], tools: LoggedTools
) -> None:
    each = {**step("a", "pay", to="{item_result}", amount=150), "for_each": ["ann", "bob"]}
    found = case(ASK, approval="always").start({"steps": [each]}).decide(LATER)

    found.decide(edit(to="ann", amount=20), APPROVE)

    assert [name for name, _ in found.shown] == ["run_plan"] and tools.calls == []


@pytest.mark.parametrize("args", [{"to": "eve", "amount": 20}, {"to": "ann", "amount": 2000}])
def test_an_edit_that_leaves_the_policys_constraints_is_asked_again(
    case: Callable[..., Case], tools: LoggedTools, args: Any
) -> None:
    bounds = {"to": {"one_of": ["ann", "bob"]}, "amount": {"maximum": 1000}}
    policy = {"tools": {"pay": {"verdict": "ask", "args": bounds}}}

    found = case(policy).start(PAY).decide(edit(**args))

    assert found.shown == [("run_step", {"to": "ann", "amount": 150})] and tools.calls == []
    assert "the policy forbids this value" in asked(found.state)["error"]


def test_an_answer_given_before_the_call_was_shown_approves_none(saver: InMemorySaver, tools: LoggedTools) -> None:
    from planner_executor.graph.caller import Caller, invoked_by

    pay = tools.tool("pay", effect="external", trusted=True)
    graph = build_graph(planner=ScriptedModel([]), tools=[pay], policy=ASK, checkpointer=saver, approval="never")
    graph.invoke({"goal": "g", "plan": PAY}, on_thread())

    with invoked_by(Caller("thread", unseen=True)):
        state = graph.invoke(Command(resume={"type": "approve"}), on_thread())

    assert "a person has to decide" in asked(state)["error"] and tools.calls == []


def test_no_call_is_made_that_a_policy_does_not_ask_about_and_nobody_is_asked(
    case: Callable[..., Case], tools: LoggedTools
) -> None:
    found = case(ABOVE).start({"steps": [step("a", "pay", to="ann", amount=100)], "answer": "{a_result}"})

    assert found.state["answer"] == "paid 100" and found.events("step_held") == []


def test_the_outcome_that_a_held_call_rests_on_precedes_it_on_record(case: Callable[..., Case]) -> None:
    held = case(ASK).start({"steps": [step("q", "quote"), step("a", "pay", to="ann", amount="{q_result}")]})

    order = [event.kind for event in held.record if event.kind in ("call_finished", "step_held")]
    assert order == ["call_finished", "step_held"]
