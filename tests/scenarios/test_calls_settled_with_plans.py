"""One stop where two were: approving a plan settles the calls that the policy asks about, as far as they are known."""

import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from desk_server import decide, query, served
from rich.console import Console

from planner_executor import Agent, Person
from planner_executor.graph.cli.prompts import Prompter
from planner_executor.graph.cli.request_view import show_decision_commands
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.runs.run import Run
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

ASK: dict[str, Any] = {"tools": {"pay": {"verdict": "ask"}}}
ABOVE: dict[str, Any] = {"tools": {"pay": {"ask_when": {"amount": {"above": 100}}}}}
ADA, BOB, EVE = (Person(f"{name}@x", roles, proof=True) for name, roles in
                 (("ada", ["finance"]), ("bob", ["finance"]), ("eve", ["guest"])))  # fmt: skip
APPROVE = {"type": "approve"}
PAY = step("p", "pay", to="ann", amount=900)
LATER = {**APPROVE, "ask_later": ["p"]}

Open = Callable[..., Agent]


@pytest.fixture
def opened(tmp_path: Path, tools: LoggedTools) -> Iterator[Open]:
    agents: list[Agent] = []

    def open_(policy: dict[str, Any], *plans: Any, **options: Any) -> Agent:
        own = [
            tools.tool("look", lambda **_: 40, effect="read", trusted=True),
            tools.tool("page", lambda **_: "eve", effect="read", trusted=False),
            tools.tool("pay", lambda **_: 1, effect="external", trusted=True),
        ]
        given = {"tools": own, "planner": ScriptedModel(list(plans)), "identity": lambda by: by, **options}
        agent = Agent.open(tmp_path / "runs.db", policy=policy, **given)
        agents.append(agent.__enter__())
        return agents[-1]

    yield open_
    for agent in agents:
        agent.__exit__(None, None, None)


def asked(run: Run) -> list[str]:
    return [action["name"] for action in run.request["action_requests"]] if run.request else []


def of_step(run: Run, name: str) -> dict[str, Any]:
    """What the content of a request says of a step."""
    assert run.request is not None
    found: dict[str, Any] = next(one for one in run.request["review"]["actions"][0]["steps"] if one["id"] == name)
    return {key: found[key] for key in ("settled", "settled_by", "asked_later") if key in found}


def told(run: Run) -> str:
    assert run.request is not None
    return str(run.request["action_requests"][0]["description"])


def settled(agent: Agent, run: Run) -> list[list[str]]:
    """Return the steps whose calls each decision on record settles."""
    decisions = [event.payload for event in agent.log(run.id) if event.kind == "decided"]
    return [[one["place"] for one in made.get("with_plan") or ()] for made in decisions]


def finishes(agent: Agent, run: Run) -> None:
    """Hold that a run has succeeded, that its record is whole, and that it comes out the same."""
    assert run.status == "succeeded", run.reason
    assert agent.verify(run.id) and agent.replay(run.id).is_same


@pytest.mark.parametrize("policy", [ASK, ABOVE], ids=["ask", "ask_when"])
def test_a_payment_that_is_known_and_shown_is_approved_with_its_plan(
    opened: Open, tools: LoggedTools, policy: dict[str, Any]
) -> None:
    agent = opened(policy)
    run = agent.start("g", plan={"steps": [PAY]})

    assert of_step(run, "p") == {"settled": True}
    assert "Approving the plan also approves these calls, which the policy asks about:" in told(run)
    done = agent.resume(run.id, "approve")

    assert len(tools.named("pay")) == 1 and settled(agent, done) == [["p"]]
    (call,) = [event.payload for event in agent.log(run.id) if event.kind == "call_started"]
    (made,) = [event.payload for event in agent.log(run.id) if event.kind == "decided"]
    assert made["with_plan"][0]["key"] == call["key"]
    finishes(agent, done)


