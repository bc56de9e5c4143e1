"""JMESPath with limits: a small expression over a small result can neither take long nor grow large."""

import time
from typing import Any

import jmespath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.errors import ExpressionError
from planner_executor.graph.plan.expressions import (
    MAX_CHARACTERS,
    MAX_DEPTH,
    MAX_SIZE,
    MAX_WORK,
    Allowance,
    evaluate,
    expression_fault,
    jmespath_fault,
)

RESULT: dict[str, Any] = {
    "items": [{"url": "u0", "n": 0, "tags": ["a"]}, {"url": "u1", "tags": []}, {"url": "u2", "n": 2}],
    "nested": [[1, 2], [3], 4],
    "text": "some words",
    "n": 3,
    "none": None,
}
DOUBLING = [
    "[@,@]",
    "[@,@][]",
    "[@][*].[@,@][]",
    "join('', [@,@])",
    "{a: @, b: @}",
    "[to_string([@,@])]",
    "[@,@] | [@, @]",
]
LATER = [
    "@ == @",
    "[@] == [@]",
    "to_string(@)",
    "abs(@)",
    "contains(@, @)",
    "sort(@)",
    "length(to_string(@))",
    "@[]",
    "@",
]


def seconds(expression: str, value: Any) -> float:
    begun = time.process_time()
    try:
        evaluate(expression, value, Allowance(work=50_000, size=2_000_000))
    except ExpressionError as error:
        assert len(str(error)) < 300
    return time.process_time() - begun


@pytest.mark.parametrize("stage", DOUBLING)
@pytest.mark.parametrize("last", LATER)
def test_an_expression_that_doubles_at_every_part_ends_soon(stage: str, last: str) -> None:
    assert seconds(" | ".join([*[stage] * 24, last]), "x") < 5
    assert seconds(" | ".join([*[stage] * 24, f"[[@], {stage}] | [0] == [1]"]), "x") < 5


@pytest.mark.parametrize("stage", ["[@,@]", "[@,@][]"])
def test_what_has_doubled_too_often_is_refused_in_words(stage: str) -> None:
    with pytest.raises(ExpressionError, match=r"refer to a smaller part"):
        evaluate(" | ".join([stage] * 30), "x")


@pytest.mark.parametrize(
    "expression",
    [
        "[]" * 3,
        "[*].[@,@,@,@][] | [*].[@,@,@,@][] | [*].[@,@,@,@][]",
        "[?@ == `0`] | [?@ == `0`]",
        "sort_by(@, &to_string(@))",
        "map(&[@,@,@,@,@,@,@,@], @)",
        "[" + ",".join(["@"] * 300) + "][]",
    ],
)
def test_work_over_a_large_result_is_counted_before_it_is_done(expression: str) -> None:
    assert seconds(expression, list(range(300_000))) < 5


