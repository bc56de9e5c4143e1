"""The head of a review: what it will do, what it takes, who decides until when, and a button for each answer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner_executor.graph.policy.approver_rule import ApproverRule
from planner_executor.graph.record.asked_effect import AskedEffect
from planner_executor.graph.review.asked_effects import asked_effects
from planner_executor.graph.review.content import PlanContent, ReviewContent
from planner_executor.graph.text.expectation import takes_in_words

CHIPS = 8
"""Effects in the head; the tables below it have all."""


@dataclass(frozen=True)
class Head:
    """The effects and the number of those left out, what it takes, who decides, and until when in Unix seconds."""

    chips: Sequence[AskedEffect]
    more: int
    takes: str
    deciders: Sequence[str]
    until: float | None


@dataclass(frozen=True)
class Answer:
    """A button: the decision that it sends, its words, and whether it does what is asked for.

    Neither answer about an uncertain call is that.
    """

    decision: str
    words: str
    is_primary: bool = False


def head_of(review: ReviewContent, actions: Sequence[Mapping[str, Any]]) -> Head:
    """Return the head of a request with these actions."""
    chips = list(asked_effects(review, actions))
    works = [content.work for content in review.actions if isinstance(content, PlanContent)]
    takes = " ".join(words for work in works for words in _takes(work))
    people = review.people
    deciders = [str(ApproverRule.from_json(rule)) for rule in people.rules] if people is not None else []
    until = people.until if people is not None else None
    return Head(chips[:CHIPS], max(0, len(chips) - CHIPS), takes, deciders, until)


def answers_of(names: Sequence[str], *, is_gate: bool, is_call: bool, can_approve: bool) -> list[Answer]:
    """Return the buttons for the actions of these names; `is_gate` and `is_call`: the only one is such.

    >>> [one.words for one in answers_of(["run_plan"], is_gate=False, is_call=False, can_approve=True)]
    ['Approve and run', 'Plan again', 'End the run']
    """
    last = [Answer("feedback", "Plan again"), Answer("stop", "End the run")]
    if is_call:
        return [Answer("approve", "Make this call", True), Answer("refuse", "Do not make it"), *last]
    if list(names) == ["settle_effect"]:
        return [Answer("happened", "It happened"), Answer("not_happened", "Nothing happened"), *last]
    # All of these can be approved by one yes; a question or a limit needs more.
    unasked = {"run_plan", "run_step"}.issuperset(names)
    if can_approve:
        words = "Open the gate" if is_gate else "Approve and run" if "run_plan" in names else "Make these calls"
        return [Answer("approve", words if unasked else "Approve and answer", True), *last]
    if unasked:
        return last
    # By all names together: one button answers all that is asked.
    words = {"raise_budget": "Go on with the new limit", "answer_question": "Answer"}.get(",".join(names), "Decide")
    finish = [Answer("finish", "Finish with what there is")] if "raise_budget" in names else []
    return [Answer("answer", words, True), *finish, *last]


def _takes(work: Mapping[str, Any]) -> Iterator[str]:
    if calls := work.get("tool_calls"):
        yield f"At most {calls} tool call{'s' * (calls != 1)}."
    if told := takes_in_words(work.get("takes", {})):
        yield told
