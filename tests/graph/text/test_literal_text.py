"""What a review says of text in the form of a reference: that it is text."""

from typing import Any

from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.text.literal_text import MAX_LINES, literal_lines, text_note


def lines(*steps: Step, answer: Any = None) -> list[str]:
    return literal_lines(steps, Plan(steps=steps, answer=answer))


def test_a_review_says_what_is_text_and_no_reference() -> None:
    doubled = Step(id="a", objective="o", tool="t", args={"x": ["{{b_result.n}} {c_result}"], "y": "{c_result}"})
    literal = Step(id="b", objective="o", tool="t", args={"code": "{c_result}", "y": 1}, literal=("code",))
    gathered = Step(id="c", objective="o", gather={"x": "{{a_result}}"})

    assert lines(doubled, literal, gathered, answer="{{a_result}} and {b_result}") == [
        "- a: {b_result.n} in x is text, not a reference",
        "- b: code is taken as it is written, nothing in it is a reference",
        "- c: {a_result} is text, not a reference",
        "- answer: {a_result} is text, not a reference",
    ]


def test_a_review_says_nothing_of_references_and_other_text() -> None:
    assert (
        lines(Step(id="a", objective="o", tool="t", args={"x": "{b_result} {0} {{x}}", "y": 1}), answer="{a_result}")
        == []
    )


def test_the_lines_are_bounded_and_hold_nothing_unseen() -> None:
    args = {"x\u202e\n": "".join(f"{{{{a{n}_result.{'y' * 200}}}}}" for n in range(500))}
    found = lines(*(Step(id=f"s{n}", objective="o", tool="t", args=args) for n in range(100)))

    assert len(found) == MAX_LINES + 1
    assert "and 497 more in x\\u{202e}\\u{a} is text" in found[0]
    assert found[-1] == "- and 70 more with text in the form of references"
    assert all(line.isprintable() and len(line) < 500 for line in found)


def test_a_call_that_is_shown_says_that_what_a_result_brought_in_is_text() -> None:
    assert text_note({"to": ["{a_result}"], "body": "{{b_result}}"}) == (
        " ({a_result}, {b_result} in it is text, not a reference)"
    )
    assert text_note({"to": "ann@example.com", "n": [1, {"x": None}]}) == ""
