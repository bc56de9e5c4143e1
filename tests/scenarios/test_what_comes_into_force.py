"""Rules on people judge what an answer puts into force, not what it was asked about."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from planner_executor import Agent, Person, build_graph
from planner_executor.graph.runs.run import Run
from planner_executor.graph.testing import LoggedTools, ScriptedModel, asked, on_thread, step

HARMLESS = {"steps": [step("a", "look")]}
PAY = {"steps": [step("a", "pay", to="ann", amount=150)]}
NAMES = {"tools": {"pay": {"names": ["ada@example.org"]}}}
TWO = {"tools": {"pay": {"roles": ["finance"], "quorum": 2}}}
EYES = {"tools": {"pay": {"roles": ["finance"], "four_eyes": True}}}
ADA, BOB, CY = (Person(f"{name}@example.org", ["finance"], proof="token") for name in ("ada", "bob", "cy"))
EVE = Person("eve@example.org", ["guest"], proof="token")
MALLORY = Person("mallory@example.org")
APPROVE = {"type": "approve"}
RULES = [
    pytest.param(NAMES, EVE, (ADA,), id="names"),
    pytest.param(NAMES, MALLORY, (ADA,), id="claimed"),
    pytest.param(NAMES, None, (ADA,), id="unverified"),
    pytest.param(TWO, ADA, (BOB, CY), id="quorum"),
    pytest.param(EYES, ADA, (BOB,), id="four eyes"),
]


def verified(by: Person | None) -> Person | None:
    """Stand in for the token check of a service."""
    return by if by is not None and by.proof == "token" else None


def failing(**_: Any) -> None:
    raise OSError("the line went dead")


def own(tools: LoggedTools) -> list[Any]:
    return [
        tools.tool("pay", effect="external", trusted=True),
        tools.tool("look", lambda **_: 40, effect="read", trusted=True),
        tools.tool("fail", failing, effect="read", trusted=True),
    ]


@pytest.fixture
def agent(database: str, tools: LoggedTools) -> Iterator[Callable[..., Agent]]:
    opened: list[Agent] = []

    def made(approvers: Any, *plans: Any, budget: Any = None, **policy: Any) -> Agent:
        rules, planner = {"approvers": approvers, **policy}, ScriptedModel(plans)
        file, given = database, {"budget": budget} if budget else {}
        opened.append(Agent.open(file, planner=planner, tools=own(tools), policy=rules, identity=verified, **given))
        return opened[-1]

    yield made
    for one in opened:
        one.close()


def asks(run: Run) -> list[str]:
    return [str(action["name"]) for action in run.request["action_requests"]] if run.request else []


def text(run: Run) -> str:
    return str(run.request["action_requests"][0]["description"]) if run.request else ""


@pytest.mark.parametrize(("rules", "by", "others"), RULES)
def test_a_harmless_plan_that_one_person_edits_into_a_payment_is_put_to_those_who_decide_about_payments(
    agent: Callable[..., Agent], tools: LoggedTools, rules: Any, by: Any, others: Any
) -> None:
    one = agent(rules)
    run = one.start("g", plan=HARMLESS, by=EVE)
    before = run.request["digest"]  # type: ignore[index]

    run = one.resume(run.id, PAY, by=by)

    assert asks(run) == ["run_plan"] and tools.calls == []
    assert run.request is not None and run.request["digest"] != before
    run = one.resume(run.id, APPROVE, by=by)
    assert run.status == "waiting" and tools.calls == []
    for person in others:
        run = one.resume(run.id, APPROVE, by=person) if run.status == "waiting" else run
    assert run.status == "succeeded" and len(tools.named("pay")) == 1
    assert one.replay(run.id).is_same


def test_a_harmless_plan_that_a_client_of_the_compiled_graph_edits_into_a_payment_pays_nobody(
    tools: LoggedTools,
) -> None:
    app = build_graph(
        ScriptedModel([HARMLESS]), tools=own(tools), policy={"approvers": NAMES}, checkpointer=InMemorySaver()
    )
    app.invoke({"goal": "g"}, on_thread())

    for answer in (PAY, True, "yes", {"decisions": [APPROVE]}):
        state = app.invoke(Command(resume=answer), on_thread())

    assert tools.calls == [] and asked(state)["action_requests"][0]["name"] == "run_plan"


def test_an_edit_that_its_author_may_decide_alone_stays_an_approval(
    agent: Callable[..., Agent], tools: LoggedTools
) -> None:
    one = agent(NAMES)

    run = one.resume(one.start("g", plan=HARMLESS, by=EVE).id, PAY, by=ADA)

    assert run.status == "succeeded" and len(tools.named("pay")) == 1


LOOK = step("a", "look")
QUESTION = {"id": "q", "objective": "know the amount", "ask": "How much?", "depends_on": ["a"]}
GATE = {"id": "q", "objective": "be sure", "gate": "Is this right?", "depends_on": ["a"]}
ASKS = {"steps": [LOOK, QUESTION, step("p", "pay", to="ann", amount="{q_result}")]}
WAITS = {"steps": [LOOK, GATE, step("p", "pay", after=["q"], to="ann", amount=9)]}
LOOKS = {"steps": [LOOK, step("p", "pay", to="ann", amount="{a_result}")]}
GIVERS = [
    pytest.param(NAMES, EVE, [EVE], [ADA], id="one whom the rule does not name"),
    pytest.param(NAMES, EVE, [MALLORY], [ADA], id="one who is only claimed"),
    pytest.param(NAMES, EVE, [None], [ADA], id="one whom only the machine knows"),
    pytest.param(NAMES, EVE, [ADA], [], id="one whom the rule names"),
    pytest.param(TWO, EVE, [ADA, BOB], [], id="two who say the same"),
    pytest.param(TWO, EVE, [ADA, EVE], [ADA, CY], id="two of whom one does not count"),
    pytest.param(TWO, EVE, [EVE], [ADA, CY], id="one where it takes two"),
    pytest.param(EYES, ADA, [ADA], [BOB], id="who asked for the run"),
    pytest.param(EYES, ADA, [BOB], [], id="one who did not ask"),
]


def answered(name: str, given: Any) -> dict[str, Any]:
    return {"type": "edit", "edited_action": {"name": name, "args": given}}


def approved(one: Agent, plan: Any, by: Person | None, later: Sequence[str] = ()) -> Run:
    """Start a run, and have its plan approved by as many as it takes, but for the calls of these steps."""
    run = one.start("g", plan=plan, by=by)
    for person in (BOB, CY, ADA):
        answer = {**APPROVE, "ask_later": [*later]}
        run = one.resume(run.id, answer, by=person) if asks(run) == ["run_plan"] else run
    return run


def put_to_others(one: Agent, tools: LoggedTools, run: Run, others: list[Person], shown: str | None) -> None:
    """Check that a payment is made, after these people have approved its call, which shows what it rests on."""
    for left in range(len(others), 0, -1):
        assert asks(run) == ["run_step"] and tools.named("pay") == [], left
        assert shown is None or shown in text(run)
        run = one.resume(run.id, APPROVE, by=others[-left])
    assert run.status == "succeeded" and len(tools.named("pay")) == 1
    assert one.replay(run.id).is_same


@pytest.mark.parametrize(
    ("rules", "starter", "givers", "others", "kind"),
    [
        pytest.param(*giver.values, kind, id=f"{kind}-{giver.id}")
        for kind, givers in {"answer": GIVERS, "gate": GIVERS[::3], "limit": GIVERS[2::3]}.items()
        for giver in givers
    ],
)
def test_a_value_is_decided_by_those_who_decide_about_the_calls_that_it_reaches_or_these_calls_are_asked(
    agent: Callable[..., Agent], tools: LoggedTools, rules: Any, starter: Any, givers: Any, others: Any, kind: str
) -> None:
    one = agent(rules, budget={"tool_calls": 1} if kind == "limit" else None)
    plan, name, response = {
        "answer": (ASKS, "answer_question", answered("answer_question", {"answer": 150})),
        "gate": (WAITS, "run_step", APPROVE),
        "limit": (LOOKS, "raise_budget", answered("raise_budget", {"budget": {"tool_calls": 2}})),
    }[kind]
    run = approved(one, plan, starter)

    for giver in givers:
        assert asks(run) == [name] and tools.named("pay") == []
        run = one.resume(run.id, response, by=giver)

    by = {None: "os:", MALLORY: "claimed:mallory@example.org"}.get(givers[-1])
    put_to_others(one, tools, run, others, by or f"server:{givers[-1].name}")


@pytest.mark.parametrize(("rules", "starter", "givers", "others"), [*GIVERS[:3], *GIVERS[6:]])
def test_a_result_that_a_person_supplies_stands_and_the_calls_on_it_are_asked(
    agent: Callable[..., Agent], tools: LoggedTools, rules: Any, starter: Any, givers: Any, others: Any
) -> None:
    one = agent(rules, tools={"look": {"verdict": "ask"}})
    run = approved(one, LOOKS, starter, later=["a"])
    assert asks(run) == ["run_step"]

    one.supply(run.id, "a", 4000, by=givers[0])

    put_to_others(one, tools, one.resume(run.id), others, "4000")
    assert tools.named("pay") == [{"to": "ann", "amount": 4000}]


@pytest.mark.parametrize(("rules", "starter", "givers", "others"), [GIVERS[0], GIVERS[3], GIVERS[6], *GIVERS[7:]])
def test_an_edited_call_of_a_harmless_tool_does_not_lead_to_a_payment_that_nobody_who_may_has_seen(
    agent: Callable[..., Agent], tools: LoggedTools, rules: Any, starter: Any, givers: Any, others: Any
) -> None:
    plan = {"steps": [{"id": "a", "objective": "o", "tools": ["look"]}, LOOKS["steps"][1]]}
    request = AIMessage("", tool_calls=[{"name": "look", "args": {"at": "x"}, "id": "1"}])
    one = agent(rules, request, "40", tools={"look": {"verdict": "ask"}})
    run = approved(one, plan, starter)

    run = one.resume(run.id, answered("run_step", {"args": {"at": "y"}}), by=givers[0])

    assert tools.named("look") == [{"at": "y"}]
    put_to_others(one, tools, run, others, '"y"')


def test_words_against_a_call_that_a_model_made_reach_no_payment_of_this_model(
    agent: Callable[..., Agent], tools: LoggedTools
) -> None:
    plan = {"steps": [{"id": "a", "objective": "o", "tools": ["look", "pay"]}]}
    look, pay = (
        AIMessage("", tool_calls=[{"name": name, "args": {"to": "eve"}, "id": name}]) for name in ("look", "pay")
    )
    one = agent(NAMES, look, pay, "done", tools={"look": {"verdict": "ask"}})
    run = approved(one, plan, EVE)

    run = one.resume(run.id, {"type": "reject", "message": "pay eve instead"}, by=EVE)

    put_to_others(one, tools, run, [ADA], "pay eve instead")


def test_an_answer_reaches_a_payment_through_a_model_that_reads_it(
    agent: Callable[..., Agent], tools: LoggedTools
) -> None:
    plan = {"steps": [LOOK, QUESTION, {"id": "m", "objective": "o", "tools": ["pay"], "depends_on": ["q"]}]}
    pay = AIMessage("", tool_calls=[{"name": "pay", "args": {"to": "eve", "amount": 9}, "id": "1"}])
    one = agent(NAMES, pay, "done")
    run = approved(one, plan, EVE)

    run = one.resume(run.id, answered("answer_question", {"answer": "all of it"}), by=EVE)

    put_to_others(one, tools, run, [ADA], "all of it")


def test_what_one_gives_beside_a_rejection_with_words_counts_only_if_one_may_give_it(
    agent: Callable[..., Agent], tools: LoggedTools
) -> None:
    one = agent({"quorum": 2}, LOOKS)
    run = approved(one, {"steps": [LOOK, QUESTION, {**GATE, "id": "g"}]}, EVE)
    assert asks(run) == ["run_step", "answer_question"]

    words, gives = {"type": "reject", "message": "why?"}, answered("answer_question", {"answer": 150})
    one.resume(run.id, {"decisions": [words, gives]}, by=ADA)

    decided = [event.payload for event in one.log(run.id) if event.kind == "decided"][-1]
    assert (decided["decision"], decided.get("given")) == ("feedback", None)


def test_a_plan_that_is_approved_after_an_answer_shows_it_and_covers_it(
    agent: Callable[..., Agent], tools: LoggedTools
) -> None:
    pay = step("p", "pay", after=["f"], to="ann", amount=9)
    fails = {"steps": [LOOK, QUESTION, step("f", "fail", after=["q"]), pay]}
    again = {"keep": ["p"], "steps": [{**step("f", "look", after=["q"]), "replaces": "f"}]}
    one = agent(NAMES, again)
    run = one.resume(approved(one, fails, EVE).id, answered("answer_question", {"answer": "at most 9"}), by=EVE)

    assert asks(run) == ["run_plan"] and "q rests on what server:eve@example.org gave" in text(run)
    assert one.resume(run.id, APPROVE, by=ADA).status == "succeeded" and len(tools.named("pay")) == 1


BY_CALLS = [
    pytest.param({}, id="held for the plan's rule alone"),
    pytest.param({"tools": {"pay": {"ask_when": {"amount": {"above": 50}}}}}, id="shown for its arguments too"),
]


@pytest.mark.parametrize("policy", BY_CALLS)
@pytest.mark.parametrize("rules", [NAMES, TWO])
def test_a_laxer_rule_on_single_calls_does_not_decide_about_a_call_whose_plan_s_rule_was_not_met(
    agent: Callable[..., Agent], tools: LoggedTools, rules: Any, policy: Any
) -> None:
    one = agent({**rules, "calls": {"roles": ["guest", "finance"]}}, **policy)
    run = one.resume(approved(one, ASKS, EVE).id, answered("answer_question", {"answer": 150}), by=EVE)
    assert asks(run) == ["run_step"]

    run = one.resume(run.id, APPROVE, by=EVE)

    assert run.status == "waiting" and tools.named("pay") == []
    put_to_others(one, tools, run, [ADA] if rules is NAMES else [ADA, BOB], "150")


def test_a_standing_approval_under_a_laxer_rule_on_single_calls_covers_no_call_whose_plan_s_rule_was_not_met(
    agent: Callable[..., Agent], tools: LoggedTools
) -> None:
    rules = {"tools": {"pay": {"names": ["ada@example.org"]}}, "calls": {"roles": ["guest", "finance"]}}
    one = agent(rules, tools={"pay": {"verdict": "ask"}})
    first = step("f", "pay", to="ann", amount=1)
    plan = {"steps": [first, {**QUESTION, "depends_on": ["f"]}, step("p", "pay", to="ann", amount="{q_result}")]}
    run = approved(one, plan, EVE, later=["f"])
    assert asks(run) == ["run_step"]
    wish = {"at_most": 5, "args": {"amount": {"above": 0}}}
    run = one.resume(run.id, {**APPROVE, "standing": wish}, by=EVE)
    assert asks(run) == ["answer_question"] and len(tools.named("pay")) == 1

    run = one.resume(run.id, answered("answer_question", {"answer": 150}), by=EVE)

    assert asks(run) == ["run_step"] and len(tools.named("pay")) == 1
