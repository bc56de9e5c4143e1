"""Responses that the ledger keeps: one counts, it is carried out once, and only if it is about what is asked."""

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from planner_executor import AsyncAgent
from planner_executor.graph.errors import InputError, MissingRunError, NothingToDecideError
from planner_executor.graph.ledger.lease import Pace
from planner_executor.graph.nodes.run.review_clock import settle
from planner_executor.graph.record.events import Content, Draft, ResponseGiven
from planner_executor.graph.record.person import Approver, Person
from planner_executor.graph.record.projection import project
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.values import keep_anything
from planner_executor.graph.review.request_json import digest_of_request
from planner_executor.graph.review.response import ReviewResponse, build_response
from planner_executor.graph.runs.run import Run
from planner_executor.graph.runs.runs import open_runs
from planner_executor.graph.runs.stored_responses import open_request, store_response
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step
from planner_executor.graph.work.continuing import BySession
from planner_executor.graph.work.worker import Worker

PLAN = {"steps": [step("pay", "pay", to="ann")]}
OTHER = {"steps": [step("pay", "pay", to="bob")]}
ADA, BOB = (Approver(f"{name}@example.org", "server", ("finance",)) for name in ("ada", "bob"))
EVE = Approver("eve", "server", ("finance",))
RUN = RunKey("t", 1)
AT_ONCE = Pace(beat_s=0.0, lease_s=0.0, look_s=0.0)


class House:
    """Agents and workers over one file."""

    def __init__(self, folder: Path, tools: LoggedTools) -> None:
        self.path, self.tools = folder / "runs.db", tools

    def agent(self, *plans: Any, **options: Any) -> AsyncAgent:
        own = [self.tools.tool("pay", effect="external", trusted=True)]
        return AsyncAgent.open(self.path, **{"planner": ScriptedModel(plans), "tools": own, **options})

    async def start(self, **options: Any) -> None:
        async with self.agent(**options) as agent:
            await agent.start("g", plan=PLAN, thread=RUN.thread, by=Person("eve"))

    async def respond(self, by: Approver = ADA, digest: str | None = None, **says: Any) -> None:
        async with open_runs(self.path) as runs:
            events = await runs.ledger.events(RUN)
            request = await open_request(runs.ledger, project(events))
            assert request is not None
            made = build_response(request, ReviewResponse(**(says or {"approve": True})))
            await store_response(runs, RUN, {**made, "digest": digest or made["digest"]}, by)

    async def work(self, *plans: Any, **options: Any) -> list[str]:
        lines: list[str] = []
        async with self.agent(*plans, **options) as agent, asyncio.timeout(60):
            session = BySession(await agent._open.get())
            await Worker(agent.runs, session, lambda report: lines.append(report.line()), pace=AT_ONCE).run(once=True)
        return lines

    async def show(self) -> Run:
        async with self.agent() as agent:
            return await agent.show(RUN.id)

    async def events(self, kind: str) -> list[Mapping[str, Any]]:
        async with open_runs(self.path) as runs:
            return [event.payload for event in (await runs.log(RUN)).events if event.kind == kind]


@pytest.fixture
def house(tmp_path: Path, tools: LoggedTools) -> House:
    return House(tmp_path, tools)


async def test_a_worker_carries_out_what_was_decided_elsewhere_in_the_name_of_who_decided(house: House) -> None:
    await house.start()
    assert await house.work() == []  # nobody has decided
    await house.respond()
    assert (await house.show()).status == "paused"
    lines = await house.work()
    assert await house.work() == []
    assert (await house.events("decided"))[-1]["approver"] == str(ADA)
    async with house.agent() as agent:
        assert (await agent.replay(RUN.id)).is_same
    assert lines[-1] == "t.1 succeeded: 1 of 1 steps succeeded"
    assert house.tools.named("pay") == [{"to": "ann"}]


async def test_the_owner_takes_it_up_when_the_run_is_resumed_without_a_decision(house: House) -> None:
    await house.start()
    await house.respond()
    async with house.agent() as agent:
        assert (await agent.resume(RUN.id)).status == "succeeded" and len(house.tools.calls) == 1


@pytest.mark.parametrize("second", ["stored", "direct"])
async def test_of_two_who_respond_the_first_counts_and_the_other_learns_who(house: House, second: str) -> None:
    await house.start()
    await house.respond(stop=True)
    with pytest.raises(NothingToDecideError, match=r"ada@example\.org has responded already"):
        if second == "direct":
            async with house.agent() as agent:
                await agent.resume(RUN.id, "approve", by=Person("bob"))
        else:
            async with open_runs(house.path) as runs:
                digest = (await house.events("response_given"))[-1]["digest"]
                await store_response(runs, RUN, {"decisions": [{"type": "approve"}], "digest": digest}, BOB)
    await house.work()
    assert (await house.show()).status == "rejected"
    assert house.tools.calls == []


