import time
from typing import Any

import pytest

from graph.plan.bounded_query import QueryError, found_by, query_fault
from graph.run.checks import Evidence, findings

TWICE = "|".join(["[@,@]"] * 40)


@pytest.mark.parametrize(
    "expression",
    [
        TWICE,
        "|".join(["[@,@][]"] * 40),
        f"to_string({TWICE})",
        f"({TWICE}) == ({TWICE})",
        f"abs({TWICE})",
        "|".join(["join('', [@, @])"] * 40),
        "|".join(["{a: @, b: @}"] * 40),
        f"contains({TWICE}, @)",
    ],
)
def test_an_expression_that_doubles_what_it_finds_is_left_at_the_bound(expression: str) -> None:
    begun = time.process_time()

    assert query_fault(expression) is None
    with pytest.raises(QueryError):
        found_by(expression, [1, "a"])

    assert time.process_time() - begun < 5


def test_a_check_with_such_an_expression_is_not_met() -> None:
    checks: list[dict[str, Any]] = [{"condition": TWICE}, {"non_empty": True, "of": TWICE}]

    found = findings(checks, Evidence("text", {}, lambda _: None))

    assert [(finding.met, "more work" in finding.seen) for finding in found] == [(False, True)] * 2


@pytest.mark.parametrize(
    "expression", ["floor(`1e999`)", "ceil(to_number('1e999'))", "@[::0]", "@[99999999999999999999]"]
)
def test_what_does_not_fit_the_value_never_raises_anything_else(expression: str) -> None:
    try:
        found_by(expression, [1])
    except QueryError as error:
        assert str(error)


def test_a_long_list_is_searched_as_ever() -> None:
    rows = [{"n": number, "tags": ["a", "b"]} for number in range(20_000)]

    assert found_by("length(@)", rows) == 20_000
    assert found_by("rows[?n > `19997`].n", {"rows": rows}) == [19998, 19999]
    assert found_by("max_by(@, &n).n", rows) == 19999


def test_an_expression_that_is_too_long_is_named() -> None:
    assert query_fault("a" * 3_000) == "is longer than 2000 characters"
