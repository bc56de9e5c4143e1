"""The effects that lists show of a request: a few, cut, in the words of their tools."""

from typing import Any

from planner_executor.graph.review.asked_effects import FIRST, WORDS, first_effects
from planner_executor.graph.review.content import PlanContent, StepContent, Tool
from planner_executor.graph.review.request import ReviewAction, ReviewRequest

REFUND = Tool(name="refund", effect="external", reversible=False, steps=tuple(f"s{n}" for n in range(6)))
LOOK = Tool(name="look", effect="read", steps=())


def request(steps: list[dict[str, Any]], *told: StepContent) -> ReviewRequest:
    plan = PlanContent(name="run_plan", revision=1, digest="d", tools=(REFUND, LOOK), steps=told)
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


def test_an_action_without_content_has_no_effects() -> None:
    bare = ReviewRequest(run="t.1", revision=1, digest="d", binding="b", actions=(ReviewAction("run_plan", {}, ""),))

    assert first_effects(bare) == ((), 0)
