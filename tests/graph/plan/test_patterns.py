import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.plan.patterns import MAX_CHARACTERS, all_matches, first_match, pattern_fault


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*$", r"(\w+\s?)*$", "(?:a?){500}a{500}", "(.*a){20}"])
def test_no_pattern_takes_long_on_any_text(pattern: str) -> None:
    assert pattern_fault(pattern) is None
    begun = time.process_time()

    first_match(pattern, "a" * 200_000 + "!")

    assert time.process_time() - begun < 5


def test_only_the_beginning_of_a_long_text_is_looked_through() -> None:
    assert first_match("x", "a" * (MAX_CHARACTERS - 1) + "x") == "x"
    assert first_match("x", "a" * MAX_CHARACTERS + "x") is None and all_matches("x", "a" * MAX_CHARACTERS + "x") == []


def test_what_is_found_is_text_of_any_script() -> None:
    assert first_match(r"\pL+", "12 größer") == "größer" and first_match("計.", "の計画") == "計画"


@given(st.text())
def test_a_pattern_is_usable_or_has_a_fault(pattern: str) -> None:
    if pattern_fault(pattern) is None:
        first_match(pattern, "some text")


@pytest.mark.parametrize("pattern", ["(?=a)", "(?<!b)c", r"(a)\1", "(", "a{1001}", "\ud800", "a" * 1001])
def test_what_re2_cannot_do_is_a_fault(pattern: str) -> None:
    assert pattern_fault(pattern)
