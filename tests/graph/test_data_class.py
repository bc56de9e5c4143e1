"""A data class is what the standard library would have made of it."""

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from planner_executor.graph import data_class

Values = tuple[type, ...]


def classes(dataclass: Callable[..., Any], **options: bool) -> Values:
    """Return classes with all that fields can be, made by a decorator."""

    @dataclass(frozen=True, **options)
    class Point:
        x: int
        name: str = dataclasses.field(default="here", repr=False)
        marks: list[int] = dataclasses.field(default_factory=list)
        seen: dict[str, int] = dataclasses.field(default_factory=dict, init=False, compare=False)
        note: str = dataclasses.field(default="-", kw_only=True, compare=False)

    @dataclass(frozen=True, **options)
    class Place(Point):
        height: int = 0

        def __post_init__(self) -> None:
            object.__setattr__(self, "height", abs(self.height))

    return Point, Place


OPTIONS = pytest.mark.parametrize("options", [{}, {"slots": True}, {"kw_only": True, "slots": True}])


@OPTIONS
def test_it_is_made_shown_and_compared_as_that_of_the_standard_library(options: dict[str, bool]) -> None:
    def facts(point: Any, place: Any) -> list[Any]:
        one, same = point(x=1, note="a"), point(x=1, note="b")
        high = place(x=1, name="there", marks=[2], height=-3)
        return [
            (repr(one), repr(high), one == same, one != point(x=2), one == place(x=1), one == (1, "here")),
            (dataclasses.asdict(high), repr(dataclasses.replace(high, x=5)), one.marks is same.marks, one.seen),
            [field.name for field in dataclasses.fields(place)],
            list(inspect.signature(place).parameters),
            (place.__match_args__, place.__init__.__annotations__, place.__init__.__qualname__),
        ]

    assert facts(*classes(data_class.dataclass, **options)) == facts(*classes(dataclasses.dataclass, **options))


@OPTIONS
def test_what_is_frozen_does_not_change_and_can_be_copied(options: dict[str, bool]) -> None:
    _, place = classes(data_class.dataclass, **options)
    value = place(x=1, marks=[2], height=3)

    with pytest.raises(dataclasses.FrozenInstanceError):
        value.x = 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        del value.x
    assert copy.copy(value) == copy.deepcopy(value) == value


@data_class.dataclass(frozen=True, slots=True)
class Pair:
    """Two values that have a hash."""

    left: int
    right: str = ""


@data_class.dataclass
class Count:
    """A value that changes."""

    number: int = 0


@data_class.dataclass(frozen=True, eq=False)
class Itself:
    """A value that is equal to itself alone."""

    number: int = 0


@data_class.dataclass(frozen=True)
class Own:
    """A value with a text and a hash of its own."""

    number: int = 0

    def __repr__(self) -> str:
        return "own"

    def __hash__(self) -> int:
        return 7


def test_only_what_is_frozen_and_compared_by_value_has_a_hash_of_its_values() -> None:
    counted = Count()
    counted.number += 1

    assert counted == Count(1) and Count.__hash__ is None
    assert {Pair(1), Pair(1, "")} == {pickle.loads(pickle.dumps(Pair(1)))}
    assert Itself(1) != Itself(1)
    assert (repr(Own()), hash(Own()), Own() == Own()) == ("own", 7, True)