async def test_a_response_about_something_else_than_what_is_asked_is_refused(house: House) -> None:
    await house.start()
    with pytest.raises(NothingToDecideError):
        await house.respond(digest="0" * 64)
    assert (await house.show()).status == "waiting"


async def test_a_response_to_a_run_that_waits_no_more_is_refused(house: House) -> None:
    await house.start()
    async with open_runs(house.path) as runs:
        request = await open_request(runs.ledger, project(await runs.ledger.events(RUN)))
        assert request is not None
        response = build_response(request, ReviewResponse(approve=True))
        async with house.agent() as agent:
            assert (await agent.resume(RUN.id, "approve", by=Person("bob"))).status == "succeeded"
        with pytest.raises(NothingToDecideError, match=r"claimed:bob has decided already \(approve\)"):
            await store_response(runs, RUN, response, ADA)
        async with house.agent() as agent:
            assert (await agent.start("more", plan=OTHER, thread=RUN.thread)).status == "waiting"
        with pytest.raises(InputError, match=r"run: t\.2 has taken the thread of t\.1 since"):
            await store_response(runs, RUN, response, ADA)
        with pytest.raises(MissingRunError, match=r"nowhere\.1 is not in the ledger"):
            await store_response(runs, RunKey("nowhere", 1), response, ADA)


async def test_a_response_that_comes_to_nothing_is_refused_on_record_and_the_request_waits_again(house: House) -> None:
    await house.start()
    await house.respond(approve=True, plan={"steps": [step("pay", "pay"), step("more", "nothing")]})
    await house.work()
    asked = (await house.events("review_requested"))[-2]
    assert asked["approver"] == str(ADA) and "nothing" in asked["error"]
    await house.respond(BOB)
    await house.work()
    async with house.agent() as agent:
        assert (await agent.replay(RUN.id)).is_same
    assert (await house.show()).status == "succeeded" and len(house.tools.calls) == 1


async def test_each_of_a_quorum_is_taken_up_before_the_next_responds(house: House) -> None:
    two = {"policy": {"approvers": {"tools": {"pay": {"quorum": 2}}}}, "identity": lambda person: person}

    await house.start(**two)
    for one in (ADA, BOB):
        await house.respond(one)
        await house.work(**two)
    assert (await house.events("decided"))[-1]["voters"] == [str(ADA), str(BOB)]
    async with house.agent(**two) as agent:
        assert (await agent.replay(RUN.id)).is_same
    assert len(house.tools.calls) == 1


async def test_words_for_the_planner_are_taken_up_too(house: House) -> None:
    await house.start()
    await house.respond(feedback="pay bob")
    await house.work(OTHER)
    run = await house.show()
    assert run.status == "waiting" and run.plan is not None and run.plan.by_id["pay"].args == {"to": "bob"}


async def test_steering_closes_a_request_with_the_response_to_it(house: House) -> None:
    await house.start()
    await house.respond()
    async with house.agent(OTHER) as agent:
        await agent.steer(RUN.id, add=["pay bob"])
    await house.work(OTHER)
    assert (await house.show()).status == "waiting"
    assert house.tools.calls == []


async def test_a_server_that_is_asked_to_continue_takes_it_up(house: House) -> None:
    await house.start()
    await house.respond()
    async with house.agent() as agent:
        graph: Any = (await agent._open.get()).graph
        state = await graph.ainvoke(
            {"operation": "continue", "run": RUN.id}, {"configurable": {"thread_id": RUN.thread}}
        )
    assert str(state["status"]) == "succeeded" and len(house.tools.calls) == 1


def test_a_process_that_dies_with_the_decision_on_record_and_no_checkpoint_does_nothing_twice(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def dies(*_: Any) -> None:
        raise OSError("the process died")

    async def main() -> str:
        await house.start()
        await house.respond()
        async with house.agent() as agent:
            graph: Any = (await agent._open.get()).graph
            with monkeypatch.context() as patch:
                patch.setattr(graph.checkpointer, "aput", dies)
                with pytest.raises(OSError, match="died"):
                    await agent.resume(RUN.id)
        assert len(await house.events("decided")) == 1
        await house.work()
        return (await house.show()).status

    assert asyncio.run(main()) == "succeeded" and len(house.tools.calls) == 1
    assert len(asyncio.run(house.events("decided"))) == 1


@pytest.mark.parametrize("edit", [None, {"steps": [step("pay", "pay"), step("more", "nothing")]}])
async def test_the_ledger_has_the_request_as_it_was_shown(house: House, edit: Any) -> None:
    asks = {"steps": [*PLAN["steps"], {"id": "who", "objective": "whom?", "ask": "Whom?", "output": {"enum": ["a"]}}]}

    async with house.agent() as agent:
        run = await agent.start("g", plan=asks, thread=RUN.thread)
        if edit is not None:
            run = await agent.resume(RUN.id, run.decide(plan=edit, answers={"who": "a"}))
        log = await agent.log(RUN.id)
        kept = await open_request(agent.runs.ledger, project(log.events))
    assert run.request is not None and kept is not None
    shown, kept = (run.request, kept)
    assert kept == {name: shown[name] for name in kept} and digest_of_request(kept) == digest_of_request(shown)
    assert bool(kept["error"]) == (edit is not None)


async def test_a_response_that_was_given_in_time_counts_however_late_it_is_taken_up_and_a_later_one_does_not(
    house: House,
) -> None:
    rules = {"policy": {"approvers": {"roles": ["finance"], "decide_within": "1h"}}, "identity": lambda person: person}

    await house.start(**rules)
    await house.respond()
    async with open_runs(house.path) as runs:
        later = time.time() + 7_200
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(runs.ledger), "now", lambda _: at(later))
            assert await settle(runs.ledger, RUN) == ()
            async with house.agent(**rules) as agent:
                assert (await agent.resume(RUN.id)).status == "succeeded"
    assert len(house.tools.calls) == 1


