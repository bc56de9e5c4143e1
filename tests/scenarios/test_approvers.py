"""Who decides: names, roles, four eyes and quorums of the policy, and the attempts to get round them."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.types import Command

from planner_executor import Agent, AsyncAgent, Person
from planner_executor.graph.caller import Caller, invoked_by
from planner_executor.graph.errors import DecisionRefusedError, InputError, NothingToDecideError
from planner_executor.graph.runs.run import Run
from planner_executor.graph.testing import LoggedTools, ScriptedModel, on_thread, step

PAY = {"steps": [step("a", "pay", to="ann", amount=150)]}
OTHER = {"steps": [step("a", "pay", to="ann", amount=90)]}
TWO = {"tools": {"pay": {"roles": ["finance"], "quorum": 2}}}
EYES = {"tools": {"pay": {"roles": ["finance"], "four_eyes": True}}}
ADA, BOB, CY = (Person(f"{name}@example.org", ["finance"], proof="token") for name in ("ada", "bob", "cy"))
EVE = Person("eve@example.org", ["guest"], proof="token")
APPROVE = {"type": "approve"}


def verified(by: Person | None) -> Person | None:
    """Stand in for the token check of a service."""
    return by if by is not None and by.proof == "token" else None


@pytest.fixture
def agent(database: str, tools: LoggedTools) -> Iterator[Callable[..., Agent]]:
    opened: list[Agent] = []

    def made(approvers: Any, *plans: Any, **policy: Any) -> Agent:
        own = [tools.tool("pay", effect="external", trusted=True), tools.tool("look", effect="read", trusted=True)]
        rules = {"approvers": approvers, **policy}
        opened.append(
            Agent.open(
                database,
                planner=ScriptedModel(plans),
                tools=own,
                policy=rules,
                identity=verified,
                budget={"tool_calls": 3},
            )
        )
        return opened[-1]

    yield made
    for one in opened:
        one.close()


def error(run: Run) -> str:
    return str(run.request["error"]) if run.request else ""


def asks(run: Run) -> str:
    return str(run.request["action_requests"][0]["name"]) if run.request else ""


def events(agent: Agent, run: Run, kind: str) -> list[Any]:
    return [event.payload for event in agent.log(run.id) if event.kind == kind]


def test_two_of_a_role_approve_and_the_decision_names_both(agent: Callable[..., Agent], tools: LoggedTools) -> None:
    own = agent(TWO)
    run = own.start("g", plan=PAY, by=EVE)

    voted = own.resume(run.id, APPROVE, by=ADA)
    assert voted.status == "waiting" and tools.calls == []
    assert "server:ada@example.org" in voted.request["action_requests"][0]["description"]  # type: ignore[index]

    assert own.resume(run.id, APPROVE, by=BOB).status == "succeeded"
    assert events(own, run, "decided")[-1]["voters"] == ["server:ada@example.org", "server:bob@example.org"]
    assert events(own, run, "voted")[0]["missing"].startswith("1 of 2 approvals")
    assert own.replay(run.id).is_same


@pytest.mark.parametrize(
    ("by", "why"),
    [
        (EVE, "may not decide this"),
        (Person("ada@example.org", ["finance"]), "only claimed"),
        (None, "may not decide this"),
    ],
)
def test_who_may_not_decide_is_refused_on_record_and_the_request_stays_open(
    agent: Callable[..., Agent], tools: LoggedTools, by: Any, why: str
) -> None:
    own = agent(TWO)
    run = own.start("g", plan=PAY, by=CY)

    for decision in (APPROVE, {"type": "reject"}, {"type": "reject", "message": "another way"}):
        refused = own.resume(run.id, decision, by=by)
        assert why in error(refused) and refused.status == "waiting" and tools.calls == []
    asked = [shown for shown in events(own, run, "review_requested") if "approver" in shown][-1]
    assert why in asked["error"] and asked["approver"].split(":")[0] in ("server", "claimed", "os")
    assert own.replay(run.id).is_same


def test_a_vote_that_counts_is_not_recorded_as_the_refused_answer_before_it(agent: Callable[..., Agent]) -> None:
    own = agent(TWO)
    run = own.start("g", plan=PAY, by=CY)
    for refused, by in ((APPROVE, EVE), ({"type": "edit"}, BOB)):
        assert error(own.resume(run.id, refused, by=by))

    voted = own.resume(run.id, APPROVE, by=ADA)

    assert voted.request is not None and voted.request["error"] is None and voted.request["issues"] == []
    last = events(own, run, "review_requested")[-1]
    assert (last["error"], last.get("approver")) == (None, None)
    assert own.resume(run.id, APPROVE, by=BOB).status == "succeeded" and own.replay(run.id).is_same


def opened(file: Path, tools: LoggedTools, approvers: Any = None) -> AsyncAgent:
    own, rules = [tools.tool("pay", effect="external", trusted=True)], {"approvers": approvers} if approvers else None
    return AsyncAgent(file, planner=ScriptedModel([]), tools=own, policy=rules, identity=verified)


@pytest.mark.parametrize(
    ("decision", "status"), [(APPROVE, "succeeded"), ({"type": "reject"}, "rejected")], ids=["a vote", "a rejection"]
)
async def test_a_decision_counts_though_the_process_of_the_vote_before_died_and_nobody_was_shown_the_request_again(
    database: str, tools: LoggedTools, monkeypatch: pytest.MonkeyPatch, decision: Any, status: str
) -> None:
    async def dies(*_: Any) -> None:
        raise OSError("the process died")

    async with opened(database, tools, TWO) as one, opened(database, tools, TWO) as other:
        run = (await one.start("g", plan=PAY, by=EVE)).id
        with monkeypatch.context() as patch:
            patch.setattr((await one._open.get()).graph.checkpointer, "aput", dies)
            with pytest.raises(OSError, match="died"):
                await one.resume(run, APPROVE, by=ADA)
        assert "voted" in [event.kind for event in await other.log(run)]

        assert (await other.resume(run, decision, by=BOB)).status == status
        assert (await other.replay(run)).is_same
    assert len(tools.calls) == (status == "succeeded")


async def test_who_answers_a_request_that_somebody_else_has_just_decided_is_told_so(
    database: str, tools: LoggedTools
) -> None:
    async with opened(database, tools) as one, opened(database, tools) as other:
        seen = await other.show((await one.start("g", plan=PAY, by=EVE)).id)
        await one.resume(seen.id, APPROVE, by=ADA)
        session = await other._open.get()
        with pytest.raises(NothingToDecideError, match=r"server:ada@example\.org has decided already"):
            await session.resume(seen, {"type": "reject"}, False, None, BOB)


def test_one_person_twice_is_no_quorum_however_the_name_is_written(
    agent: Callable[..., Agent], tools: LoggedTools
) -> None:
    own = agent(TWO)
    run = own.start("g", plan=PAY, by=EVE)

    for name in ("ada@example.org", "Ada@Example.org"):
        run = own.resume(run.id, APPROVE, by=Person(name, ["finance"], proof="token"))

    assert run.status == "waiting" and tools.calls == []


async def test_two_who_vote_at_once_both_count(database: str, tools: LoggedTools) -> None:
    async with opened(database, tools, TWO) as one, opened(database, tools, TWO) as other:
        run = (await one.start("g", plan=PAY, by=EVE)).id
        await other.show(run)
        both = (one.resume(run, APPROVE, by=ADA), other.resume(run, APPROVE, by=BOB))
        await asyncio.gather(*both, return_exceptions=True)  # one may find the run owned by the other
        for person in (ADA, BOB) * 2:
            log = await one.log(run)
            counted = {event.payload["approver"] for event in log if event.kind in ("voted", "decided")}
            if f"server:{person.name}" not in counted:
                await one.resume(run, APPROVE, by=person)
        await one.resume(run)
        kinds = [event.kind for event in await one.log(run)]

        assert (await one.show(run)).status == "succeeded" and len(tools.calls) == 1
        assert (kinds.count("voted"), kinds.count("decided")) == (1, 1)
        assert (await one.replay(run)).is_same


async def test_a_vote_that_is_overtaken_by_the_decision_starts_no_run_of_its_own(
    database: str, tools: LoggedTools
) -> None:
    async with opened(database, tools, TWO) as one, opened(database, tools, TWO) as other:
        run = await one.start("g", plan=PAY, by=EVE)
        session = await one._open.get()
        approve, config = {"decisions": [{"type": "approve"}]}, on_thread(run.thread)
        with invoked_by(Caller.facade(run.thread, by=session.acts(ADA))):
            nodes = session.graph.astream(Command(resume=approve), config, stream_mode="updates", durability="sync")
            await anext(nodes)  # the vote is on record, and the next node has not begun
        await other.resume(run.id, APPROVE, by=BOB)
        async for _ in nodes:
            pass

        assert [key.id for key in await one.runs.ledger.runs()] == [run.id]
        assert (await one.show(run.id)).status == "succeeded" and len(tools.calls) == 1
        assert (await one.replay(run.id)).is_same


@pytest.mark.parametrize("first", ["approve", None])
def test_one_rejection_decides(agent: Callable[..., Agent], tools: LoggedTools, first: Any) -> None:
    own = agent(TWO)
    run = own.start("g", plan=PAY, by=EVE)
    if first:
        own.resume(run.id, APPROVE, by=ADA)

    assert own.resume(run.id, {"type": "reject"}, by=BOB).status == "rejected" and tools.calls == []


def test_what_was_given_before_anybody_looked_counts_for_nothing(
    agent: Callable[..., Agent], tools: LoggedTools
) -> None:
    own = agent(TWO)
    run = own.start("g", plan=PAY, by=EVE)

    run = own.resume(run.id, APPROVE, by=ADA, unseen=True)

    assert "given in advance" in error(run) and events(own, run, "voted") == [] and tools.calls == []


def test_under_four_eyes_whoever_asked_does_not_approve(agent: Callable[..., Agent], tools: LoggedTools) -> None:
    own = agent(EYES)
    run = own.start("g", plan=PAY, by=ADA)

    assert "asked for this" in error(own.resume(run.id, APPROVE, by=ADA)) and tools.calls == []
    assert own.resume(run.id, APPROVE, by=BOB).status == "succeeded"


def test_if_it_is_not_verified_who_asked_four_eyes_take_two_people(
    agent: Callable[..., Agent], tools: LoggedTools
) -> None:
    own = agent(EYES)
    run = own.start("g", plan=PAY, by=Person("nobody@example.org"))

    run = own.resume(run.id, APPROVE, by=ADA)
    assert run.status == "waiting" and tools.calls == []
    assert own.resume(run.id, APPROVE, by=BOB).status == "succeeded"


@pytest.mark.parametrize("rule", [EYES, TWO])
def test_an_edit_is_a_proposal_with_a_digest_of_its_own_and_its_author_asked(
    agent: Callable[..., Agent], tools: LoggedTools, rule: Any
) -> None:
    own = agent(rule)
    run = own.start("g", plan=PAY, by=EVE)
    before = run.request["digest"]  # type: ignore[index]

    run = own.resume(run.id, OTHER, by=ADA)
    assert run.request is not None and run.request["digest"] != before and tools.calls == []
    assert run.plan is not None and run.plan.steps[0].args["amount"] == 90
    if rule is EYES:
        assert "asked for this" in error(own.resume(run.id, APPROVE, by=ADA))
    own.resume(run.id, APPROVE, by=CY)
    run = own.resume(run.id, APPROVE, by=BOB) if rule is TWO else own.show(run.id)

    assert run.status == "succeeded" and tools.named("pay") == [{"to": "ann", "amount": 90}]
    assert own.replay(run.id).is_same


@pytest.mark.parametrize("rule", [{"quorum": 2}, {"four_eyes": True}])
def test_a_plan_from_which_one_person_has_a_step_dropped_is_put_to_others(
    agent: Callable[..., Agent], tools: LoggedTools, rule: Any
) -> None:
    check, pay = step("check", "look"), step("a", "pay", after=["check"], to="ann", amount=150)
    then = step("b", "pay", after=["a"], to="bob", amount=9)
    own = agent(rule, {"steps": [pay, then, check]}, {"steps": [pay, check]}, tools={"look": {"verdict": "ask"}})
    run = own.start("g", by=EVE)
    for by in (ADA, BOB):
        later = {**APPROVE, "ask_later": ["check"]}
        run = own.resume(run.id, later, by=by) if asks(run) == "run_plan" else run
    assert asks(run) == "run_step"

    run = own.steer(run.id, add=["nothing for bob"], by=CY)

    assert asks(run) == "run_plan"
    assert "asked for this" in error(own.resume(run.id, APPROVE, by=CY)) or "quorum" in rule
    assert tools.calls == []


def test_an_edit_that_changes_nothing_is_no_proposal_and_its_author_may_still_approve(
    agent: Callable[..., Agent],
) -> None:
    own = agent(EYES)
    run = own.start("g", plan=PAY, by=EVE)

    run = own.resume(run.id, PAY, by=ADA)

    assert "changes nothing" in error(run)
    assert own.resume(run.id, APPROVE, by=ADA).status == "succeeded"


def test_an_edited_call_is_shown_to_others_with_its_new_arguments(
    agent: Callable[..., Agent], tools: LoggedTools
) -> None:
    plan = {"steps": [{"id": "a", "objective": "pay", "tools": ["pay"]}]}
    from langchain_core.messages import AIMessage

    asked = AIMessage("", tool_calls=[{"name": "pay", "args": {"to": "ann", "amount": 150}, "id": "1"}])
    own = agent(EYES, asked, "done", approval="never", tools={"pay": {"verdict": "ask"}})
    run = own.start("g", plan=plan, by=EVE)
    edit = {"type": "edit", "edited_action": {"name": "run_step", "args": {"args": {"to": "ann", "amount": 9}}}}

    run = own.resume(run.id, edit, by=ADA)
    assert run.request is not None
    assert run.request["action_requests"][0]["args"]["args"] == {"to": "ann", "amount": 9} and tools.calls == []
    assert "asked for this" in error(own.resume(run.id, APPROVE, by=ADA))
    run = own.resume(run.id, APPROVE, by=BOB)

    assert run.status == "succeeded" and tools.named("pay") == [{"to": "ann", "amount": 9}]


def test_who_steers_a_run_asked_for_what_comes_of_it(agent: Callable[..., Agent], tools: LoggedTools) -> None:
    own = agent(EYES, OTHER)
    run = own.start("g", plan=PAY, by=EVE)

    run = own.steer(run.id, feedback="at most 90", by=ADA)

    assert run.plan is not None and run.plan.steps[0].args["amount"] == 90
    assert "asked for this" in error(own.resume(run.id, APPROVE, by=ADA)) and tools.calls == []
    assert own.resume(run.id, APPROVE, by=BOB).status == "succeeded"


@pytest.mark.parametrize("rejects", ["the plan", "a step of the plan", "a call"])
def test_who_rejects_with_words_asked_for_what_a_model_made_of_them(
    agent: Callable[..., Agent], tools: LoggedTools, rejects: str
) -> None:
    asks = {"approval": "never", "tools": {"pay": {"verdict": "ask"}}} if rejects == "a call" else {}
    own = agent(EYES, OTHER, **asks)
    run = own.start("g", plan=PAY, by=ADA)

    commented = {"comments": [{"step": PAY["steps"][0]["id"], "text": "at most 90"}]}
    words = commented if rejects == "a step of the plan" else {"message": "at most 90"}
    run = own.resume(run.id, {"type": "reject", **words}, by=BOB)

    assert run.plan is not None and run.plan.steps[0].args["amount"] == 90
    for by in (ADA, BOB):
        assert "asked for this" in error(own.resume(run.id, APPROVE, by=by)) and tools.calls == []
    assert [row.run for row in own.inbox(BOB)] == [] and [row.run for row in own.inbox(CY)] == [run.id]
    assert own.resume(run.id, APPROVE, by=CY).status == "succeeded"


def test_an_old_answer_is_no_vote_on_another_request(agent: Callable[..., Agent], tools: LoggedTools) -> None:
    own = agent(TWO)
    run = own.start("g", plan=PAY, by=EVE)
    answer = run.decide(approve=True)
    own.resume(run.id, answer, by=ADA)
    own.resume(run.id, OTHER, by=CY)  # a proposal: what ada approved is no longer asked

    run = own.resume(run.id, answer, by=BOB)

    assert "digest" in error(run) and events(own, run, "voted")[1:] == [] and tools.calls == []


def test_a_vote_from_a_page_of_the_same_digest_counts(agent: Callable[..., Agent], tools: LoggedTools) -> None:
    own = agent(TWO)
    run = own.start("g", plan=PAY, by=EVE)
    page = run.decide(approve=True)  # drawn before anybody voted

    own.resume(run.id, page, by=ADA)

    assert own.resume(run.id, page, by=BOB).status == "succeeded" and len(tools.calls) == 1


@pytest.mark.parametrize(
    ("rules", "cost", "is_refused"),
    [
        ({"effects": {"external": {"names": ["bob@example.org"]}}}, 5, True),
        ({"effects": {"read": {"names": ["bob@example.org"]}}}, 5, False),
        ({"cost": [{"above_usd": 10, "names": ["bob@example.org"]}]}, 5, False),
        ({"cost": [{"above_usd": 10, "names": ["bob@example.org"]}], "names": ["bob@example.org"]}, 20, True),
        ({"names": ["bob@example.org"]}, 5, True),
        ({"names": ["bob@example.org"], "tools": {"pay": {"names": ["ada@example.org"]}}}, 5, False),
        ({"names": ["bob@example.org"], "tools": {"look": {"names": ["bob@example.org"]}}}, 5, True),
    ],
)
def test_rules_are_by_tool_by_effect_and_by_cost(
    agent: Callable[..., Agent], rules: Any, cost: float, is_refused: bool
) -> None:
    own = agent(rules, limits={"cost_usd": cost}, prices={"scripted": {"input": 1, "output": 1}})
    run = own.resume(own.start("g", plan=PAY, by=EVE).id, APPROVE, by=ADA)

    assert (run.status == "waiting") is is_refused


LOOKED = {"steps": [step("a", "look", at="x"), step("b", "pay", to="ann", amount="{a_result}")]}
ONE = {"tools": {"pay": {"roles": ["finance"]}}}


@pytest.mark.parametrize("is_in_state", [False, True])
def test_a_result_that_is_given_before_the_plan_is_approved_is_approved_with_it(
    agent: Callable[..., Agent], tools: LoggedTools, is_in_state: bool
) -> None:
    own = agent(ONE)
    run = own.start("g", plan=LOOKED, by=CY)

    if is_in_state:
        said_in_a_chat(own, run, EVE)
    else:
        own.supply(run.id, "a", 4000, by=EVE)
    shown = own.resume(run.id)

    assert shown.request is not None and "server:eve@example.org gave its result" in str(shown.request)
    assert own.resume(run.id, APPROVE, by=ADA).status == "succeeded" and len(tools.calls) == 1


def said_in_a_chat(own: Agent, run: Run, by: Person) -> str:
    """Give the result in a chat, and return all that the chat says then."""

    async def chat(agent: Any) -> str:
        session = await agent._open.get()
        message = {"messages": [HumanMessage("supply a = 4000")]}
        await session.drive(message, Caller.facade(run.thread, by=session.acts(by)), None)
        state = await session.graph.aget_state({"configurable": {"thread_id": run.thread}})
        return "\n".join(one.text for one in state.values["messages"])

    agent = own._agent
    return str(own.wait_for(lambda _: chat(agent)))


@pytest.mark.parametrize(
    ("rules", "by", "is_taken"),
    [({"roles": ["finance"]}, EVE, False), ({"roles": ["finance"]}, ADA, True), ({"quorum": 2}, ADA, False)],
)
def test_a_limit_that_others_raise_is_not_raised_by_a_retry(
    agent: Callable[..., Agent], tools: LoggedTools, rules: Any, by: Person, is_taken: bool
) -> None:
    own = agent(rules)
    run = own.start("g", plan=LOOKED, by=CY)
    own.cancel(run.id)

    if is_taken:
        assert own.retry(run.id, limits={"tool_calls": 4}, by=by).status == "waiting"
        assert own.replay(run.id).is_same
    else:
        with pytest.raises(InputError, match=f"{by.name} may not do this alone; "):
            own.retry(run.id, limits={"tool_calls": 4}, by=by)
    assert len(events(own, run, "run_reopened")) == is_taken


@pytest.mark.parametrize("closes", ["skip", "cancel"])
def test_a_vote_counts_for_no_request_after_the_one_that_was_seen(
    agent: Callable[..., Agent], tools: LoggedTools, closes: str
) -> None:
    own = agent(TWO)
    run = own.start("g", plan={"steps": [*PAY["steps"], step("l", "look")]}, by=EVE)
    own.resume(run.id, APPROVE, by=ADA)
    if closes == "skip":
        own.skip(run.id, "l")
        own.resume(run.id)
    else:
        own.cancel(run.id)
        own.retry(run.id)

    run = own.resume(run.id, APPROVE, by=BOB)

    assert run.status == "waiting" and tools.calls == []
    assert [row.voters for row in own.inbox()] == [("server:bob@example.org",)]
    assert own.resume(run.id, APPROVE, by=CY).status == "succeeded" and own.replay(run.id).is_same


def test_anybody_approves_plans_and_ada_the_payments_that_are_shown(
    agent: Callable[..., Agent], tools: LoggedTools
) -> None:
    calls = {"calls": {"tools": {"pay": {"names": ["ada@example.org"]}}}}
    own = agent(calls, tools={"pay": {"ask_when": {"amount": {"above": 100}}}})
    first = step("small", "pay", to="ann", amount=40)
    plan = {"steps": [first, step("large", "pay", after=["small"], to="ann", amount=150)]}

    run = own.resume(own.start("g", plan=plan, by=EVE).id, APPROVE, by=EVE)
    assert [args["amount"] for args in tools.named("pay")] == [40] and asks(run) == "run_step"
    assert "Policy: `ada@example.org` has to approve." in run.request["action_requests"][0]["description"]
    (row,) = own.inbox(ADA)
    assert row.policy == "ada@example.org has to approve" and list(own.inbox(EVE)) == []

    assert "server:eve@example.org may not decide this" in error(own.resume(run.id, APPROVE, by=EVE))
    assert own.resume(run.id, APPROVE, by=ADA).status == "succeeded"
    assert own.replay(run.id).is_same


def test_a_refused_decision_is_told_with_whom_to_ask_and_raised_if_wished(
    agent: Callable[..., Agent], tools: LoggedTools
) -> None:
    own = agent({"names": ["ada@example.org", "bob@example.org"]})
    run = own.start("g", plan=PAY, by=EVE)

    refused = own.resume(run.id, APPROVE, by=EVE)

    assert refused.refused is not None and refused.refused == error(refused)
    assert "server:eve@example.org may not decide this; ada@example.org or bob@example.org has to" in refused.refused
    assert "planner-executor inbox --mine" in refused.refused
    for by, unseen in ((EVE, False), (Person("ada@example.org"), False), (ADA, True)):
        with pytest.raises(DecisionRefusedError) as caught:
            own.resume(run.id, APPROVE, by=by, unseen=unseen, strict=True)
        assert (caught.value.run, own.show(run.id).status) == (run.id, "waiting") and caught.value.reason
    unclear = own.resume(run.id, {"type": "perhaps"}, by=ADA, strict=True)
    assert unclear.refused is None and error(unclear), "who may decide is not refused, whatever they say"
    assert own.resume(run.id, APPROVE, by=ADA, strict=True).refused is None and len(tools.calls) == 1


async def test_a_refused_decision_is_told_by_the_asynchronous_facade_too(database: str) -> None:
    rules = {"approvers": {"names": ["ada@example.org"]}}
    pay = LoggedTools().tool("pay", effect="external", trusted=True)
    options: Any = {"planner": ScriptedModel([]), "tools": [pay], "policy": rules, "identity": verified}
    async with AsyncAgent.open(database, **options) as own:
        run = await own.start("g", plan=PAY, by=EVE)
        refused = await own.resume(run.id, APPROVE, by=EVE)
        with pytest.raises(DecisionRefusedError) as caught:
            await own.resume(run.id, APPROVE, by=EVE, strict=True)
        told, raised = (refused.refused, caught.value.reason)
    assert told == raised
