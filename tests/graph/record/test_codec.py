"""How the types of the fields of an event say the way in which it is written and read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import pytest

from planner_executor.graph.record.codec import As, Coded, Inline, Needed, Shown, Written
from planner_executor.graph.record.events import TYPES


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Inner(Coded):
    name: str = "inner"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Base(Coded):
    origin: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class Sample(Base):
    kind: ClassVar[str] = "sample"

    key: str
    maybe: Written[Inner | None] = None
    must: Needed[Inner | None] = None
    number: Written[int] = 0
    written: Written[str | None] = None
    needed: Needed[tuple[str, ...]] = ()
    shown: Shown[float] = 0.5
    count: int | None = None
    share: float = 1.0
    inner: Inner | None = None
    all: tuple[Inner, ...] = ()
    by_name: Mapping[str, tuple[Inner, ...]] = field(default_factory=dict)
    shouted: Annotated[str, As(str.lower, str.upper)] = "A"
    inline: Inline[Inner]


LEAST = {"key": "k", "maybe": None, "must": None, "number": 0, "written": None, "needed": []}
FULL: dict[str, Any] = {
    "key": "k",
    "maybe": {"name": "y"},
    "must": {"name": "z"},
    "number": 7,
    "written": "w",
    "needed": ["n"],
    "shown": 2,
    "count": 0,
    "share": 2.5,
    "inner": {"name": "a"},
    "all": [{"name": "b"}, {}],
    "by_name": {"x": [{"name": "c"}]},
    "shouted": "b",
    "name": "inline",
    "origin": "o",
}


def read(**changed: Any) -> Sample:
    return Sample.from_json({**LEAST, **changed})


def test_a_default_is_left_out_unless_the_field_says_that_it_is_written() -> None:
    assert Sample(key="k", inline=Inner()).to_json() == LEAST


def test_all_that_is_written_is_read_back_with_what_is_inherited_last() -> None:
    sample = Sample.from_json(FULL)

    assert list(sample.to_json().items()) == list(FULL.items())
    assert (sample.inner, sample.all) == (Inner("a"), (Inner("b"), Inner()))
    assert (sample.by_name, sample.shouted, sample.inline) == ({"x": (Inner("c"),)}, "B", Inner("inline"))


@pytest.mark.parametrize("name", ["key", "needed", "must"])
def test_a_payload_without_what_is_needed_is_malformed(name: str) -> None:
    with pytest.raises(KeyError, match=name):
        Sample.from_json({other: value for other, value in FULL.items() if other != name})


def test_null_is_read_as_nothing_where_nothing_may_stand() -> None:
    assert (read().must, read(maybe={}).maybe) == (None, Inner())


def test_null_and_what_is_not_known_are_read_as_absent() -> None:
    assert read(share=None, all=None, unknown=1) == Sample(key="k", inline=Inner())


def test_a_displayed_number_that_was_redacted_has_its_default() -> None:
    assert [read(shown=value).shown for value in ("[redacted]", True, 3)] == [0.5, 0.5, 3]


@pytest.mark.parametrize(
    ("name", "value"), [("count", "[redacted]"), ("count", 1.0), ("count", True), ("share", "1"), ("number", "2")]
)
def test_a_number_that_the_record_is_read_by_is_checked(name: str, value: Any) -> None:
    with pytest.raises(TypeError, match=f"{name} is not"):
        read(**{name: value})


def test_an_integer_will_do_for_a_number() -> None:
    assert repr(read(share=2).share) == "2.0"


def test_values_of_one_class_with_equal_fields_are_equal_and_say_their_fields() -> None:
    assert Inner("a") == Inner("a") != Inner("b") and hash(Inner("a")) == hash(Inner("a"))
    assert Inner("a") != Base("a"), "another class"
    assert repr(Inner("a")) == "Inner(name='a')"


def classes(of: type) -> Iterator[type]:
    for one in of.__subclasses__():
        yield one
        yield from classes(one)


def test_no_class_of_the_record_compiles_what_it_inherits() -> None:
    ours = {one for one in classes(Coded) if one.__module__.startswith("planner_executor.")}
    own = [one for one in ours if {"__eq__", "__hash__", "__repr__"} & vars(one).keys()]

    assert {*TYPES.values()} <= ours and not own, "say eq=False, repr=False (decision 0174)"
