"""The effects that lists show of a request: a few, cut, in the words of their tools."""

from typing import Any

from planner_executor.graph.review.asked_effects import FIRST, VALUE, WORDS, first_effects
from planner_executor.graph.review.content import (
    CallContent,
    GateContent,
    PlanContent,
    StepContent,
    Through,
    Tool,
    UncertainContent,
)
from planner_executor.graph.review.request import ReviewAction, ReviewRequest

REFUND = Tool(name="refund", effect="external", reversible=False, steps=tuple(f"s{n}" for n in range(6)))
LOOK = Tool(name="look", effect="read", steps=())


def request(steps: list[dict[str, Any]], *told: StepContent, tools: tuple[Tool, ...] = (REFUND, LOOK)) -> ReviewRequest:
    plan = PlanContent(name="run_plan", revision=1, digest="d", tools=tools, steps=told)
    action = ReviewAction("run_plan", {"plan": {"steps": steps}}, "", content=plan)
    return ReviewRequest(run="t.1", revision=1, digest="d", binding="b", actions=(action,))


def told(step: str, does: str | None = None) -> StepContent:
    return StepContent(id=step, status="pending", done_by="tool", acts=True, does={"refund": does} if does else {})


def test_a_list_shows_the_first_effects_in_the_words_of_their_tool_and_counts_the_rest() -> None:
    steps = [{"id": f"s{n}", "tool": "refund", "args": {"amount": n}} for n in range(6)]
    found, left_out = first_effects(
        request(steps, told("s0", "refund 129.90 EUR"), *(told(f"s{n}") for n in range(1, 6)))
    )

    assert [one.words for one in found] == [
        "refund 129.90 EUR",
        "refund amount: 1",
        "refund amount: 2",
        "refund amount: 3",
    ]
    assert {(one.effect, one.undo) for one in found} == {("external", False)}
    assert (len(found), left_out) == (FIRST, 2)


def test_an_effect_in_a_list_is_cut_whoever_wrote_its_words() -> None:
    steps = [{"id": "s0", "tool": "refund", "args": {}}]

    (one,), left_out = first_effects(request(steps, told("s0", "x" * 5_000)))
    assert (len(one.words), one.words[-1], left_out) == (WORDS, "…", 0)


PAY, READ = Tool(name="pay", effect="external"), Tool(name="look", effect="read", steps=("s0",))
CALL = CallContent(name="run_step", kind="call", step="a")
DONE = UncertainContent(name="settle_effect", step="a", failure="f")


def test_a_call_an_uncertain_one_and_those_behind_a_gate_are_effects_if_their_tools_have_one() -> None:
    gate = GateContent(name="run_step", kind="gate", step="g", through=(Through(step="a", tool=PAY, does="pay ann"),))
    told = [
        CALL,
        CALL.model_copy(update={"tool": READ}),
        CALL.model_copy(update={"tool": PAY}),
        DONE,
        DONE.model_copy(update={"tool": PAY, "does": "pay bob"}),
        gate,
    ]
    actions = [ReviewAction("run_step", {"args": {"to": "eve"}}, "", content=content) for content in told]

    found, left_out = first_effects(ReviewRequest("t.1", 1, "d", "b", tuple(actions)))

    assert ([one.words for one in found], left_out) == (["pay to: eve", "pay bob", "pay ann"], 0)


def test_a_plan_has_the_effects_of_the_tools_that_act_where_a_step_may_call_them() -> None:
    steps = [{"id": "s0", "args": {"to": "x" * (VALUE + 1), "cc": "y" * VALUE, "n": 7}}, {"id": "other"}]
    many = told("s0").model_copy(update={"most_items": 3})

    (one,), _ = first_effects(request(steps, many, told("other"), tools=(REFUND, READ)))
    (other,), _ = first_effects(request([{"id": "s0", "args": {"n": 7}}], many))

    assert one.words.startswith(f"refund to: {'x' * (VALUE - 1)}…, cc: {'y' * VALUE}, n: 7")
    assert other.words == "refund n: 7, for each of at most 3"


def test_a_plan_that_cannot_run_has_none() -> None:
    assert first_effects(request([{}])) == ((), 0)


def test_words_of_just_so_many_characters_are_not_cut() -> None:
    (one,), _ = first_effects(request([{"id": "s0"}], told("s0", "x" * WORDS)))

    assert one.words == "x" * WORDS


def test_an_action_without_content_has_no_effects() -> None:
    bare = ReviewRequest(run="t.1", revision=1, digest="d", binding="b", actions=(ReviewAction("run_plan", {}, ""),))

    assert first_effects(bare) == ((), 0)
