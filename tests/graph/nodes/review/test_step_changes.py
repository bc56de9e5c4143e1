"""Changes of single steps that come with the state: words of a chat, or data."""

from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from run_in_memory import planned, run_in_memory

from planner_executor.graph.nodes.review.step_changes import change_in_words, take_changes
from planner_executor.graph.policy.approver_rule import ApproverRule
from planner_executor.graph.policy.approvers import Approvers
from planner_executor.graph.policy.policy import Policy
from planner_executor.graph.record.events import RunStarted
from planner_executor.graph.review.step_change import Skip, Supply
from planner_executor.graph.testing import drafted, step

PLAN = planned({"steps": [step("look", "read"), step("mail", "send"), step("note", "send")]})
LARGE = "x" * 100_000
NOT_NEEDED = {"skip": {"mail": "not needed"}}


@pytest.mark.parametrize(
    ("words", "change"),
    [
        ("skip fax", Skip("fax")),
        ("SKIP  fax : sent by\nhand ", Skip("fax", "sent by\nhand")),
        ("supply price = 9", Supply("price", 9)),
        ('Supply price={"eur": 9}', Supply("price", {"eur": 9})),
        ("supply price = nine euros", Supply("price", "nine euros")),
        ("skip", None),
        ("skip 2", None),
        ("skip fax please", None),
        ("please skip fax", None),
        ("supply price", None),
        ("supply price =", None),
    ],
)
def test_a_message_that_is_a_command_changes_a_step_and_no_other_does(words: str, change: Any) -> None:
    assert change_in_words({"messages": [HumanMessage("goal"), HumanMessage(words)]}) == change


@pytest.mark.parametrize("state", [{}, {"messages": None}, {"messages": [HumanMessage("skip fax"), AIMessage("done")]}])
def test_without_words_of_the_user_nothing_changes(state: dict[str, Any]) -> None:
    assert change_in_words(state) is None


async def taken(state: Any, *before: Any, words: bool = False, **settings: Any) -> list[tuple[str, str | None]]:
    """Return the kind and step of each event that a state leads to, taken twice."""

    async with run_in_memory(PLAN, *before, **settings) as run:
        known = run.record.seq
        for _ in range(2):
            await take_changes(run, state, **({"words": True} if words else {}))
            run.record.checkpoints.clear()
        return [(event.kind, event.step) for event in await run.ledger.events(run.key, known)]


def chat(words: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(words)]}


@pytest.mark.parametrize(
    ("state", "changed"),
    [
        ({"changes": {**NOT_NEEDED, "supply": {"look": 1}}}, [("step_skipped", "mail"), ("result_supplied", "look")]),
        ({"changes": NOT_NEEDED, "messages": None}, [("step_skipped", "mail")]),
        ({"changes": None}, []),
        ({}, []),
        (chat("skip mail"), []),
    ],
    ids=["both", "one", "none", "an empty state", "words that are not asked for"],
)
async def test_the_changes_of_a_state_are_written_once(state: Any, changed: list[Any]) -> None:
    assert await taken(state) == changed


@pytest.mark.parametrize(
    ("state", "changed"),
    [
        (chat("skip mail"), [("step_skipped", "mail")]),
        ({**chat("supply look = 1"), "changes": NOT_NEEDED}, [("step_skipped", "mail"), ("result_supplied", "look")]),
        (chat("g"), []),
        (chat("go on"), []),
        ({}, []),
    ],
    ids=["a command", "beside data", "the goal", "other words", "no words"],
)
async def test_the_words_of_a_chat_are_one_more_change(state: Any, changed: list[Any]) -> None:
    assert await taken(state, words=True) == changed


async def test_a_goal_that_reads_like_a_command_is_the_goal() -> None:
    async with run_in_memory(PLAN) as run:
        run.record.assignment = replace(run.record.assignment, started=RunStarted(goal="skip mail"))
        await take_changes(run, chat("skip mail"), words=True)
        assert len(await run.ledger.events(run.key)) == 2


async def test_a_change_that_is_made_already_is_left_out_and_the_others_are_not() -> None:
    made = drafted("step_skipped", {"why": "not needed"}, "mail")

    assert await taken({"changes": NOT_NEEDED, **chat("skip note")}, made, words=True) == [("step_skipped", "note")]


@pytest.mark.parametrize("case", ["here before", "ended"])
async def test_nothing_changes_at_a_checkpoint_that_was_worked_at_or_after_the_end(case: str) -> None:
    before = [drafted("run_ended")] if case == "ended" else []
    async with run_in_memory(PLAN, *before) as run:
        run.record.checkpoints |= {run.checkpoint} if case == "here before" else set()
        await take_changes(run, {"changes": {"supply": {"look": 1}}})
        assert len(await run.ledger.events(run.key)) == 2 + len(before)


async def test_a_large_result_is_kept_beside_its_event() -> None:
    async with run_in_memory(PLAN) as run:
        await take_changes(run, {"changes": {"supply": {"look": LARGE}}})
        artifact = run.record.steps.results["look"].artifact
        assert (await run.ledger.artifact(artifact["id"]) if artifact else "") == f'"{LARGE}"'


async def test_a_result_is_taken_from_anybody_with_the_rules_on_people_that_they_met() -> None:
    policy = Policy(approvers=Approvers(ApproverRule(names=("server:ada",))))

    async with run_in_memory(PLAN, policy=policy) as run:
        await take_changes(run, {"changes": {"supply": {"mail": 1}}})
        assert run.record.people.values["step mail"].met == {"send": ()}
    assert await taken({"changes": NOT_NEEDED}, policy=policy) == [("step_skipped", "mail")]