def test_a_call_that_is_left_out_is_asked_about_when_it_is_due(opened: Open, tools: LoggedTools) -> None:
    agent = opened(ASK)
    also = step("q", "pay", to="bob", amount=5, after=["p"])

    begun = agent.start("g", plan={"steps": [PAY, also]})
    run = agent.resume(begun.id, begun.decide(approve=True, ask_later=["p"]))

    assert asked(run) == ["run_step"] and not tools.calls and settled(agent, run) == [["q"]]
    done = agent.resume(run.id, APPROVE)
    assert [call["to"] for call in tools.named("pay")] == ["ann", "bob"]
    finishes(agent, done)


@pytest.mark.parametrize("names", [["a"], ["p", "a"]])
def test_what_has_no_such_call_cannot_be_left_out_and_nothing_is_approved(
    opened: Open, tools: LoggedTools, names: list[str]
) -> None:
    agent = opened(ASK)
    run = agent.start("g", plan={"steps": [step("a", "look"), PAY]})

    again = agent.resume(run.id, {**APPROVE, "ask_later": names})

    assert again.request is not None and asked(again) == ["run_plan"]
    assert "the policy asks about no call of a; it asks about those of p" in again.request["error"]
    assert not tools.calls


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        ([step("a", "look"), step("p", "pay", to="ann", amount="{a_result}")], "unknown"),
        ([step("a", "look"), {**step("p", "pay", to="{item_result}", amount=1), "for_each": "{a_result}"}], "unknown"),
        ([{"id": "p", "objective": "pay", "tools": ["pay"], "args": {"to": "ann", "amount": 9}}], "unknown"),
        ([step("p", "pay", to="ann", amount=900, note="x" * 4001)], "long"),
    ],
    ids=["a result", "items of a result", "a model", "too long to be shown"],
)
def test_what_is_not_known_or_not_shown_in_full_is_asked_about_when_it_is_due(
    opened: Open, tools: LoggedTools, steps: list[Any], why: str
) -> None:
    agent = opened(ASK, executor=ScriptedModel(["done"]))
    run = agent.start("g", plan={"steps": steps})

    assert of_step(run, "p") == {"asked_later": why}
    assert "asked about these calls when they are due" in told(run) and "also approves" not in told(run)
    assert settled(agent, agent.resume(run.id, LATER)) == [[]] and not tools.named("pay")


def test_each_item_that_stands_in_the_plan_is_settled_by_its_own_digest(opened: Open, tools: LoggedTools) -> None:
    agent = opened(ABOVE)
    each = {**step("p", "pay", to="ann", amount="{item_result}"), "for_each": [50, 400, 700]}
    run = agent.start("g", plan={"steps": [each]})

    assert of_step(run, "p") == {"settled": True} and "p[1]: pay" in told(run) and "p[0]: pay" not in told(run)
    done = agent.resume(run.id, "approve")

    assert settled(agent, done) == [["p[1]", "p[2]"]] and len(tools.named("pay")) == 3
    finishes(agent, done)


def test_an_approval_that_was_given_unseen_settles_nothing(opened: Open, tools: LoggedTools) -> None:
    agent = opened(ASK)

    run = agent.resume(agent.start("g", plan={"steps": [PAY]}).id, APPROVE, unseen=True)

    assert asked(run) == ["run_step"] and not tools.calls and settled(agent, run) == [[]]


def test_a_plan_that_nobody_is_shown_settles_nothing(opened: Open, tools: LoggedTools) -> None:
    agent = opened({**ASK, "approval": "never"})

    run = agent.start("g", plan={"steps": [PAY]})

    assert asked(run) == ["run_step"] and settled(agent, run) == [[]]


CALLS: dict[str, Any] = {**ASK, "approvers": {"calls": {"tools": {"pay": {"roles": ["finance"]}}}}}


