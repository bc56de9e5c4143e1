"""What a model may call in however many conversations, and the number that each of its calls has on record."""

from typing import Any

import pytest
from desk import at_desk

from planner_executor.graph.calls.granted_calls import GrantedCalls
from planner_executor.graph.calls.owned_run import OwnedRun
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.policy.grants import Refused
from planner_executor.graph.policy.policy import Policy
from planner_executor.graph.record.call import Call, call_key
from planner_executor.graph.record.plan_state import NewEffect
from planner_executor.graph.record.run_pass import Pass
from planner_executor.graph.testing import LoggedTools

STEP = Step(id="a", objective="o", tools=("send", "read"), max_calls=2)
MANY = Step(id="a", objective="o", tools=("send", "read"), max_calls=9)
OWN = Step(id="a", objective="o", tool="send", args={"to": "{b_result}"}, depends_on=("b",))
SEND, READ = LoggedTools().tool("send"), LoggedTools().tool("read", effect="read")
Made = tuple[int, str, dict[str, Any]]
"""Number, argument and other fields of a call on record."""


def put(run: OwnedRun, *calls: Made) -> GrantedCalls:
    """Put calls of the step on record, and return what grants those of the next conversation."""
    for number, to, fields in calls:
        args, item = {"to": to}, fields.get("item")
        key = call_key(run.record.id, "a", item, number, "send", digest(args))
        given = {"repeatable": False, "within": Pass(0), "number": number, **fields}
        run.record.calls.by_key[key] = Call(key, "a", "send", args, digest(args), **given)
        run.record.calls.keys_of.setdefault("a", []).append(key)
    return GrantedCalls(run)


def asked(granted: GrantedCalls, step: Step, words: str, item: int | None = None) -> list[int | str]:
    """Return the number of each call that a conversation asks for, or that it was refused."""
    found: list[int | str] = []
    for to in words.split():
        try:
            found.append(granted.call(step, "send", {"to": to}, item).number)
        except Refused:
            found.append("refused")
    return found


@pytest.mark.parametrize(
    ("made", "words", "item", "numbers"),
    [
        ([], "x y x", None, [1, 2, 3]),
        ([(1, "y", {}), (2, "x", {})], "x z y", None, [2, 3, 1]),
        ([(1, "y", {}), (2, "x", {})], "z x y", None, [3, 2, 1]),
        ([(1, "y", {})], "z y", None, [2, 1]),
        ([(1, "x", {})], "x z", None, [1, 2]),
        ([(3, "x", {}), (2, "x", {})], "x x x", None, [2, 3, 4]),
        ([(1, "y", {"item": 0})], "z", 1, [1]),
        ([(1, "y", {"item": 0})], "z y", 0, [2, 1]),
    ],
    ids=["nothing", "known first", "new first", "one new", "known, then new", "the same twice", "an item", "its item"],
)
async def test_a_call_on_record_keeps_its_number_and_a_new_one_never_gets_that_of_another(
    made: list[Made], words: str, item: int | None, numbers: list[int]
) -> None:
    async with at_desk(SEND, READ) as desk:
        assert asked(put((await desk.gate()).run, *made), MANY, words, item) == numbers


@pytest.mark.parametrize(
    ("made", "words", "item", "numbers"),
    [
        ([], "x y z", None, [1, 2, "refused"]),
        ([(1, "x", {})], "y z", None, [2, "refused"]),
        ([(1, "x", {})], "x y z", None, [1, 2, "refused"]),
        ([(1, "x", {}), (2, "y", {})], "x y z", None, [1, 2, "refused"]),
        ([(1, "x", {}), (2, "y", {})], "z", None, ["refused"]),
        ([(1, "x", {"within": Pass(1)}), (2, "y", {"within": Pass(1)})], "z", None, [3]),
        ([(1, "x", {"repeatable": True}), (2, "y", {"repeatable": True})], "z", None, [3]),
        ([(1, "x", {"nothing_happened": True}), (2, "y", {"nothing_happened": True})], "z", None, [3]),
        ([(1, "x", {"item": 0}), (2, "y", {"item": 0})], "z", 1, [1]),
        ([(1, "x", {"item": 0}), (2, "y", {"item": 0})], "z", 0, ["refused"]),
    ],
    ids=[
        "no conversation before",
        "a call that is left out",
        "a call that is asked for again",
        "all calls that are asked for again",
        "all calls that are left out",
        "calls of another revision",
        "calls that may be repeated",
        "calls of which nothing came",
        "calls of another item",
        "calls of this item",
    ],
)
async def test_a_call_with_an_effect_that_a_conversation_before_made_counts_against_the_grant(
    made: list[Made], words: str, item: int | None, numbers: list[int | str]
) -> None:
    async with at_desk(SEND, READ) as desk:
        assert asked(put((await desk.gate()).run, *made), STEP, words, item) == numbers


async def test_a_steps_own_call_has_no_number_and_counts_none_that_were_made_with_other_arguments() -> None:
    async with at_desk(SEND, READ) as desk:
        assert asked(put((await desk.gate()).run, (0, "y", {})), OWN, "x z") == [0, "refused"]


@pytest.mark.parametrize(
    ("rule", "is_new", "numbers"),
    [("deny", True, ["refused"]), ("deny", False, [1]), ("ask", True, [1])],
    ids=["denied", "an approved plan had it", "a person is asked"],
)
async def test_a_call_that_no_approved_plan_had_is_refused_where_the_policy_denies_it(
    rule: Any, is_new: bool, numbers: list[int | str]
) -> None:
    async with at_desk(SEND, READ) as desk:
        run = (await desk.gate(policy=Policy(new_effects=rule))).run
        run.record.plan_state.effects = (NewEffect(STEP, "send", "key", "digest"),) if is_new else ()
        assert asked(GrantedCalls(run), STEP, "x") == numbers
