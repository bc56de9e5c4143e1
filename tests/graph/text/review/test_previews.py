from planner_executor.graph.review.content import PreviewContent
from planner_executor.graph.text.review.frame import plain_description, to_markdown
from planner_executor.graph.text.review.previews import preview_blocks


def told(*previews: PreviewContent, others: tuple[str, ...] = ()) -> str:
    return plain_description(to_markdown(preview_blocks(previews, others)))


def test_the_lines_of_a_tool_stand_behind_a_margin_under_its_name() -> None:
    assert "- step_1: note says:\n    | one\n    | two" in told(
        PreviewContent(place="step_1", tool="note", text="one\ntwo")
    )


def test_what_differs_is_shown_as_a_difference() -> None:
    shown = told(PreviewContent(place="s", tool="note", text="a\nnew", was="a\nold"))

    assert "This differs from the preview that you were shown:" in shown and "| -old\n" in shown and "| +new" in shown


def test_a_difference_beyond_what_is_shown_is_named() -> None:
    assert "the part that is not shown here differs" in told(
        PreviewContent(place="s", tool="note", text="a", was="a", length=9)
    )


def test_many_calls_without_a_preview_are_counted() -> None:
    assert "No preview of w0, w1, w2, w3, w4, w5, w6, w7 and 12 more" in told(
        others=tuple(f"w{number}" for number in range(20))
    )


def test_nothing_is_said_where_no_tool_has_a_preview() -> None:
    assert told() == ""


def test_a_preview_that_is_gone_and_one_that_is_cut_say_so() -> None:
    assert told(PreviewContent(place="s", tool="note", none="it failed", was="a")).endswith("| -a\n    | +it failed")
    assert told(PreviewContent(place="s", tool="note", was="a")).endswith("| -a\n    | +")
    assert told(PreviewContent(place="s", tool="note", text="ab", length=9)).endswith("| ab\n    and 7 characters more")