@pytest.mark.parametrize(("by", "stops"), [(ADA, []), (EVE, ["run_step"])], ids=["finance", "a guest"])
def test_other_people_are_asked_when_the_call_is_due_and_the_same_people_are_not(
    opened: Open, tools: LoggedTools, by: Person, stops: list[str]
) -> None:
    agent = opened(CALLS)
    run = agent.start("g", plan={"steps": [PAY]}, by=BOB)

    assert of_step(run, "p") == {"settled": True, "settled_by": [{"roles": ["finance"]}]}
    assert "if approved by the role finance; else" in " ".join(told(run).split())
    run = agent.resume(run.id, APPROVE, by=by)

    assert asked(run) == stops and len(tools.calls) == (not stops)
    finishes(agent, run if not stops else agent.resume(run.id, APPROVE, by=ADA))


def test_a_quorum_of_the_call_is_not_met_by_one_who_approves_the_plan(opened: Open, tools: LoggedTools) -> None:
    rule = {"roles": ["finance"], "quorum": 2}
    agent = opened({**ASK, "approvers": {"calls": {"tools": {"pay": rule}}}})

    run = agent.resume(agent.start("g", plan={"steps": [PAY]}, by=EVE).id, APPROVE, by=ADA)

    assert asked(run) == ["run_step"] and settled(agent, run) == [[]]


def test_two_who_approve_the_plan_are_a_quorum_of_the_call_too(opened: Open, tools: LoggedTools) -> None:
    agent = opened({**ASK, "approvers": {"tools": {"pay": {"roles": ["finance"], "quorum": 2}}}})
    run = agent.start("g", plan={"steps": [PAY]}, by=EVE)

    assert of_step(run, "p") == {"settled": True}
    assert asked(agent.resume(run.id, APPROVE, by=ADA)) == ["run_plan"] and not tools.calls
    finishes(agent, agent.resume(run.id, APPROVE, by=BOB))


@pytest.mark.parametrize(("first", "second"), [(LATER, APPROVE), (APPROVE, LATER)])
def test_votes_count_together_with_a_reason_of_their_own_and_what_one_leaves_out_is_left_out(
    opened: Open, tools: LoggedTools, first: Any, second: Any
) -> None:
    agent = opened({**ASK, "approvers": {"tools": {"pay": {"roles": ["finance"], "quorum": 2}}}})
    run = agent.start("g", plan={"steps": [PAY, step("q", "pay", to="bob", amount=5)]}, by=EVE)

    agent.resume(run.id, {**first, "reason": "it is small"}, by=ADA)
    run = agent.resume(run.id, second, by=BOB)

    assert asked(run) == ["run_step"] and settled(agent, run) == [["q"]]
    agent.resume(run.id, APPROVE, by=ADA)
    finishes(agent, agent.resume(run.id, APPROVE, by=BOB))


def test_under_four_eyes_who_asked_for_the_run_settles_no_call_of_it(opened: Open, tools: LoggedTools) -> None:
    rule = {"roles": ["finance"], "four_eyes": True}
    agent = opened({**ASK, "approvers": {"calls": {"tools": {"pay": rule}}}})

    run = agent.resume(agent.start("g", plan={"steps": [PAY]}, by=ADA).id, APPROVE, by=ADA)

    assert asked(run) == ["run_step"] and not tools.calls
    finishes(agent, agent.resume(run.id, APPROVE, by=BOB))


def test_under_four_eyes_who_asks_for_more_later_has_settled_nothing(opened: Open, tools: LoggedTools) -> None:
    rule = {"roles": ["finance"], "four_eyes": True}
    gate = {"id": "q", "objective": "o", "gate": "Right?", "depends_on": ["a"]}
    plan = {"steps": [step("a", "look"), gate, {**PAY, "depends_on": ["q"]}]}
    agent = opened({**ASK, "approvers": {"calls": {"tools": {"pay": rule}}}}, plan, plan)
    run = agent.resume(agent.start("g", plan=plan, by=EVE).id, APPROVE, by=ADA)
    assert asked(run) == ["run_step"] and settled(agent, run) == [["p"]]

    run = agent.steer(run.id, feedback="soon", by=ADA)
    while run.request is not None and run.request["action_requests"][0]["args"].get("tool") != "pay":
        run = agent.resume(run.id, APPROVE, by=EVE)

    assert asked(run) == ["run_step"] and not tools.named("pay")


