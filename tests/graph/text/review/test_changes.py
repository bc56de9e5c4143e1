"""What became of comments on the plan before."""

import pytest

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.record.comment import Comment
from planner_executor.graph.review.content import LARGEST_VALUE, Change, FieldChange, Whole
from planner_executor.graph.review.plan_changes import changes_between
from planner_executor.graph.review.plan_review import PlanReview
from planner_executor.graph.text.review.changes import CHARACTERS, change_blocks, since_blocks
from planner_executor.graph.text.review.content import plan_content
from planner_executor.graph.text.review.frame import to_markdown, to_text

BEFORE = Plan(
    steps=(
        Step(id="a", objective="o", tool="t", args={"n": 1}),
        Step(id="b", objective="o"),
        Step(id="c", objective="o"),
    )
)
TERMS = ExecutionTerms({"t": ToolSpec("t", "", {})})
AFTER = Plan(steps=(Step(id="a", objective="p", tool="t", args={"n": 2}), Step(id="b", objective="o")))


def told(*comments: Comment, before: Plan | None = BEFORE) -> str:
    review = PlanReview(AFTER, 2, TERMS, before=before, before_revision=1, comments=comments)
    return to_markdown(since_blocks(plan_content(review)))


def test_each_comment_is_told_with_what_became_of_its_step() -> None:
    said = told(Comment("a", "x"), Comment("b", "y"), Comment("c", "z"))

    assert said.splitlines()[-3:] == [
        "- `x`: a has another `objective` and `args.n`.", "- `y`: b is unchanged.", "- `z`: c is gone."
    ]  # fmt: skip
    assert told(Comment("a", "x"), before=None).splitlines() == [
        "Changes: added: a, b. No plan of this run was shown before.", "",
        "Comments on the previous plan, and what became of their steps:", "", "- `x`: a is new.",
    ]  # fmt: skip


def test_a_plan_without_comments_says_nothing_of_any() -> None:
    assert "comments" not in told()


def test_the_answer_and_a_step_of_that_name_are_told_apart() -> None:
    before = Plan(steps=(Step(id="answer", objective="o"),), answer="x")
    after = Plan(steps=(Step(id="answer", objective="p"),), answer="y")

    def first(was: Plan, now: Plan) -> str:
        return to_text(change_blocks(changes_between(was, now), 3)).split("\n")[0]

    since = "Changes since revision 3, which was shown last: "
    assert first(before, after) == f"{since}changed: answer; answer changed."
    assert first(before, Plan(steps=before.steps, answer="y")) == f"{since}answer changed."
    assert first(before, Plan(steps=after.steps, answer="x")) == f"{since}changed: answer."


def test_of_a_large_value_both_ends_are_told_with_its_length_and_digest() -> None:
    was = Plan(steps=(Step(id="a", objective="o", tool="t", args={"n": f"first {'x' * LARGEST_VALUE} last"}),))

    said = " ".join(to_text(change_blocks(changes_between(was, AFTER), 1)).split())

    assert 'was "first xxx' in said and f"... {LARGEST_VALUE + 13} bytes in all, digest " in said
    assert 'last" now 2' in said


def test_of_a_long_value_the_words_that_differ_are_told_wherever_they_stand() -> None:
    words = " ".join(f"w{number}" for number in range(400))
    was = Plan(steps=(Step(id="a", objective=words),))
    now = Plan(steps=(Step(id="a", objective=words.replace("w200", "other")),))

    said = " ".join(to_text(change_blocks(changes_between(was, now), 1)).split())

    assert "was" in said and "w199 w200 w201" in said and "w199 other w201" in said
    assert said.count("words are the same") == 4 and "w20 " not in said


def test_a_comment_on_a_step_named_answer_is_not_told_of_the_answer() -> None:
    before, after = (Plan(steps=(Step(id="answer", objective=one),), answer=one) for one in ("x", "y"))
    review = PlanReview(after, 2, TERMS, before=before, before_revision=1, comments=(Comment("answer", "z"),))

    assert to_markdown(since_blocks(plan_content(review))).endswith("- `z`: answer has another `objective`.")


@pytest.mark.parametrize(("more", "last"), [(0, "- a0 (removed): a model with no tools (x)"), (1, "- and 1 more")])
def test_so_many_changes_are_told_and_the_others_counted(more: int, last: str) -> None:
    gone = FieldChange(field="objective", was=Whole(value="x"))
    changes = [Change(step="a0", change="removed", fields=(gone, FieldChange(field="ask")))] * (30 + more)

    lines = to_text(change_blocks(changes, 1)).splitlines()

    assert lines[-1] == last and sum("(removed)" in line for line in lines) == 30


@pytest.mark.parametrize(("length", "is_folded"), [(6, False), (7, True)])
def test_values_are_compared_word_by_word_if_one_is_long(length: int, is_folded: bool) -> None:
    was, now = (Whole(value="x " * 196 + end) for end in ("a", "b" * length))
    fields = (FieldChange(field="objective", was=was, now=now),)

    told = to_text(change_blocks([Change(step="a", change="changed", fields=fields)], 1))

    assert len(f'"{"x " * 196}bbbbbb"') == CHARACTERS and ("words are the same" in told) is is_folded
