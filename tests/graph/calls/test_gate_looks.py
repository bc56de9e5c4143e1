"""The looks of planners: calls that nobody is asked about, and that may have happened once at most."""

from typing import Any

import pytest
from desk import Desk, at_desk

from planner_executor.graph.calls.caps import UNVERIFIED, Caps
from planner_executor.graph.calls.meter import LimitReached
from planner_executor.graph.calls.tool_call import Admitted, Finished
from planner_executor.graph.errors import CapReachedError
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.policy.day_limits import DayLimits
from planner_executor.graph.policy.grants import Refused
from planner_executor.graph.policy.policy import Policy, ToolRule
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.record.trust_label import PLAN, USER, TrustLabel
from planner_executor.graph.testing import LoggedTools, PassingClock
from planner_executor.tools.call_questions import CallQuestion, InputNeeded
from planner_executor.tools.errors import NothingHappened

TO_TEXT = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
READ = LoggedTools().tool("read", effect="read", schema=TO_TEXT)
SEND = LoggedTools().tool("send", schema=TO_TEXT)
STEP = Step(id="a", objective="o", tools=("send",), max_calls=9)


def raising(error: Exception, name: str = "send", **metadata: Any) -> Any:
    def work(**_: Any) -> None:
        raise error

    return LoggedTools().tool(name, work, **metadata)


async def look(
    desk: Desk, tool: str = "read", *, place: int = 1, to: Any = "x", is_tainted: bool = False, **options: Any
) -> Finished:
    """Look as the next process would."""
    gate = await desk.gate(**options)
    return await gate.look("plan:1", place, tool, {"to": to}, is_tainted=is_tainted)


@pytest.mark.parametrize(("is_tainted", "label"), [(False, USER), (True, PLAN)])
async def test_a_look_belongs_to_no_step_and_is_as_trusted_as_who_asks_for_it(
    is_tainted: bool, label: TrustLabel
) -> None:
    async with at_desk(READ) as desk:
        looks = [await look(desk, place=place, is_tainted=is_tainted) for place in (1, 2)]

        assert [(one.call.step, one.call.number, one.call.labels, one.value) for one in looks] == [
            ("", number, {"to": label}, {"to": "x"}) for number in (1, 2)
        ]
        assert [one.call.label.untrusted for one in looks] == [is_tainted] * 2
        assert await desk.kinds() == ["call_started", "call_finished"] * 2


async def test_a_look_that_is_repeated_is_answered_from_the_record() -> None:
    tools = LoggedTools()

    async with at_desk(tools.tool("read", effect="read")) as desk:
        assert [(await look(desk)).value for _ in range(2)] == [{"to": "x"}] * 2
    assert len(tools.calls) == 1


@pytest.mark.parametrize(
    ("tool", "args", "options", "why"),
    [
        ("read", {"to": 4}, {}, "to: "),
        ("read", {}, {"policy": Policy(tools={"read": ToolRule("deny")})}, "the policy denies read"),
        ("read", {}, {"policy": Policy(tools={"read": ToolRule("ask")})}, "every call of read; a plan may ask for it"),
        ("send", {"is_tainted": True}, {}, "after untrusted data was read; a plan may ask for it"),
    ],
    ids=["no such arguments", "denied", "asked about", "untrusted arguments of an effect"],
)
async def test_a_look_that_a_person_would_have_to_see_or_nobody_may_allow_is_refused(
    tool: str, args: Any, options: Any, why: str
) -> None:
    async with at_desk(READ, SEND) as desk:
        with pytest.raises(Refused) as refused:
            await look(desk, tool, **args, **options)
        assert why in str(refused.value) and await desk.kinds() == []


async def test_identical_looks_at_an_effect_and_calls_of_a_step_share_a_digest_and_others_have_none() -> None:
    async with at_desk(READ, SEND) as desk:
        called = await (await desk.gate()).admit(STEP, "send", {"to": "x"}, {})
        digests = [(await look(desk, tool)).call.same_digest for tool in ("read", "send")]
        assert isinstance(called, Admitted) and digests == ["", called.call.same_digest] and digests[1]


async def test_a_look_at_what_a_step_may_have_done_is_refused() -> None:
    async with at_desk(SEND) as desk:
        gate = await desk.gate()
        call = await gate.admit(STEP, "send", {"to": "x"}, {})
        assert isinstance(call, Admitted)
        await gate.commit([], [call])
        with pytest.raises(Refused, match="it may have happened already"):
            await look(desk, "send")
        assert (await look(desk, "send", to="y")).value == {"to": "y"}


async def test_a_look_that_was_begun_is_not_begun_again_even_if_nothing_happened() -> None:
    async with at_desk(raising(NothingHappened("busy"))) as desk:
        assert (await look(desk, "send")).result.status == "failed"
        await desk.revise(1)
        with pytest.raises(Refused, match="it may have happened already"):
            await look(desk, "send")


async def test_a_look_without_an_effect_that_was_begun_and_lost_is_made_again() -> None:
    async with at_desk(READ) as desk:
        call = (await look(desk)).call
        later = await desk.gate()
        await later.commit([], [Admitted(call, later.run.limits)])
        assert (await desk.record()).calls.by_key[call.key].result is None
        assert (await look(desk)).value == {"to": "x"}


async def test_a_look_counts_as_a_call_and_begins_no_step() -> None:
    async with at_desk(READ) as desk:
        with pytest.raises(LimitReached):
            await look(desk, budget=Budget(tool_calls=0))
        assert await desk.kinds() == []
        assert (await look(desk, budget=Budget(tool_calls=1, steps=0))).result.status == "succeeded"


async def test_a_look_that_asks_a_person_has_failed() -> None:
    asks = InputNeeded((CallQuestion("q", "Which one?", {}),), None)

    async with at_desk(raising(asks, "read", effect="read")) as desk:
        assert (await look(desk)).result.error == "it asks a person; a plan may ask for it"
        assert await desk.kinds() == ["call_started", "call_finished"]


async def test_a_look_over_a_cap_is_put_off_and_belongs_to_no_step() -> None:
    used_up = Caps(Policy(per_day=DayLimits(Budget(calls={"read": 0, "send": 0}))), UNVERIFIED)
    options: Any = {"caps": used_up, "clock": PassingClock(1_000.0).clock}

    async with at_desk(READ, SEND) as desk:
        with pytest.raises(CapReachedError):
            await look(desk, **options)
        gate = await desk.gate(**options)
        call = await gate.admit(STEP, "send", {"to": "x"}, {})
        assert isinstance(call, Admitted)
        with pytest.raises(CapReachedError):
            await gate.commit_in_turn(call)
        put_off = [event for event in await desk.ledger.events(desk.run) if event.kind == "cap_reached"]
        assert [event.step for event in put_off] == [None, "a"]