def test_an_edit_settles_what_was_shown_as_it_is_now_and_asks_about_what_it_changes(
    opened: Open, tools: LoggedTools
) -> None:
    agent = opened(ASK)
    shown = {"steps": [PAY, step("q", "pay", to="bob", amount=5)]}
    edited = {"steps": [PAY, step("q", "pay", to="bob", amount=7)]}
    edit = {"type": "edit", "edited_action": {"name": "run_plan", "args": {"plan": edited}}}

    run = agent.resume(agent.start("g", plan=shown).id, edit)

    assert asked(run) == ["run_step"] and settled(agent, run) == [["p"]]
    assert [call["amount"] for call in tools.named("pay")] == [900]
    finishes(agent, agent.resume(run.id, APPROVE))


def failing(tools: LoggedTools) -> list[Any]:
    def look(at: str = "x") -> str:
        if at != "y":
            raise LookupError("nothing there")
        return at

    return [
        tools.tool("look", look, effect="read", trusted=True),
        tools.tool("pay", lambda **_: 1, effect="external", trusted=True),
    ]


@pytest.mark.parametrize(
    ("amount", "stops", "made"),
    [(900, [["run_plan"]], [["p"], ["p"]]), (901, [["run_plan"]], [["p"], ["p"]])],
    ids=["unchanged", "changed"],
)
def test_a_revision_says_anew_what_its_approval_settles(
    opened: Open, tools: LoggedTools, amount: int, stops: list[list[str]], made: list[list[str]]
) -> None:
    first = {"steps": [step("a", "look", at="x"), {**PAY, "depends_on": ["a"]}]}
    pay = step("p", "pay", to="ann", amount=amount, after=["a"])
    agent = opened(ASK, {"steps": [step("a", "look", at="y"), pay]}, tools=failing(tools))

    run = agent.resume(agent.start("g", plan=first).id, APPROVE)
    assert [asked(run)] == stops and of_step(run, "p") == {"settled": True} and not tools.named("pay")
    done = agent.resume(run.id, APPROVE)

    assert settled(agent, done) == made and [call["amount"] for call in tools.named("pay")] == [amount]
    finishes(agent, done)


def test_what_a_later_approval_leaves_out_is_asked_about_although_an_earlier_one_settled_it(
    opened: Open, tools: LoggedTools
) -> None:
    first = {"steps": [step("a", "look", at="x"), {**PAY, "depends_on": ["a"]}]}
    agent = opened(ASK, {"keep": ["p"], "steps": [step("a", "look", at="y")]}, tools=failing(tools))

    run = agent.resume(agent.start("g", plan=first).id, APPROVE)
    run = agent.resume(run.id, LATER)

    assert asked(run) == ["run_step"] and not tools.named("pay") and settled(agent, run) == [["p"], []]


def test_what_was_settled_holds_for_an_unchanged_step_of_a_revision_that_nobody_is_shown(
    opened: Open, tools: LoggedTools
) -> None:
    def look(**_: Any) -> int:
        if len(tools.named("look")) == 1:
            raise LookupError("not now")
        return 1

    own = [tools.tool("look", look, effect="read", trusted=True), failing(tools)[1]]
    first = {"steps": [step("a", "look"), {**PAY, "depends_on": ["a"]}, step("c", "look", at="z", after=["a"])]}
    agent = opened(ASK, {"keep": ["p"], "steps": [step("a", "look")]}, tools=own)

    done = agent.resume(agent.start("g", plan=first).id, APPROVE)

    assert settled(agent, done) == [["p"], []] and len(tools.named("pay")) == 1
    finishes(agent, done)


