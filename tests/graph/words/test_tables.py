"""Tables that operators write: a value, or each fault with its place and in our words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from pydantic import AfterValidator, AliasPath, BaseModel, Field

from planner_executor.graph.words.tables import (
    BESIDE,
    LARGEST,
    Faults,
    Number,
    Says,
    Shape,
    Text,
    Texts,
    YesNo,
    entries,
    fault,
    read,
)


def _even(given: float) -> float:
    if given % 2:
        raise fault("is odd {at} {words}")
    return given


@dataclass(frozen=True)
class Part:
    """A table that is a value."""

    size: Annotated[Number, AfterValidator(_even)]
    colour: Literal["red", "blue"] = "red"
    names: Texts = ()
    is_on: YesNo = False


class Pair(NamedTuple):
    """A table of limits."""

    one: Annotated[Number, Field(gt=0), Says("must be above 0 { here }")] | None = None
    other: Number | None = None


def _checked(given: "Whole") -> "Whole":
    if given.title == "wrong":
        raise fault("is wrong", "title")
    return given


class Whole(BaseModel):
    """A table that has others in it."""

    parts: Annotated[Mapping[str, Annotated[Part, Shape("must be a part with {names}")]], Shape()] = {}
    shades: Annotated[Mapping[Literal["light", "dark"], Text], Shape()] = {}
    pair: Annotated[Pair, Shape(unknown="is none of {names}", without=("other",), is_nullable=True)] = Pair()
    every: Annotated[Number, Field(validation_alias=BESIDE)] = 0
    deep: Number = Field(0, validation_alias=AliasPath("pair", "deep"))
    title: Text = ""


COLOURS = "; it must be one of red, blue"
TABLE = Annotated[Whole, AfterValidator(_checked), Shape("must be a whole")]


def faults(given: Any) -> Faults:
    return read(TABLE, given)[1]


def test_a_table_without_faults_is_its_value_and_numbers_stay_what_they_are() -> None:
    found, none = read(TABLE, {"parts": {"a": {"size": 2, "names": ["x"]}}, "pair": {"one": 0.5}, "title": "t"})

    assert not none
    assert found.parts == {"a": Part(2, names=("x",))} and type(found.parts["a"].size) is int
    assert (found.pair, found.title) == (Pair(0.5), "t")


def test_a_limit_that_is_null_is_left_out_and_nothing_else_may_be() -> None:
    assert read(TABLE, {"pair": {"one": None}})[0].pair == Pair()
    assert read(Annotated[Part, Shape(is_nullable=True)], {"size": 2, "names": None})[0] == Part(2)
    assert faults({"title": None}) == [(("title",), "is null; leave it out instead")]
    assert faults({"parts": {"a": None}}) == [(("parts", "a"), "is null; leave it out instead")]


@pytest.mark.parametrize(
    ("given", "place", "words"),
    [
        (5, (), "must be a whole"),
        ({"titel": "x"}, ("titel",), "is unknown; did you mean title?"),
        ({"every": 1}, ("every",), "is unknown; use one of parts, shades, pair, title"),
        ({"title": 5}, ("title",), "must be text"),
        ({"title": "wrong"}, ("title",), "is wrong"),
        ({"parts": []}, ("parts",), "must be a table"),
        ({"parts": {"a": 5}}, ("parts", "a"), "must be a part with size, colour, names, is_on"),
        ({"parts": {"a": {}}}, ("parts", "a", "size"), "is missing"),
        ({"parts": {"a": {"size": 3}}}, ("parts", "a", "size"), "is odd {at} {words}"),
        ({"parts": {"a": {"size": "2"}}}, ("parts", "a", "size"), "must be a number"),
        ({"parts": {"a": {"size": True}}}, ("parts", "a", "size"), "must be a number"),
        ({"parts": {"a": {"size": float("nan")}}}, ("parts", "a", "size"), "must be a number"),
        ({"parts": {"a": {"size": LARGEST}}}, ("parts", "a", "size"), "must be a number"),
        ({"parts": {"a": {"size": -(10**400)}}}, ("parts", "a", "size"), "must be a number"),
        ({"parts": {"a": {"size": 2, "colour": "rde"}}}, ("parts", "a", "colour"), f"is 'rde'{COLOURS}"),
        ({"parts": {"a": {"size": 2, "colour": ["red"]}}}, ("parts", "a", "colour"), f"is ['red']{COLOURS}"),
        ({"parts": {"a": {"size": 2, "is_on": 1}}}, ("parts", "a", "is_on"), "must be true or false"),
        ({"shades": {"ligth": "x"}}, ("shades", "ligth"), "is unknown; did you mean light?"),
        ({"shades": {"light": 5}}, ("shades", "light"), "must be text"),
        ({"pair": {"one": 0}}, ("pair", "one"), "must be above 0 { here }"),
        ({"pair": {"other": 1}}, ("pair", "other"), "is none of one"),
        ({"pair": {5: 1}}, ("pair", "5"), "is none of one"),
    ],
)  # fmt: skip
def test_one_fault_is_named_by_its_place_in_our_words(given: Any, place: tuple[str, ...], words: str) -> None:
    assert faults(given) == [(place, words)]


@pytest.mark.parametrize("texts", ["x", [], ["x", " "], [5], {"x"}, None, [None]])
def test_a_list_of_texts_is_a_list_that_says_something_in_an_order(texts: Any) -> None:
    assert read(Texts, texts) == (None, [((), "must be a non-empty list of texts")])


def test_a_fault_in_a_list_has_the_place_of_the_list() -> None:
    assert read(list[Number], [1, "x"]) == (None, [((), "must be a number")])


def test_faults_of_several_entries_are_named_together() -> None:
    found = faults({"parts": {"a": {"size": "x", "is_on": "y"}}, "title": 5})

    assert [place for place, _ in found] == [("parts", "a", "size"), ("parts", "a", "is_on"), ("title",)]


def test_an_entry_with_a_default_of_any_kind_is_not_needed() -> None:
    @dataclass(frozen=True)
    class Defaults:
        """A table."""

        needed: int
        plain: int = 0
        made: list[int] = field(default_factory=list)

    assert entries(Defaults) == {"needed": True, "plain": False, "made": False}
    assert entries(Pair) == {"one": False, "other": False}
    assert entries(Mapping[str, int]) == {}
