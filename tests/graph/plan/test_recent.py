"""What was made last is at hand, and is not kept for ever."""

import asyncio
from dataclasses import dataclass

import pytest

from planner_executor.graph.plan.recent import MOST, Recent
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.budget import Budget


def test_a_value_is_made_once_for_what_it_is_made_of_and_few_are_kept() -> None:
    made: list[int] = []

    def make(number: int) -> str:
        made.append(number)
        return str(number)

    recent = Recent[str](most=2)
    found = [recent.get(make, number) for number in (1, 1, 2, 2, 3, 1, 3)]

    assert found == ["1", "1", "2", "2", "3", "1", "3"]
    assert made == [1, 2, 3, 1]
    assert len(recent._values) <= 2


@dataclass
class Keyed:
    key: str


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Keyed("a"), Keyed("b")),
        (Plan(answer="a"), Plan(answer="b")),
        (Budget(calls={"send": 1}), Budget(calls={"send": 2})),
        ("a", "b"),
    ],
)
def test_what_it_is_made_of_is_the_whole_of_each_value(one: object, other: object) -> None:
    recent = Recent[str]()
    made = iter("12345")

    def make(_: object, *, beside: object) -> str:
        return next(made)

    found = [recent.get(make, value, beside=beside) for value, beside in ((one, one), (other, one), (one, other))]

    assert found == ["1", "2", "3"]
    assert recent.get(make, one, beside=one) == "1"


def test_a_value_that_is_waited_for_is_made_once_too() -> None:
    made: list[int] = []

    async def make(number: int) -> str:
        made.append(number)
        return str(number)

    async def all_of() -> list[str]:
        return [await recent.aget(make, number) for number in range(MOST)]

    recent = Recent[str]()
    first, again = asyncio.run(all_of()), asyncio.run(all_of())

    assert first == again == list(map(str, range(64)))
    assert made == list(range(64))
