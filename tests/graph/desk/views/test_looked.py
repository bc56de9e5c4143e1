"""Where somebody looks in a plan: the address of it, what is found, and what is drawn."""

from typing import Any

import pytest

from planner_executor.graph.desk.views.looked import Looked
from planner_executor.graph.plan.schema import Plan


def plan_of(count: int) -> Plan:
    return Plan.model_validate({"steps": [{"id": f"s{n}", "objective": "o", "tool": "read"} for n in range(count)]})


@pytest.mark.parametrize(
    ("look", "query"),
    [
        ({}, ""),
        ({"words": "a b"}, "&find=a+b"),
        ({"statuses": ("failed", "pending")}, "&status=failed&status=pending"),
        ({"open": ("s1",)}, "&open=s1"),
        ({"is_folded": True}, "&fold=1"),
        ({"words": "a", "open": ("s1",), "is_folded": True}, "&find=a&open=s1&fold=1"),
    ],
)
def test_a_look_is_the_end_of_an_address(look: dict[str, Any], query: str) -> None:
    assert Looked(**look).query == query


@pytest.mark.parametrize(
    ("look", "found"),
    [
        ({}, None),
        ({"words": "S1"}, ["s1"]),
        ({"words": "read s1"}, ["s1"]),
        ({"words": "read no"}, []),
        ({"statuses": ("pending",)}, ["s1"]),
        ({"statuses": ("failed",), "words": "s1"}, []),
    ],
)
def test_steps_are_found_by_all_words_and_one_of_the_statuses(look: dict[str, Any], found: list[str] | None) -> None:
    steps = Looked(**look).found(plan_of(2), {"s0": "failed"})

    assert (list(steps) if steps is not None else None) == found


def test_a_plan_is_folded_if_it_is_large_or_folds_are_wanted() -> None:
    assert len(Looked().folds(plan_of(200), None)) == 200 and len(Looked().folds(plan_of(201), None)) == 26
    assert len(Looked(is_folded=True).folds(plan_of(20), None)) == 3


def test_folds_are_open_that_are_asked_for_and_around_what_is_found() -> None:
    assert len(Looked(is_folded=True, open=("s8",)).folds(plan_of(20), None)) == 10
    assert Looked(open=("s0",), is_folded=True).folds(plan_of(8), ["s1"]) == (
        ("s0",), ("s1",), ("s2", "s3", "s4", "s5", "s6", "s7"),
    )  # fmt: skip
    many = plan_of(400)
    alone = [fold for fold in Looked().folds(many, [step.id for step in many.steps[::2]]) if len(fold) == 1]
    assert len([fold for fold in alone if int(fold[0][1:]) % 2 == 0]) == 45
