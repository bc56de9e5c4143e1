import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.plan.patterns import (
    MAX_CHARACTERS,
    all_matches,
    first_match,
    full_match,
    has_match,
    is_match,
    pattern_fault,
)
from planner_executor.graph.plan.work import work_limit


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*$", r"(\w+\s?)*$", "(?:a?){500}a{500}", "(.*a){20}"])
def test_no_pattern_takes_long_on_any_text(pattern: str) -> None:
    assert pattern_fault(pattern) is None
    begun = time.process_time()

    first_match(pattern, "a" * 200_000 + "!")

    assert time.process_time() - begun < 5


def test_only_the_beginning_of_a_long_text_is_looked_through() -> None:
    assert first_match("x", "a" * (MAX_CHARACTERS - 1) + "x") == "x"
    assert MAX_CHARACTERS == 100_000
    assert first_match("x", "a" * MAX_CHARACTERS + "x") is None and all_matches("x", "a" * MAX_CHARACTERS + "x") == []


def test_what_is_found_is_text_of_any_script() -> None:
    assert first_match(r"\pL+", "12 größer") == "größer" and first_match("計.", "の計画") == "計画"
    assert first_match(r"\u8a08.", "の計画") == "計画"


@given(st.text())
def test_a_pattern_is_usable_or_has_a_fault(pattern: str) -> None:
    if pattern_fault(pattern) is None:
        first_match(pattern, "some text")


@pytest.mark.parametrize("pattern", ["(?=a)", "(?<!b)c", r"(a)\1", "(", "a{1001}", "\ud800", "a" * 1001])
def test_what_re2_cannot_do_is_a_fault(pattern: str) -> None:
    assert pattern_fault(pattern)


def test_a_fault_quotes_re2_and_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    fault = pattern_fault("(?=printed)")

    assert fault == "'(?=printed)' is not a regular expression of RE2: invalid perl operator: (?="
    assert capfd.readouterr() == ("", "")
    assert pattern_fault("a" * 1000) is None


@pytest.mark.parametrize(("pattern", "found"), [("b", True), ("d", False), ("(", False)])
def test_a_pattern_that_is_not_usable_matches_nothing(pattern: str, found: bool) -> None:
    assert is_match(pattern, "abc(") is found


def test_matches_are_found_anywhere_or_in_the_whole_text() -> None:
    assert all_matches("[0-9]+", "of 40 and 2") == ["40", "2"]
    assert has_match("b", "abc") and not has_match("d", "abc")
    assert full_match("a.c", "a\nc") and not full_match("a", "abc")


@pytest.mark.parametrize(("text", "is_judged"), [("a" * MAX_CHARACTERS, True), ("a" * (MAX_CHARACTERS + 1), False)])
def test_a_text_that_is_too_long_or_cannot_be_kept_matches_nothing(text: str, is_judged: bool) -> None:
    assert has_match("a", text) is full_match("a*", text) is is_judged
    assert not has_match("a", "a\ud800") and not full_match("a.*", "a\ud800")


def work_of(pattern: str, characters: int) -> int:
    with work_limit(1_000_000) as work:
        first_match(pattern, "b" * characters)
    return work.most - work.left


def test_work_grows_with_the_pattern_and_with_what_is_looked_through_of_the_text() -> None:
    assert work_of("a", 0) == 1
    assert work_of("a", 8_000) - 1 == 2 * (work_of("a", 4_000) - 1) > 0
    assert work_of("a" * 50, 4_000) > work_of("a", 4_000) + 40
    assert work_of("a", 2 * MAX_CHARACTERS) == work_of("a", MAX_CHARACTERS)
