"""Conditions of `ask_when`: what cannot be judged is shown."""

from typing import Any

import pytest

from graph.policy.conditions import may_meet
from graph.policy.constraints import Constraint


@pytest.mark.parametrize(
    ("condition", "met", "unmet"),
    [
        (Constraint(above=100), [101, "1e3", True, None, [1, 101]], [100, 5.5, [], [1, 2]]),
        (Constraint(below=0, minimum=-5), [-5, "-1"], [0, -6]),
        (Constraint(domains=("rival.example",)), ["a@rival.example", "<@x:a@b.c>", 7], ["a@example.org"]),
        (Constraint(within=("contracts",)), ["contracts/a", "x/../contracts/a", "/srv/contracts/a"], ["notes/a"]),
        (Constraint(one_of=("EUR", 1)), ["EUR", 1], ["USD", True, "1"]),
        (Constraint(pattern="[0-9]+", above=5), ["77", 6], ["x", 5]),
        (Constraint(pattern="[0-9]+"), ["a" * 100_001, "\ud800"], ["a" * 100_000]),
    ],
)
def test_a_value_meets_a_condition_or_cannot_be_judged(condition: Constraint, met: list[Any], unmet: list[Any]) -> None:
    assert [value for value in met if not may_meet(condition, value)] == []
    assert [value for value in unmet if may_meet(condition, value)] == []