def test_all_evaluations_of_one_allowance_share_it() -> None:
    left = Allowance()
    evaluate("[*].n", [{"n": 1}] * 1_000, left)
    once = MAX_WORK - left.work
    evaluate("[*].n", [{"n": 1}] * 1_000, left)

    assert MAX_WORK - left.work == 2 * once > 0


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("a" * (MAX_CHARACTERS + 1), "longer"),
        ("(" * 600 + "a" + ")" * 600, "deeper"),
        ("!" * 1_000 + "a", "deeper"),
        ("|".join(["a"] * (MAX_DEPTH + 1)), "deeper"),
        ("[" * 600 + "@" + "]" * 600, "deeper"),
        ("`" + "[" * 400 + "]" * 400 + "`", "deeper"),
        ("`" + "[" * 990 + "]" * 990 + "`", "deeper"),
        ("a[", "not a JMESPath"),
        ("9" * 1_999, "not a JMESPath"),
        ("[" + "9" * 1_990 + "]", None),
    ],
)
def test_what_is_too_long_or_too_deep_is_a_fault_before_it_is_evaluated(expression: str, words: str | None) -> None:
    fault = expression_fault(expression)

    assert fault is None if words is None else words in str(fault)
    if words is not None:
        with pytest.raises(ExpressionError):
            evaluate(expression, {})


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("abs(text)", "abs() is given string, not number"),
        ("nonsense(@)", "Unknown function: nonsense()"),
        ("sum(items)", "sum() is given dict, not array-number"),
        ("ceil(`1e999`)", "cannot be evaluated"),
        ("items[::0]", "cannot be evaluated"),
        ("&a", "cannot be evaluated"),
        ("join('a')", "Expected 2 arguments for function join(), received 1"),
        ("[`NaN`]", "cannot be evaluated"),
    ],
)
def test_an_expression_that_gives_nothing_says_why_without_the_value(expression: str, words: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        evaluate(expression, RESULT)

    assert words in str(caught.value)
    assert "u0" not in str(caught.value)


parts = st.sampled_from(
    [
        "items",
        "items[0]",
        "items[?n > `0`].url",
        'items[?tags == `["a"]`]',
        "items[*].tags[]",
        "nested[]",
        "nested[::-1]",
        "[@, @]",
        "{a: @, b: n}",
        "n == `3` && text",
        "text || none",
        "!none",
        "length(@)",
        "to_string(@)",
        "sort_by(items, &url)[-1]",
        "max_by(items, &url).url",
        "map(&url, items)",
        "join('-', items[*].url)",
        "keys(@)",
        "values(@)",
        "merge(@, {x: n})",
        "contains(text, 'w')",
        "contains(nested, `4`)",
        "reverse(@)",
        "type(@)",
        "not_null(none, n)",
        "*",
        "[0:2]",
        "[]",
    ]
)


@given(st.lists(parts, min_size=1, max_size=4).map(" | ".join))
def test_within_the_limits_an_expression_gives_what_jmespath_gives(expression: str) -> None:
    try:
        expected = jmespath.search(expression, RESULT)
    except ValueError:
        with pytest.raises(ExpressionError):
            evaluate(expression, RESULT)
    else:
        assert evaluate(expression, RESULT) == expected


@pytest.mark.parametrize(
    ("expression", "value", "work", "size"),
    [
        ("@", "abc", 1, 3),
        ("@", [1, 2], 1, 8 * 3 + 8 + 8),
        ("@", {"ab": "cd", "e": []}, 1, 8 * 3 + 3 + 2 + 8),
        ("a.b", {"a": {"b": 1}}, 3, 8),
        ("[]", [[1, 2], 3], 7 + 3, 8 * 4 + 3 * 8),
        ("[]", "x", 4, 8),
        ("[0:1]", [1, 2, 3], 5 + 3, 8 * 2 + 8),
        ("[0:1]", "abc", 4, 8),
        ("[0] == [1]", [1, 2], 9, 8),
        ("[0] == [1]", ["x" * 32, 2], 9, 8),
        ("[0] == [1]", ["x" * 32, "y" * 64], 9 + 1 + 2, 8),
        ("[0] == [1]", ["x" * 64, "y" * 32], 9 + 1 + 2, 8),
        ("[0] == [1]", [["x" * 64], ["y"]], 9 + 1 + (16 + 64) // 16, 8),
        ("length(@)", [1, 2, 3], 2 + 3, 8),
        ("length(@)", "x" * 64, 2, 8),
        ("to_string(@)", [1, 2, 3], 2 + 1 + (8 * 4 + 3 * 8) // 16, 7),
        ("reverse(@)", "x" * 31, 2 + 1 + 1, 31),
        ("not_null('xxxxxxxx', @)", ["a"] * 64, 3 + 64, 8),
        ("join('', @)", ["a"] * 64, 3 + 1 + 1 + (8 * 65 + 64) // 16, 64),
        ("join('xxxxxxxx', @)", ["a"] * 64, 3 + 1 + 1 + (8 * 65 + 64) // 16 + 8 * 64 // 16, 64 + 8 * 63),
    ],
)
def test_an_evaluation_costs_what_it_visits_and_reads_and_what_it_gives(
    expression: str, value: Any, work: int, size: int
) -> None:
    left = Allowance()

    evaluate(expression, value, left)

    assert (1_000_000 - left.work, 50_000_000 - left.size) == (work, size)
    evaluate(expression, value, Allowance(work, size))
    for less in (Allowance(work - 1, size), Allowance(work, size - 1)):
        with pytest.raises(ExpressionError, match="refer to a smaller part"):
            evaluate(expression, value, less)


def test_a_value_is_measured_to_where_it_is_too_large() -> None:
    nested: Any = "x"
    for _ in range(60):
        nested = ["x" * 40, nested]

    with pytest.raises(ExpressionError, match=f"takes more than {MAX_WORK} steps"):
        evaluate("type(to_string(@))", nested, Allowance(work=100))
    with pytest.raises(ExpressionError, match=f"gives more than {MAX_SIZE} characters"):
        evaluate("@", [1, 2], Allowance(size=24))


@pytest.mark.parametrize(
    ("expression", "fault"),
    [
        ("a" * 2_000, None),
        ("a" * 2_001, "is longer than 2000 characters"),
        ("|".join("a" * 50), None),
        ("|".join("a" * 51), "is nested deeper than 50"),
        ("!" * 49 + "a", None),
        ("!" * 50 + "a", "is nested deeper than 50"),
        ("a[", "is not a JMESPath: Invalid jmespath expression: Incomplete expression:"),
    ],
)
def test_an_expression_may_be_so_long_and_so_deep(expression: str, fault: str | None) -> None:
    assert expression_fault(expression) == fault
    assert jmespath_fault(expression) == (fault and f"{expression!r} {fault}")


@pytest.mark.parametrize("value", [5, None, "", " "])
def test_what_is_no_text_is_no_expression(value: Any) -> None:
    assert jmespath_fault(value) == "must be a JMESPath, such as 'total > `0`'"


ITEMS: list[Any] = [{"k": "a"}, {"k": 1}, {"k": "a", "n": 2}, {}]


@pytest.mark.parametrize(
    ("expression", "value", "given"),
    [
        ("round(@)", 2.5, 3),
        ("round(@, `0`)", 2.5, 3),
        ("round(@, `1`)", 2.25, 2.3),
        ("round(@, `1.0`)", 2.0, 2.0),
        ("round(@, `12`)", 1 / 3, 0.333333333333),
        ("format_number(@)", 1234.5, "1,235"),
        ("format_number(@, `2`)", 1234.5, "1,234.50"),
        ("group_by(@, &k)", ITEMS, {"a": [ITEMS[0], ITEMS[2]], "1": [ITEMS[1]], "null": [ITEMS[3]]}),
        ("unique(@)", [1, 1.0, True, "1", {"a": 1}, {"a": 1}], [1, True, "1", {"a": 1}]),
    ],
)
def test_our_functions_give_what_they_say(expression: str, value: Any, given: Any) -> None:
    found = evaluate(expression, value)

    assert (found, type(found)) == (given, type(given))


@pytest.mark.parametrize("digits", ["`13`", "`-1`", "`0.5`", "`1`, `2`"])
def test_digits_are_a_count_from_none_to_twelve(digits: str) -> None:
    with pytest.raises(ExpressionError, match="at most one count of digits, from 0 to 12"):
        evaluate(f"round(@, {digits})", 1.0)


def test_a_value_that_is_nested_too_deeply_is_refused() -> None:
    nested: Any = []
    for _ in range(20_000):
        nested = [nested]

    with pytest.raises(ExpressionError, match="nested too deeply"):
        evaluate("@", nested)