def test_a_response_after_the_time_of_its_request_is_refused_on_record(house: House) -> None:
    rules = {"policy": {"approvers": {"roles": ["finance"], "decide_within": "1h"}}, "identity": lambda person: person}

    async def main() -> list[Mapping[str, Any]]:
        await house.start(**rules)
        async with open_runs(house.path) as runs:
            later = time.time() + 7_200
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(type(runs.ledger), "now", lambda _: at(later))
                with pytest.raises(NothingToDecideError, match="too late"):
                    await house.respond()
        return await house.events("late_answer")

    assert [late["approver"] for late in asyncio.run(main())] == [str(ADA)]
    assert house.tools.calls == []


async def at(moment: float) -> float:
    return moment


async def test_a_response_of_one_who_may_not_decide_is_refused_on_record_when_it_comes_and_blocks_nobody(
    house: House,
) -> None:
    rules = {"approvers": {"tools": {"pay": {"roles": ["finance"], "four_eyes": True}}}}
    await house.start(policy=rules, identity=lambda by: by)
    others = (Approver("kim@example.org", "server"), Approver("ada@example.org", "claimed"), EVE)
    for by in others:
        with pytest.raises(InputError, match="the role finance"):
            await house.respond(by)
    refused = [(one["approver"], "the role finance" in one["error"]) for one in await house.events("late_answer")]
    assert refused == [(str(by), True) for by in others]
    assert (await house.show()).status == "waiting" and await house.events("response_given") == []
    await house.respond(BOB)
    assert (await house.work(policy=rules))[-1] == "t.1 succeeded: 1 of 1 steps succeeded"
    async with house.agent(policy=rules, identity=lambda by: by) as agent:
        assert (await agent.replay(RUN.id)).is_same
    assert len(house.tools.calls) == 1


RULES: dict[str, Any] = {
    "policy": {"approvers": {"tools": {"pay": {"names": ["bob@example.org"]}}}}, "identity": lambda by: by
}  # fmt: skip


async def store_an_old_response(house: House) -> None:
    """Put the response of one who may not decide on record, as an earlier release did."""
    await house.start(**RULES)
    async with open_runs(house.path) as runs:
        events = await runs.ledger.events(RUN)
        request = await open_request(runs.ledger, project(events))
        assert request is not None
        kept = keep_anything(build_response(request, ReviewResponse(approve=True)))
        shown, content = digest_of_request(request), Content.of(kept)
        eve = ResponseGiven(request=1, digest=shown, response=content, approver=str(EVE), roles=EVE.roles)
        async with runs.ledger.owned(RUN) as lease:
            await runs.ledger.append(lease, [Draft(eve)], artifacts=[kept])


def test_a_response_on_record_of_one_who_may_not_decide_blocks_nobody(house: House) -> None:
    async def main() -> str:
        await store_an_old_response(house)
        await house.respond(BOB)
        return (await house.work(**RULES))[-1]

    assert asyncio.run(main()) == "t.1 succeeded: 1 of 1 steps succeeded"
    assert len(house.tools.calls) == 1 and asyncio.run(house.events("decided"))[0]["approver"] == str(BOB)


def test_nor_does_it_block_who_decides_directly(house: House) -> None:
    async def main() -> tuple[str, str]:
        await store_an_old_response(house)
        async with house.agent(**RULES) as agent:
            refused = await agent.resume(RUN.id, "approve", by=Person("eve", proof=True))
            decided = await agent.resume(RUN.id, "approve", by=Person("bob@example.org", proof=True))
        return refused.status, decided.status

    assert asyncio.run(main()) == ("waiting", "succeeded")
    assert [one["approver"] for one in asyncio.run(house.events("decided"))] == [str(BOB)]
