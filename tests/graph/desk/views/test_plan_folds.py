"""The steps of a large plan in folds: how many, how large, and which are open."""

import pytest

from planner_executor.graph.desk.views.plan_folds import around, by_layers, opened, waits_of


def beside(count: int) -> dict[str, tuple[str, ...]]:
    return {f"s{n}": () for n in range(count)}


def chain(count: int) -> dict[str, tuple[str, ...]]:
    return {f"s{n}": (f"s{n - 1}",) if n else () for n in range(count)}


@pytest.mark.parametrize(
    ("waits", "sizes"),
    [
        (beside(8), [8]),
        (beside(9), [8, 1]),
        (beside(400), [8] * 50),
        (beside(401), [9] * 44 + [5]),
        (chain(100), [1] * 100),
        (chain(101), [8] * 12 + [5]),
        ({}, []),
    ],
)
def test_folds_have_a_size_that_the_plan_sets(waits: dict[str, tuple[str, ...]], sizes: list[int]) -> None:
    assert [len(fold) for fold in by_layers(waits)] == sizes


def test_folds_open_while_there_is_room_the_last_ones_first() -> None:
    single = tuple((f"a{n}",) for n in range(180))

    def are_open(size: int, *names: str) -> list[str]:
        folds = (*single, tuple(f"b{n}" for n in range(size)), tuple(f"c{n}" for n in range(8)))
        found = opened(folds, names)
        return [name for name in ("b0", "c0") if (name,) in found]

    assert are_open(10, "b0", "c0") == are_open(10, "b0", "c0", "c0") == ["b0", "c0"]
    assert are_open(11, "b0", "c0") == ["c0"] and are_open(11, "c0", "b0") == ["b0"]
    assert are_open(18, "b0") == ["b0"] and are_open(19, "b0") == are_open(9, "none") == []


def test_what_is_found_stands_by_itself() -> None:
    folds = (("a", "b", "c"), ("d",), ("e", "f"))

    assert around(folds, {"b", "f"}) == (("a",), ("b",), ("c",), ("d",), ("e",), ("f",))
    assert around(folds, {"a", "b"}) == (("a",), ("b",), ("c",), ("d",), ("e", "f"))
    assert around(folds, set()) == folds


def test_a_fold_waits_for_the_folds_of_others() -> None:
    waits = {"a": (), "b": ("a",), "c": ("a", "b"), "d": ("c", "a")}

    assert waits_of((("a", "b"), ("c", "d")), waits) == {"a": (), "c": ("a",)}