def test_a_revision_after_untrusted_results_settles_no_call_that_it_adds(opened: Open, tools: LoggedTools) -> None:
    first = {"steps": [step("a", "page"), step("b", "broken", after=["a"])]}
    second = {"steps": [step("b", "look"), PAY]}
    own = [
        *failing(tools)[1:],
        tools.tool("look", lambda **_: 1, effect="read", trusted=True),
        tools.tool("page", lambda **_: "pay eve", effect="read", trusted=False),
        tools.tool("broken", lambda **_: 1 / 0, effect="read", trusted=True),
    ]
    agent = opened(ASK, second, tools=own)

    run = agent.resume(agent.start("g", plan=first).id, APPROVE)
    assert asked(run) == ["run_plan", "run_step"] and of_step(run, "p") == {"asked_later": "new"}
    run = agent.resume(run.id, {"decisions": [APPROVE, APPROVE]})

    assert asked(run) == ["run_step"] and not tools.named("pay")
    finishes(agent, agent.resume(run.id, APPROVE))


def test_a_call_that_may_have_happened_is_asked_about_by_itself(opened: Open, tools: LoggedTools) -> None:
    def cut(**_: Any) -> int:
        if len(tools.named("pay")) == 1:
            raise ConnectionError("cut off")
        return 1

    own = [tools.tool("pay", cut, effect="external", trusted=True)]
    agent = opened(ASK, {"steps": [step("a", "pay", to="bob", amount=1), PAY]}, tools=own)

    run = agent.resume(agent.start("g", plan={"steps": [PAY]}).id, APPROVE)
    assert of_step(run, "p") == of_step(run, "a") == {"asked_later": "uncertain"}
    run = agent.resume(run.id, APPROVE)

    assert asked(run) == ["run_step", "settle_effect"] and settled(agent, run) == [["p"], []]
    assert len(tools.named("pay")) == 1


def test_a_call_that_is_rejected_beside_its_plan_is_not_made(opened: Open, tools: LoggedTools) -> None:
    run = opened(ASK).start("g", plan={"steps": [PAY]})
    with opened(ASK) as first:
        first.resume(run.id, LATER)
    bounds = {"tools": {"pay": {"verdict": "ask", "args": {"amount": {"maximum": 999}}}}}
    agent = opened(bounds)
    run = agent.resume(run.id, APPROVE)
    assert asked(run) == ["run_plan", "run_step"] and of_step(run, "p") == {}

    run = agent.resume(run.id, {"decisions": [APPROVE, {"type": "reject", "message": "not her"}]})

    assert not tools.named("pay") and run.status != "succeeded"


def test_a_denied_call_is_refused_whatever_is_approved(opened: Open, tools: LoggedTools) -> None:
    run = opened({"tools": {"pay": {"verdict": "ask", "args": {"amount": {"maximum": 5}}}}}).start(
        "g", plan={"steps": [PAY]}
    )

    assert run.status == "failed" and not tools.calls


def test_a_limit_that_is_raised_above_a_rule_by_cost_has_the_call_asked_about_by_those(
    opened: Open, tools: LoggedTools
) -> None:
    rules = {"cost": [{"above_usd": 1, "roles": ["lead"]}]}
    policy = {**ASK, "approvers": rules, "prices": {"scripted": {"input": 0.0, "output": 0.0}}}
    agent = opened(policy, budget={"tool_calls": 1, "cost_usd": 1.0})
    run = agent.start("g", plan={"steps": [step("a", "look"), {**PAY, "depends_on": ["a"]}]}, by=EVE)
    run = agent.resume(run.id, APPROVE, by=ADA)
    assert asked(run) == ["raise_budget"] and settled(agent, run) == [["p"]]

    raised = {"name": "raise_budget", "args": {"budget": {"tool_calls": 9, "cost_usd": 5}}}
    run = agent.resume(run.id, {"type": "edit", "edited_action": raised}, by=Person("lee@x", ["lead"], proof=True))

    assert asked(run) == ["run_step"] and not tools.named("pay")


