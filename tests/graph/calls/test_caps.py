"""What calls take of the caps across runs, what they give back, and how long they wait for their turn."""

import asyncio
from dataclasses import replace

import pytest

from planner_executor.graph.calls.caps import NO_CAPS, Caps, cap_reached, entries, in_turn, nothing_happened, user_of
from planner_executor.graph.calls.meter import Reservation
from planner_executor.graph.calls.tool_call import Admitted, Finished, ToolCall
from planner_executor.graph.errors import CapReachedError
from planner_executor.graph.plan.attempts import NO_LIMITS
from planner_executor.graph.policy.day_limits import DayLimits
from planner_executor.graph.policy.policy import Policy
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.record.caps import CapCorrection, CapUse, DayCap, RateCap
from planner_executor.graph.record.events import CapReached, ModelFinished, Tokens
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.testing import PassingClock

SENDS = Policy(per_day=DayLimits(Budget(calls={"send": 3}), Budget(tool_calls=9)))
RATED = Policy(rates={"send": 30.0})
SPENDS = Policy(per_day=DayLimits(Budget(tokens=500, cost_usd=2.0), Budget(model_calls=5)))
ASIDE = Reservation("m", 100, 0.5)
TURN = RateCap("send", 2.0)
CALL = ToolCall("k", "a", 0, "send", {}, "d")


def reached(wait_s: float, *, is_rate: bool = True) -> CapReachedError:
    return CapReachedError("db", "send", "words", wait_s, is_rate=is_rate)


@pytest.mark.parametrize(
    ("label", "user"),
    [
        ("server:Ada@example.org", "person:ada@example.org"),
        ("os:ada", "person:ada"),
        ("claimed:ada", "unverified"),
        ("unverified", "unverified"),
        ("server:", "unverified"),
    ],
)
def test_made_up_names_share_one_count(label: str, user: str) -> None:
    assert user_of(label) == user


def test_a_call_of_a_tool_takes_one_of_each_cap_on_it_and_a_turn_of_its_rate() -> None:
    both = replace(SENDS, rates=RATED.rates)
    amounts = ((DayCap("calls.send", 3), 1), (DayCap("tool_calls", 9, "person:ada"), 1))

    assert Caps(both, "person:ada").of_tool("send", "k") == CapUse("k", amounts, (TURN,))
    assert Caps(SENDS, "person:ada").of_tool("read", "k") == CapUse("k", amounts[1:])
    assert Caps(RATED, "person:ada").of_tool("send", "k") == CapUse("k", (), (TURN,))


def test_a_call_without_a_cap_takes_nothing() -> None:
    assert [caps.of_tool("read", "k") for caps in (NO_CAPS, Caps(RATED, "x"))] == [None, None]
    assert [caps.of_model("m", "k", ASIDE) for caps in (NO_CAPS, Caps(RATED, "x"))] == [None, None]
    assert [caps.is_set for caps in (NO_CAPS, Caps(RATED, "x"), Caps(SENDS, "x"))] == [False, True, True]


def test_a_call_of_a_model_takes_what_is_reserved_for_it() -> None:
    amounts = ((DayCap("tokens", 500), 100), (DayCap("cost_usd", 2.0), 0.5), (DayCap("model_calls", 5, "u"), 1))

    assert Caps(SPENDS, "u").of_model("m", "k", ASIDE) == CapUse("k", amounts)


@pytest.mark.parametrize(
    ("caps", "happened", "back"),
    [
        (Caps(SENDS, "u"), False, [CapCorrection("k", {"tool_calls": -1, "calls.send": -1})]),
        (Caps(SENDS, "u"), True, []),
        (NO_CAPS, False, []),
    ],
)
def test_a_call_that_did_not_happen_gives_back_what_it_took(
    caps: Caps, happened: bool, back: list[CapCorrection]
) -> None:
    finished = Finished(CALL, StepResult("failed"), nothing_happened=not happened)

    assert caps.after_call(finished) == back
    assert nothing_happened("k", "send").more == {"tool_calls": -1, "calls.send": -1}


def test_a_model_call_is_corrected_to_its_usage_if_that_is_known() -> None:
    caps, use = Caps(SPENDS, "u"), CapUse("k")
    used = ModelFinished(
        key="k", role="step", usage=Tokens(input_tokens=60, output_tokens=10, total_tokens=70), cost_usd=0.75
    )

    assert caps.after_model(use, ASIDE, used) == [CapCorrection("k", {"tokens": -30, "cost_usd": 0.25})]
    unpriced = replace(used, cost_usd=None)
    assert caps.after_model(use, ASIDE, unpriced) == [CapCorrection("k", {"tokens": -30, "cost_usd": 0.0})]
    assert caps.after_model(use, ASIDE, replace(used, usage=None)) == []
    assert caps.after_model(None, ASIDE, used) == []


def test_calls_enter_what_they_take_if_they_take_anything() -> None:
    assert entries([Admitted(CALL, NO_LIMITS), Admitted(CALL, NO_LIMITS, caps=CapUse("k"))]) == [CapUse("k")]


@pytest.mark.parametrize(
    ("refusals", "waits"),
    [([], []), ([reached(2.0)], [2.0]), ([reached(60.0), reached(1.5)], [60.0, 1.5])],
)
def test_a_call_waits_for_a_turn_that_is_soon(refusals: list[CapReachedError], waits: list[float]) -> None:
    clock, left = PassingClock(), list(refusals)

    async def write() -> str:
        if left:
            raise left.pop(0)
        return "written"

    assert asyncio.run(in_turn(write, clock.clock)) == "written"
    assert clock.waits == waits


@pytest.mark.parametrize("refusal", [reached(60.1), reached(1.0, is_rate=False)], ids=["later", "a limit of the day"])
def test_no_call_waits_for_what_is_not_soon(refusal: CapReachedError) -> None:
    clock = PassingClock()

    async def write() -> None:
        raise refusal

    with pytest.raises(CapReachedError):
        asyncio.run(in_turn(write, clock.clock))
    assert clock.waits == []


def test_the_record_says_when_a_cap_allows_the_call() -> None:
    draft = cap_reached(reached(30.0), "a", 1_000.0)

    assert draft.data == CapReached(cap="send", allows="words", due_at=1_030.0) and draft.step == "a"
