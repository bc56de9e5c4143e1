"""Which results an expression uses, and which it only names."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.errors import UnresolvedReferenceError
from planner_executor.graph.plan.expression_roots import MAX_CHARACTERS, roots_of, with_names
from planner_executor.graph.plan.expressions import FUNCTIONS
from planner_executor.graph.plan.lookalikes import lookalike_faults
from planner_executor.graph.plan.reading import read_plan
from planner_executor.graph.plan.references import references_in, renamed, resolve

ROWS = [{"customer": "ana", "amount": 3}, {"customer": "bo", "amount": 9}, {"customer": "cy", "amount": 9}]
RESULTS: dict[str, Any] = {
    "csv": {"rows": ROWS},
    "top": {"name": "bo"},
    "text": "words",
    "n": 1234.565,
    "list": [2, 1, 2],
}
STEPS = tuple(RESULTS)


@pytest.mark.parametrize(
    ("text", "value", "steps"),
    [
        ("{max_by(csv_result.rows, &amount).customer}", "bo", ["csv"]),
        ("{reverse(sort_by(csv_result.rows, &amount))[:1]}", [ROWS[2]], ["csv"]),
        ("{[csv_result.rows[0].amount, top_result.name]}", [3, "bo"], ["csv", "top"]),
        ("{csv_result.rows[1].customer == top_result.name}", True, ["csv", "top"]),
        ("{csv_result.none || top_result.name}", "bo", ["csv", "top"]),
        ("{!list_result}", False, ["list"]),
        ("{length(text_result)} letters of {text_result}", "5 letters of words", ["text", "text"]),
        ("{join('}', [text_result, top_result.name])}", "words}bo", ["text", "top"]),
        ('{not_null(csv_result.none, `{"a": 1}`)}', {"a": 1}, ["csv"]),
        ("{{length(list_result)}} is {length(list_result)}", "{length(list_result)} is 3", ["list"]),
        ("$${format_number(n_result, `2`)}", "$1,234.57", ["n"]),
        ("{format_number(n_result)} {round(n_result)} {round(n_result, `1`)}", "1,235 1235 1234.6", ["n"] * 3),
        ("{unique(list_result)}", [2, 1], ["list"]),
        ("{group_by(csv_result.rows, &amount)}", {"3": ROWS[:1], "9": ROWS[1:]}, ["csv"]),
        ("{keys(group_by(csv_result.rows, &customer))}", ["ana", "bo", "cy"], ["csv"]),
    ],
)
def test_an_expression_is_evaluated_over_the_results_that_it_names(text: str, value: Any, steps: list[str]) -> None:
    assert resolve(text, RESULTS) == value
    assert [reference.step for reference in references_in(text)] == steps
    assert [reference.fault for reference in references_in(text)] == [None] * len(steps)
    assert list(lookalike_faults(text, STEPS)) == []


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("{csv_result.rows[?customer == top_result.name]}", "top_result"),
        ("{csv_result.rows[*].top_result}", "top_result"),
        ("{csv_result.top_result}", "top_result"),
        ("{csv_result.rows | top_result}", "top_result"),
        ("{map(&top_result.name, csv_result.rows)}", "top_result"),
        ("{total: n_result}", "n_result"),
        ("see {the n_result of today}", "n_result"),
        ("{don't use n_result}", "n_result"),
        ("if (x) { return n_result; }", "n_result"),
    ],
)
def test_a_name_that_is_not_looked_up_among_the_results_is_a_fault(text: str, named: str) -> None:
    (fault,) = lookalike_faults(text, STEPS, "body")

    assert f"names {named}" in fault and fault.endswith('add "literal": ["body"] to the step')
    assert list(lookalike_faults(text, ["other"], "body")) == []


@pytest.mark.parametrize(
    "text",
    [
        '{"total": "n_result"}',
        '{csv_result."top_result"}',
        "{csv_result[?c == 'top_result']}",
        "{an_result_x}",
    ],
)
def test_names_in_quotes_and_within_other_words_are_text(text: str) -> None:
    assert list(lookalike_faults(text, STEPS)) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{len(list_result)}", "calls len(), which does not exist"),
        ("{csv_result.rows || total}", "looks for total among the results"),
        ("{sum(list_result)} {sum(other_result)}", "refers to no step"),
    ],
)
def test_an_expression_that_cannot_be_evaluated_is_a_fault_of_the_plan(text: str, fault: str) -> None:
    steps = [{"id": name, "objective": "o", "tools": []} for name in STEPS]
    reading = read_plan([*steps, {"id": "last", "objective": "o", "gather": text}], [])

    assert any(fault in str(issue) for issue in reading.issues)


@pytest.mark.parametrize(
    "text", ["{length(text_result.rows)}", "{text_result[0] || n_result}", "{none_result.x || n_result}"]
)
def test_a_part_of_a_text_and_a_result_that_is_not_there_have_no_value(text: str) -> None:
    with pytest.raises(UnresolvedReferenceError):
        resolve(text, RESULTS)


@pytest.mark.parametrize("digits", ["`-1`", "`1.5`", "`13`", "`1`, `2`"])
def test_a_count_of_digits_that_is_none_is_refused(digits: str) -> None:
    with pytest.raises(UnresolvedReferenceError, match="count of digits"):
        resolve(f"{{round(n_result, {digits})}}", RESULTS)


def test_each_result_that_an_expression_uses_is_a_dependency_and_renaming_reaches_all_of_them() -> None:
    text = "{[a_result.x, b_result][?@ == 'a_result']} {a_result}"

    assert renamed(text, {"a": "c", "b": "d"}) == "{[c_result.x, d_result][?@ == 'a_result']} {c_result}"
    plan = read_plan(
        [
            {"id": "a", "objective": "o", "tools": []},
            {"id": "b", "objective": "o", "tools": []},
            {"id": "c", "objective": "o", "gather": "{[a_result, b_result]}"},
        ],
        [],
    ).plan
    assert plan is not None and plan.by_id["c"].waits == ("a", "b")


def test_our_functions_are_a_handful() -> None:
    assert {"format_number", "group_by", "round", "unique"} < FUNCTIONS and len(FUNCTIONS) == 30


NAMES = st.sampled_from(["a_result", "b_result.x", "'a_result'", "c", "length(a_result)", "@", "`1`"])
JOINTS = st.sampled_from([" || ", " == ", " | ", ".", "[?x == ", ", ", "[*].", " && "])


@given(st.lists(st.tuples(NAMES, JOINTS), min_size=1, max_size=5))
def test_what_is_read_of_an_expression_is_what_its_evaluation_looks_up(parts: list[tuple[str, str]]) -> None:
    text = "".join(name + joint for name, joint in parts).removesuffix(parts[-1][1])
    text += "]" * text.count("[?")
    used = roots_of(text)
    if used is None or used.unknown or used.others:
        return
    swapped = roots_of(with_names(text, {"a": "b", "b": "a"}))
    assert swapped is not None and {*swapped.results} == {{"a": "b", "b": "a"}[step] for step in used.results}
    results = {"a": {"x": 1, "c": 2}, "b": {"x": [3]}}
    for step in {"a", "b"} - {*used.results}:
        found = [_value(text, {**results, step: other}) for other in (results[step], 99)]
        assert found[0] == found[1], f"{step} is used, and is not named"


def _value(text: str, results: Any) -> Any:
    try:
        return resolve(f"{{{text}}}", results)
    except UnresolvedReferenceError as error:
        return str(error)


def test_an_expression_of_the_most_characters_is_read_and_a_longer_one_is_none() -> None:
    longest = f"a_result.{'x' * (MAX_CHARACTERS - 9)}"

    assert roots_of(longest) is not None and roots_of(f"{longest}x") is None
    assert roots_of("a.b") is roots_of("'a_result'") is None


def test_parts_are_taken_of_results_alone_and_unknown_functions_are_found_at_any_depth() -> None:
    found = roots_of("a_result[?c == b_result.x]")

    assert found is not None and (found.results, found.misplaced, found.into) == (("a",), ("b",), {"a"})
    nested = roots_of("length(nope(a_result))")
    assert nested is not None and nested.unknown == ("nope",)
