"""Standing approvals: further calls of a tool that a person approves with one, in bounds."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from planner_executor import Agent, Person, build_graph
from planner_executor.graph.caller import Caller, invoked_by
from planner_executor.graph.errors import InputError
from planner_executor.graph.ledger.drivers import open_ledger
from planner_executor.graph.record.person import NOBODY
from planner_executor.graph.record.standing_approval import StandingUse
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

ASK: dict[str, Any] = {"tools": {"pay": {"verdict": "ask"}}}
BY_ITSELF = {"type": "approve", "ask_later": ["s0"]}
TO_ANN_BELOW_100 = {"args": {"amount": {"below": 100}}, "at_most": 2}


def in_days(days: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + days * 86_400))


@pytest.fixture
def agent(tmp_path: Path, tools: LoggedTools) -> Iterator[Agent]:
    with opened(tmp_path, tools) as found:
        yield found


def opened(folder: Path, tools: LoggedTools, **options: Any) -> Agent:
    own = [
        tools.tool("pay", effect="external", trusted=True),
        tools.tool("web", lambda: 7, effect="read", trusted=False),
    ]
    options = {"policy": ASK, "approval": "never", "planner": ScriptedModel([]), "tools": own, **options}
    return Agent.open(folder / "runs.db", **options)


def chain(*amounts: Any, to: str = "ann") -> dict[str, Any]:
    steps = []
    for at, amount in enumerate(amounts):
        before = [f"s{at - 1}"] if at else []
        steps.append(step(f"s{at}", "pay", after=before, to=to, amount=amount))
    return {"steps": steps}


def approve(**standing: Any) -> dict[str, Any]:
    return {"type": "approve", "standing": standing}


def shown(run: Any) -> Any:
    return run.request["action_requests"][0]["args"]["args"] if run.request else None


def test_further_calls_within_the_bounds_are_made_and_counted_down(agent: Agent, tools: LoggedTools) -> None:
    run = agent.start("g", plan=chain(10, 20, 30, 40))

    run = agent.resume(run.id, approve(**TO_ANN_BELOW_100))

    assert shown(run) == {"to": "ann", "amount": 40}
    assert [args["amount"] for args in tools.named("pay")] == [10, 20, 30]
    assert agent.resume(run.id, {"type": "approve"}).status == "succeeded"
    (given,) = [event.payload for event in agent.log(run.id) if event.kind == "standing_given"]
    started = [event.payload.get("approval") for event in agent.log(run.id) if event.kind == "call_started"]
    assert started == [None, given["id"], given["id"], None]
    assert f"let through by the standing approval {given['id']}" in str(agent.audit(run.id))


@pytest.mark.parametrize(
    ("standing", "amounts", "to"),
    [
        ({"args": {"amount": {"below": 100}}, "at_most": 5}, (10, 100), "ann"),
        ({"at_most": 5}, (10, 11), "ann"),
    ],
)
def test_a_call_beyond_the_bounds_is_shown(
    agent: Agent, tools: LoggedTools, standing: Any, amounts: Any, to: str
) -> None:
    run = agent.resume(agent.start("g", plan=chain(*amounts, to=to)).id, approve(**standing))

    assert shown(run) == {"to": to, "amount": amounts[-1]} and len(tools.calls) == 1


def test_arguments_from_untrusted_results_are_shown_unless_the_approval_names_their_source(
    tmp_path: Path, tools: LoggedTools
) -> None:
    plan = chain(5, "{w_result}")
    plan["steps"].insert(0, step("w", "web"))
    with opened(tmp_path, tools, approval="always") as agent:
        for args, is_shown in ({"maximum": 9}, True), ({"maximum": 9, "untrusted_from": ["web"]}, False):
            run = agent.start("g", plan=plan)
            run = agent.resume(run.id, BY_ITSELF)
            run = agent.resume(run.id, approve(args={"amount": args}, at_most=5))
            assert (shown(run) is not None) is is_shown


@pytest.mark.parametrize(
    "standing",
    [
        {}, {"at_most": 0}, {"at_most": True}, {"at_most": 10**6}, {"at_most": 5, "tool": "send"}, "five",
        {"at_most": 5, "args": {"amount": {"above": 100}}}, {"at_most": 5, "args": {"amount": {"most": 1}}},
        {"at_most": 5, "until": "2020-01-01T00:00:00Z"}, {"at_most": 5, "until": "2999-01-01"},
    ],
)  # fmt: skip
def test_a_wish_that_is_not_understood_or_leaves_out_the_call_shown_approves_nothing(
    agent: Agent, tools: LoggedTools, standing: Any
) -> None:
    run = agent.start("g", plan=chain(10, 20))

    run = agent.resume(run.id, {"type": "approve", "standing": standing})

    assert run.request is not None and "standing" in run.request["error"] and tools.calls == []


def test_no_standing_approval_covers_a_plan_or_comes_with_an_unseen_answer(agent: Agent, tools: LoggedTools) -> None:
    run = agent.start("g", plan=chain(10))

    unseen = agent.resume(run.id, approve(at_most=5), unseen=True)

    assert unseen.request is not None and "a person has to decide" in unseen.request["error"]
    with_words = agent.resume(run.id, {"type": "reject", "message": "not", "standing": {"at_most": 5}})
    assert with_words.request is not None and "standing" in with_words.request["error"] and tools.calls == []


def test_a_policy_that_changed_ends_it(tmp_path: Path, tools: LoggedTools) -> None:
    with opened(tmp_path, tools) as agent:
        run = agent.start("g", plan=chain(10, 150, 20))
        run = agent.resume(run.id, approve(args={"amount": {"below": 100}}, at_most=5))
    stricter = {"tools": {"pay": {"verdict": "ask", "args": {"amount": {"maximum": 500}}}}}
    with opened(tmp_path, tools, policy=stricter) as agent:
        run = agent.resume(run.id)
        while shown(run) == {"to": "ann", "amount": 150}:  # under another policy it is shown once more
            run = agent.resume(run.id, {"type": "approve"})

        assert shown(run) == {"to": "ann", "amount": 20}


FURTHER = {"args": {"amount": {"below": 100}}, "at_most": 3}
LATER = {**FURTHER, "until": in_days(89)}


def test_one_that_is_revoked_lets_no_further_call_through(agent: Agent, tools: LoggedTools) -> None:
    run = agent.resume(agent.start("g", plan=chain(10, 150, 20)).id, approve(**FURTHER))
    (use,) = agent.approvals(run.id)
    assert (use.left, shown(run)) == (3, {"to": "ann", "amount": 150})

    agent.revoke(use.approval.id)

    run = agent.resume(run.id, {"type": "approve"})
    assert shown(run) == {"to": "ann", "amount": 20} and agent.approvals(run.id)[0].left == 0
    with pytest.raises(InputError):
        agent.revoke(use.approval.id)


def test_a_retry_and_an_edit_of_the_plan_end_those_of_the_run(agent: Agent) -> None:
    run = agent.resume(agent.start("g", plan=chain(10, 150, 20)).id, approve(**FURTHER))

    run = agent.edit(run.id, chain(10, 150, 30))

    assert [use.left for use in agent.approvals(run.id)] == [0]


def test_one_until_a_time_holds_in_other_runs_and_is_counted_over_all(agent: Agent, tools: LoggedTools) -> None:
    first = agent.resume(agent.start("g", plan=chain(10, 20)).id, approve(**LATER))
    second = agent.start("h", plan=chain(30, 40, 50))

    assert first.status == "succeeded" and shown(second) == {"to": "ann", "amount": 50}
    (use,) = agent.approvals()
    assert use.left == 0 and use.approval.run is None
    assert f"let through by the standing approval {use.approval.id}" in str(agent.audit(second.id))
    assert agent.replay(first.id).is_same and agent.replay(second.id).is_same


def test_one_that_is_revoked_for_all_runs_holds_in_none(agent: Agent, tools: LoggedTools) -> None:
    agent.resume(agent.start("g", plan=chain(10)).id, approve(**LATER))
    agent.revoke(agent.approvals()[0].approval.id)

    assert shown(agent.start("h", plan=chain(30))) == {"to": "ann", "amount": 30} and len(tools.calls) == 1


def test_the_author_of_a_standing_approval_cannot_ask_for_calls_under_four_eyes(
    tmp_path: Path, tools: LoggedTools
) -> None:
    policy = {**ASK, "approvers": {"tools": {"pay": {"four_eyes": True}}}}
    ada, bob = Person("ada", proof=True), Person("bob", proof=True)
    with opened(tmp_path, tools, policy=policy, identity=lambda by: by if by and by.proof else None) as agent:
        agent.resume(agent.start("g", plan=chain(10), by=bob).id, approve(**LATER), by=ada)

        by_bob, by_ada = agent.start("h", plan=chain(30), by=bob), agent.start("h", plan=chain(30), by=ada)

    assert by_bob.status == "succeeded" and shown(by_ada) == {"to": "ann", "amount": 30}


ANY = {"args": {"to": {"pattern": ".*"}, "amount": {"untrusted_from": ["web"]}}, "at_most": 1_000, "until": in_days(30)}
ADA, BOB = Person("ada", roles=["finance"], proof=True), Person("bob", roles=["finance"], proof=True)
SURE: dict[str, Any] = {"identity": lambda by: by if by and by.proof else None}


def given(agent: Agent, by: Person | None, wish: Any = ANY, asked_by: Person | None = None) -> Any:
    """Return a run of one payment after somebody approved it with a standing approval."""
    return agent.resume(agent.start("g", plan=chain(10), by=asked_by).id, approve(**wish), by=by)


def test_nobody_has_the_text_of_another_sent_by_a_standing_approval(tmp_path: Path, tools: LoggedTools) -> None:
    secret = {"steps": [step("w", "web"), step("s", "pay", after=["w"], to="eve", amount="{w_result}")]}
    with opened(tmp_path, tools, approval="side_effects", **SURE) as agent:
        run = agent.resume(agent.start("g", plan=chain(10), by=BOB).id, BY_ITSELF, by=BOB)
        assert agent.resume(run.id, approve(**ANY), by=BOB).status == "succeeded"

        by_ada = agent.start("h", plan=secret, by=ADA)
        by_ada = agent.resume(by_ada.id, {"type": "approve"}, by=ADA)
        assert shown(by_ada) == {"to": "eve", "amount": 7} and len(tools.named("pay")) == 1
        by_bob = agent.resume(agent.start("h", plan=secret, by=BOB).id, {"type": "approve"}, by=BOB)
        assert by_bob.status == "succeeded"


@pytest.mark.parametrize(("by", "covers_bobs"), [(ADA, False), (BOB, True)])
def test_without_rules_it_covers_the_runs_of_who_gave_it(
    tmp_path: Path, tools: LoggedTools, by: Person, covers_bobs: bool
) -> None:
    with opened(tmp_path, tools, **SURE) as agent:
        assert given(agent, by, asked_by=ADA).status == "succeeded"

        assert (agent.start("h", plan=chain(30), by=BOB).status == "succeeded") is covers_bobs


def test_a_run_that_others_asked_for_too_is_covered_no_longer(tmp_path: Path, tools: LoggedTools) -> None:
    with opened(tmp_path, tools, **SURE) as agent:
        given(agent, ADA, asked_by=ADA)
        run = agent.start("h", plan=chain(150, 30), by=ADA)
        assert run.status == "succeeded"
        narrow = {**ANY, "args": {"amount": {"below": 100}}}
        agent.revoke(agent.approvals()[0].approval.id)
        given(agent, ADA, narrow, asked_by=ADA)
        run = agent.start("i", plan=chain(150, 30), by=ADA)

        run = agent.edit(run.id, chain(150, 30, 40), by=BOB)
        run = agent.resume(run.id, {"type": "approve"}, by=ADA)

        assert shown(run) == {"to": "ann", "amount": 30}


def test_under_a_rule_those_whom_it_admits_give_it_for_all(tmp_path: Path, tools: LoggedTools) -> None:
    policy = {**ASK, "approvers": {"tools": {"pay": {"roles": ["finance"]}}}}
    cy = Person("cy", proof=True)
    with opened(tmp_path, tools, policy=policy, **SURE) as agent:
        given(agent, ADA, asked_by=cy)

        assert agent.start("h", plan=chain(30), by=cy).status == "succeeded"


def test_for_other_runs_it_takes_those_who_approve_plans_with_the_tool_too(tmp_path: Path, tools: LoggedTools) -> None:
    tables = {"tools": {"pay": {"names": ["bob"]}}, "calls": {"tools": {"pay": {"roles": ["finance"]}}}}
    with opened(tmp_path, tools, policy={**ASK, "approvers": tables}, **SURE) as agent:
        refused = given(agent, ADA)
        assert "takes 0 of 1 approval: bob" in refused.request["error"] and agent.approvals() == []
        assert agent.resume(refused.id, approve(at_most=5), by=ADA).status == "succeeded"

        assert given(agent, BOB).status == "succeeded" and len(agent.approvals()) == 1


def test_who_is_only_claimed_gives_one_for_the_run_alone(agent: Agent, tools: LoggedTools) -> None:
    claimed = Person("ada")
    run = agent.start("g", plan=chain(10, 10, 10), by=claimed)

    refused = agent.resume(run.id, approve(**ANY), by=claimed)
    assert refused.request is not None and "runs of a verified person" in refused.request["error"]
    assert "without until it holds in this run" in refused.request["error"] and agent.approvals() == []

    assert agent.resume(run.id, approve(at_most=5), by=claimed).status == "succeeded"
    assert len(tools.named("pay")) == 3


@pytest.mark.parametrize(("longest", "days", "is_given"), [(None, 91, False), ("7d", 8, False), ("1w", 6, True)])
def test_it_lasts_as_long_as_the_policy_says(
    tmp_path: Path, tools: LoggedTools, longest: str | None, days: int, is_given: bool
) -> None:
    policy = {**ASK, **({"standing": {"longest": longest}} if longest else {})}
    with opened(tmp_path, tools, policy=policy) as agent:
        run = given(agent, None, {**ANY, "until": in_days(days)})

        assert (run.status == "succeeded") is is_given
        if not is_given:
            assert "standing.until may be" in run.request["error"] and tools.calls == []


def test_a_later_end_than_the_policy_has_it_lets_nothing_through(tmp_path: Path, tools: LoggedTools) -> None:
    """Whoever writes the row of an approval by another door puts its end off for nothing."""

    async def put_off(use: StandingUse) -> None:
        ledger = open_ledger(tmp_path / "runs.db")
        forged = use.approval._replace(id="forged", until=use.approval.given_at + 91 * 86_400)
        await ledger.write((await ledger.runs())[0], [], after=0, given=[forged])
        await ledger.close()

    with opened(tmp_path, tools) as agent:
        given(agent, None, {**ANY, "at_most": 1})
        asyncio.run(put_off(agent.approvals()[0]))

        assert agent.start("h", plan=chain(30)).status == "succeeded"
        assert agent.start("h", plan=chain(30)).status == "waiting"


def test_each_run_that_it_touches_names_it_in_python_in_a_notebook_and_in_a_chat(
    tmp_path: Path, tools: LoggedTools
) -> None:
    with opened(tmp_path, tools) as agent:
        first = agent.resume(agent.start("g", plan=chain(10, 20, 30)).id, approve(**{**LATER, "at_most": 9}))
        run = agent.start("h", plan=chain(40))
        (use,) = agent.approvals()

    assert [len(use.calls) for use in (*first.standing, *run.standing)] == [2, 1]
    (line,) = run.approved_ahead
    assert line.startswith("1 call of pay approved ahead by os:") and line.endswith(
        f"(standing approval {use.approval.id})"
    )
    bundle = run._repr_mimebundle_()
    assert line in bundle["text/plain"] and use.approval.id in bundle["text/html"]
    own = [tools.tool("pay", effect="external", trusted=True)]
    graph = build_graph(planner=ScriptedModel([]), tools=own, policy=ASK, approval="never", ledger=tmp_path / "runs.db")
    ended = graph.invoke({"goal": "i", "plan": chain(40)}, {"configurable": {"thread_id": "chat"}})
    assert use.approval.id in ended["messages"][-1].content


def test_whom_nobody_knows_gives_one_for_the_run_alone_through_the_compiled_graph(
    tmp_path: Path, tools: LoggedTools
) -> None:
    own = [tools.tool("pay", effect="external", trusted=True)]
    graph = build_graph(
        planner=ScriptedModel([]), tools=own, policy=ASK, approval="never", ledger=tmp_path / "runs.db",
        checkpointer=InMemorySaver(),
    )  # fmt: skip

    def sent(thread: str, given: Any) -> Any:
        with invoked_by(Caller(thread, by=NOBODY)):
            return graph.invoke(given, {"configurable": {"thread_id": thread}})

    sent("t", {"goal": "g", "plan": chain(10, 10)})
    refused = sent("t", Command(resume=approve(**LATER)))["__interrupt__"][0].value
    assert "it is not known who answers" in refused["error"] and tools.calls == []
    assert sent("t", Command(resume=approve(at_most=5)))["status"] == "succeeded"
    assert "__interrupt__" in sent("u", {"goal": "g", "plan": chain(10)}) and len(tools.calls) == 2


ASKED = {"id": "q", "objective": "know whom to pay", "ask": "Whom?"}


def test_what_another_person_gave_a_run_is_not_covered_by_the_consent_of_who_asked_for_it(
    tmp_path: Path, tools: LoggedTools
) -> None:
    plan = {"steps": [ASKED, step("s", "pay", after=["q"], to="{q_result}", amount=5)]}
    with opened(tmp_path, tools, **SURE) as agent:
        given(agent, ADA, asked_by=ADA)
        by_bob, by_ada = (agent.start("h", plan=plan, by=ADA) for _ in range(2))

        by_bob = agent.resume(by_bob.id, by_bob.decide(answers={"q": "bob"}), by=BOB)
        by_ada = agent.resume(by_ada.id, by_ada.decide(answers={"q": "ann"}), by=ADA)

    assert shown(by_bob) == {"to": "bob", "amount": 5} and by_ada.status == "succeeded"


def test_what_a_model_writes_after_the_words_of_another_person_is_not_covered_either(
    tmp_path: Path, tools: LoggedTools
) -> None:
    narrow = {**ANY, "args": {"to": {"pattern": ".*"}, "amount": {"below": 100}}}
    planner = ScriptedModel([chain(20, to="bob")])
    with opened(tmp_path, tools, planner=planner, **SURE) as agent:
        given(agent, ADA, narrow, asked_by=ADA)
        run = agent.start("h", plan=chain(150), by=ADA)

        run = agent.resume(run.id, run.decide(feedback="send it to bob"), by=BOB)

    assert shown(run) == {"to": "bob", "amount": 20} and len(tools.named("pay")) == 1


def test_what_a_model_writes_after_the_answer_of_another_person_is_not_covered_either(
    tmp_path: Path, tools: LoggedTools
) -> None:
    plan = {"steps": [ASKED, step("f", "fail", after=["q"], to="{q_result}")]}

    def fail() -> None:
        raise ValueError("not today")

    own = [tools.tool("pay", effect="external", trusted=True), tools.tool("fail", fail, effect="read", trusted=True)]
    revised = {"steps": [step("s", "pay", to="bob", amount=5)]}
    options: dict[str, Any] = {"policy": ASK, "approval": "never", "planner": ScriptedModel([revised]), "tools": own}
    with Agent.open(tmp_path / "runs.db", **options, **SURE) as agent:
        given(agent, ADA, asked_by=ADA)
        run = agent.start("h", plan=plan, by=ADA)

        run = agent.resume(run.id, run.decide(answers={"q": "bob"}), by=BOB)

    assert shown(run) == {"to": "bob", "amount": 5}