def test_the_record_says_what_was_approved_with_the_plan(opened: Open) -> None:
    agent = opened(ASK)
    run = agent.resume(agent.start("g", plan={"steps": [PAY]}).id, APPROVE)

    assert "approved with the plan, which the policy asks about: p (pay, " in str(agent.audit(run.id))


ALSO = step("q", "pay", to="bob", amount=5, after=["p"])


def left_out(run: Run, agent: Agent) -> bool:
    """Whether the call of p is asked about, and that of q is settled."""
    return asked(run) == ["run_step"] and settled(agent, run) == [["q"]]


@pytest.mark.parametrize("words", ["approve\nask later p", "yes\n  Ask later p ", "approve: as agreed\nask later p"])
def test_in_a_chat_a_line_below_the_approval_leaves_a_call_out(opened: Open, words: str) -> None:
    agent = opened(ASK)
    run = agent.start("g", plan={"steps": [PAY, ALSO]})

    assert left_out(agent.resume(run.id, words), agent)


def test_in_a_chat_such_a_line_alone_or_of_another_step_approves_nothing(opened: Open, tools: LoggedTools) -> None:
    agent = opened(ASK, {"steps": [PAY]})
    run = agent.start("g", plan={"steps": [step("a", "look"), PAY]})

    again = agent.resume(run.id, "approve\nask later a")

    assert again.request is not None and "the policy asks about no call of a" in again.request["error"]
    assert asked(agent.resume(run.id, "ask later p")) == ["run_plan"] and not tools.calls


def test_the_terminal_offers_to_leave_a_call_out_where_one_is_settled(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, out = opened(ASK), io.StringIO()
    run = agent.start("g", plan={"steps": [PAY, ALSO]})
    console = Console(file=out, width=1000)

    show_decision_commands(Screen(console, console, interactive=True), run, "runs.db")
    monkeypatch.setattr("sys.stdin", io.StringIO("l z\nl p\n"))
    reply = Prompter(Screen(console, console, interactive=True), "runs.db").reply(run)

    assert "--approve --ask-later p --ask-later q" in out.getvalue()
    assert "l STEP: run, but ask" in out.getvalue() and "settles no call of z; it does of p, q" in out.getvalue()
    assert reply is not None and left_out(agent.resume(run.id, reply.decisions), agent)


def test_a_plan_that_settles_nothing_offers_nothing_to_leave_out(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    agent, out = opened({}), io.StringIO()
    run = agent.start("g", plan={"steps": [PAY]})
    console = Console(file=out, width=1000)

    show_decision_commands(Screen(console, console, interactive=True), run, "runs.db")
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    Prompter(Screen(console, console, interactive=True), "runs.db").reply(run)

    assert "later" not in out.getvalue() and "l STEP" not in out.getvalue()


def test_the_desk_has_a_box_for_each_step_whose_calls_are_settled(tmp_path: Path) -> None:
    def own(log: LoggedTools) -> list[Any]:
        return [log.tool("pay", lambda **_: 1, effect="external", trusted=True), log.tool("note", effect="write")]

    plan = {"steps": [PAY, ALSO, step("n", "note")]}
    with served(tmp_path / "desk.db", tools=own, options={"policy": ASK}) as server, server.agent() as agent:
        run = agent.start("g", plan=plan, thread="t")
        with server.visit() as visit:
            page = visit.get(query("/review", run.id)).text
            assert re.findall(r'name="later:(\w+)"', page) == ["p", "q"]
            assert decide(visit, run.id, decision="approve", **{"later:p": "yes"}).status_code == 303
        assert settled(agent, run) == [["q"]]
