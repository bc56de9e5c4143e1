"""What came of each check, and what was seen."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.plan.patterns import MAX_CHARACTERS
from planner_executor.graph.record.check_results import SEEN_CHARACTERS, Evidence, findings

RESULT = {
    "total": 250,
    "open": False,
    "title": "Offshore wind",
    "items": [{"source": "a.md", "line": 3, "text": "see b.pdf, page 3. Or https://x.org/a?b=c, and größe.md:12-14"}],
    "none": None,
}


def found(check: dict[str, Any], result: Any = RESULT, called: dict[str, int] | None = None) -> tuple[bool, str]:
    there = {"report.md": "12 bytes"}
    (finding,) = findings([check], Evidence(result, called or {}, there.get))
    return finding.met, finding.seen


@pytest.mark.parametrize(
    "check",
    [
        {"schema": {"required": ["total"]}},
        {"schema": {"pattern": "^Off"}, "of": "title"},
        {"schema": {"type": "null"}, "of": "gone"},
        {"condition": "total > `200`"},
        {"condition": "open == `false`"},
        {"condition": "@.wind", "of": "{wind: `true`}"},
        {"matches": "wind$", "of": "title"},
        {"matches": '"total":250'},
        {"range": [250, 250], "of": "total"},
        {"range": [None, 251], "of": "total"},
        {"non_empty": True},
        {"non_empty": True, "of": "open"},
        {"file_exists": "report.md"},
        {"cites": 4},
        {"called": "search"},
    ],
    ids=str,
)
def test_it_is_met(check: dict[str, Any]) -> None:
    assert found(check, called={"search": 1})[0] is True


@pytest.mark.parametrize(
    ("check", "seen"),
    [
        ({"schema": {"required": ["sum"]}}, "'sum' is a required property"),
        ({"condition": "total < `200`"}, 'it is false of {"total":250,'),
        ({"condition": "title"}, 'it is "Offshore wind" of {'),
        ({"condition": "total"}, "it is 250 of {"),
        ({"condition": "sum(title)"}, "it cannot be told: sum() is given string, not"),
        ({"matches": "sun", "of": "title"}, "not found in 'Offshore wind'"),
        ({"matches": "a", "of": "gone"}, "not found in 'null'"),
        ({"range": [0, 1], "of": "total"}, "it is 250"),
        ({"range": [251, None], "of": "total"}, "it is 250"),
        ({"range": [0, 1], "of": "title"}, 'it is no number but "Offshore wind"'),
        ({"range": [0, 1], "of": "open"}, "it is no number but false"),
        ({"non_empty": True, "of": "none"}, "it is null"),
        ({"non_empty": True, "of": "items[?line > `9`]"}, "it is []"),
        ({"file_exists": "other.md"}, "there is no such file"),
        ({"cites": 5}, "4 citations: a.md:3, b.pdf, page 3, https://x.org/a?b=c, größe.md:12-14"),
        ({"cites": 1, "of": "title"}, "0 citations"),
        ({"called": "send"}, "0 calls with success; called were search"),
    ],
    ids=str,
)
def test_it_is_not_met_and_what_is_there_instead_is_seen(check: dict[str, Any], seen: str) -> None:
    met, told = found(check, called={"search": 1})

    assert met is False and told.startswith(seen)


def test_what_is_seen_names_no_more_than_is_there() -> None:
    assert found({"schema": {}}) == (True, "it fits")
    assert found({"cites": 1, "of": "title"}) == (False, "0 citations")
    assert found({"cites": 1}, {"source": "a.md"}) == (True, "1 citation: a.md")
    assert found({"cites": 2}, [{"source": "b.pdf", "page": 2}, {"source": ""}]) == (False, "1 citation: b.pdf:2")
    assert found({"file_exists": "report.md"}) == (True, "12 bytes")
    assert found({"range": [250, None], "of": "total"}) == (True, "it is 250")
    assert found({"called": "send"}) == (False, "0 calls with success")
    assert found({"called": "send"}, called={"send": 1, "look": 2}) == (True, "1 call with success")


@pytest.mark.parametrize("empty", ["", " \n", [], {}, None])
def test_what_is_empty(empty: Any) -> None:
    assert found({"non_empty": True}, empty)[0] is False


@pytest.mark.parametrize("full", [0, False, "x", [None], {"a": None}])
def test_what_is_not_empty(full: Any) -> None:
    assert found({"non_empty": True}, full)[0] is True


def test_true_is_not_one() -> None:
    assert found({"condition": "@"}, 1)[0] is False and found({"range": [0, 2]}, True)[0] is False


def test_one_place_that_is_named_twice_is_one_citation() -> None:
    assert found({"cites": 2}, "a.md:3, and again a.md:3.") == (False, "1 citation: a.md:3")


def test_what_is_seen_is_short_and_the_end_of_a_long_text_is_not_looked_at() -> None:
    room = SEEN_CHARACTERS - len('it is ""')
    assert found({"non_empty": True}, "x" * room)[1] == f'it is "{"x" * room}"'
    assert found({"non_empty": True}, "x" * 400)[1] == f'it is "{"x" * room}…'
    assert "characters" not in found({"matches": "x"}, "a" * MAX_CHARACTERS)[1]
    met, seen = found({"matches": "x"}, "a" * 200_000 + "x")

    assert not met and "first 100000 characters" in seen and len(seen) <= SEEN_CHARACTERS


RESULTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
CHECKS = st.one_of(
    st.builds(dict, schema=st.sampled_from([{"type": "object"}, {"items": {"pattern": "a"}}, {"maximum": 3}])),
    st.builds(
        dict, condition=st.sampled_from(["a > b", "length(@)", "sort(@)", "sum(@)", '@ == `"\\ud800"`', "max(@)"])
    ),
    st.builds(dict, matches=st.sampled_from(["a+", "^$", r"\d", "(?i)x"])),
    st.builds(dict, range=st.tuples(st.integers(-9, 0), st.integers(0, 9)).map(list)),
    st.builds(dict, cites=st.integers(1, 3)),
    st.just({"non_empty": True}),
)
PARTS = st.sampled_from([{}, {"of": "@"}, {"of": "a"}, {"of": "[0]"}, {"of": "keys(@)"}, {"of": '`"\\ud800"`'}])


@given(CHECKS, PARTS, RESULTS)
def test_every_check_is_decided_for_every_result_in_words_that_can_be_kept(
    check: dict[str, Any], part: dict[str, Any], result: Any
) -> None:
    met, seen = found({**check, **part}, result)

    assert isinstance(met, bool) and len(seen) <= SEEN_CHARACTERS
    assert json.loads(json.dumps(seen, ensure_ascii=False).encode()) == seen


@given(CHECKS, RESULTS)
def test_the_same_result_is_decided_alike(check: dict[str, Any], result: Any) -> None:
    assert found(check, result) == found(check, json.loads(json.dumps(result)))
