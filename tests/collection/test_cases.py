from typing import Any

import pytest
from cases import cases_of, together


@pytest.mark.parametrize("c", [1, pytest.param(2, id="two")])
@pytest.mark.parametrize(("a", "b"), [("x", 1), ["y", 2]], ids=["one", "other"])
def tabled(a: str, b: int, c: int) -> None:
    assert (a, b, c) != ("y", 2, 2)


@pytest.mark.parametrize("a", [1, 2])
def with_a_fixture(a: int, tmp_path: Any) -> None: ...


@pytest.mark.parametrize("a", [1, pytest.param(2, marks=pytest.mark.e2e)])
def with_a_mark_of_one_case(a: int) -> None: ...


@pytest.mark.slow
@pytest.mark.parametrize("a", [1, 2])
def marked(a: int) -> None: ...


@pytest.mark.parametrize("a", [1, 2])
async def in_a_loop(a: int) -> None: ...


@pytest.mark.parametrize("a", [1, 2], indirect=True)
def of_a_fixture(a: int) -> None: ...


def test_the_cases_of_a_table_are_all_rows_with_all_rows_of_the_others() -> None:
    assert sorted(map(str, cases_of(tabled))) == [
        str({"a": a, "b": b, "c": c}) for a, b in (("x", 1), ("y", 2)) for c in (1, 2)
    ]


@pytest.mark.parametrize("test", [with_a_fixture, with_a_mark_of_one_case, marked, in_a_loop, of_a_fixture, int])
def test_what_needs_an_item_for_each_case_has_no_cases(test: Any) -> None:
    assert cases_of(test) == []


def test_the_error_of_a_case_is_raised_and_names_it() -> None:
    with pytest.raises(AssertionError) as failed:
        together(tabled, cases_of(tabled))()

    assert failed.value.__notes__ == ["case 3 of 4: {'a': 'y', 'b': 2, 'c': 2}"]
