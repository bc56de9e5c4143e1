"""What became of comments on the plan before."""

from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.record.comment import Comment
from planner_executor.graph.text.review.changes import comment_lines
from planner_executor.graph.text.review.frame import to_markdown

BEFORE = Plan(
    steps=(
        Step(id="a", objective="o", tool="t", args={"n": 1}),
        Step(id="b", objective="o"),
        Step(id="c", objective="o"),
    )
)
AFTER = Plan(steps=(Step(id="a", objective="p", tool="t", args={"n": 2}), Step(id="b", objective="o")))


def test_each_comment_is_told_with_what_became_of_its_step() -> None:
    told = to_markdown(comment_lines([Comment("a", "x"), Comment("b", "y"), Comment("c", "z")], BEFORE, AFTER))

    assert told.splitlines()[2:] == [
        "- `x`: a has another `objective` and `args.n`.", "- `y`: b is unchanged.", "- `z`: c is gone."
    ]  # fmt: skip


def test_a_plan_without_comments_says_nothing_of_any() -> None:
    assert to_markdown(comment_lines([], BEFORE, AFTER)) == ""
