"""When two events are the same, and how a difference is told."""

import json
from typing import Any

import pytest

from planner_executor.graph.record.events import Event
from planner_executor.graph.replay.comparison import Divergence, differing
from planner_executor.graph.testing import drafted, whole_payload

NAME = "redacted-0123456789abcdef"


def recorded(payload: Any, kind: Any = "paused", step: str | None = None) -> Event:
    return Event(3, kind, step, 0.0, whole_payload(kind, payload))


def compared(one: Any, other: Any, names: dict[str, str] | None = None) -> str | None:
    return differing(recorded(one), drafted("paused", other), {} if names is None else names)


@pytest.mark.parametrize("name", ["checkpoint", "started_at", "ended_at", "worked_s", "approver"])
def test_what_the_world_decides_is_not_compared(name: str) -> None:
    assert compared({name: 1, "a": {name: 2}}, {name: 3, "a": {name: 4}}) is None
    assert compared({name: 1}, {}) is None


@pytest.mark.parametrize(
    ("one", "other", "path"),
    [
        ({"a": 1}, {"a": 2}, "a"),
        ({"a": {"b": [1, {"c": "x"}]}}, {"a": {"b": [1, {"c": "y"}]}}, "a.b[1].c"),
        ({"a": [1]}, {"a": [1, 2]}, "a"),
        ({"a": 1}, {}, "a"),
        ({}, {"a": 0}, "a"),
        ({"a": True}, {"a": 1}, "a"),
        ({"a": "1"}, {"a": 1}, "a"),
        ({"a": None}, {"a": 0}, "a"),
        ({"a": 1}, {"a": True}, "a"),
        ({"a": {}}, {"a": 1}, "a"),
        ({"a": 1}, {"a": {}}, "a"),
        ({"a": [1]}, {"a": 1}, "a"),
        ({"a": 1}, {"a": [1]}, "a"),
        ({"a": NAME}, {"a": 1}, "a"),
    ],
)
def test_the_first_field_that_differs_is_named(one: Any, other: Any, path: str) -> None:
    assert compared(one, other) == path


def test_how_a_plan_was_read_is_compared_only_if_both_sides_tell_it() -> None:
    assert compared({"read_as": ["a"]}, {}) is None
    assert compared({}, {"read_as": ["a"]}) is None
    assert compared({"read_as": ["a"]}, {"read_as": ["b"]}) == "read_as[0]"


def test_the_same_is_the_same() -> None:
    payload = {"a": [1, 2.5, None, True, "x", {"b": {}}]}

    assert compared(payload, json.loads(json.dumps(payload))) is None
    assert compared({"a": 1.0}, {"a": 1}) is None


def test_events_of_another_kind_or_step_differ_as_a_whole() -> None:
    assert differing(recorded({}), drafted("executing", {}), {}) == ""
    assert differing(recorded({}, step="a"), drafted("paused", {}, "b"), {}) == ""


def test_a_field_that_earlier_versions_did_not_record_is_compared_only_if_it_is_on_record() -> None:
    replayed = drafted("model_started", {"item": 1})
    older = Event(3, "model_started", None, 0.0, {k: v for k, v in replayed.payload.items() if k != "item"})

    assert differing(older, replayed, {}) is None
    assert differing(recorded({"item": 2}, "model_started"), replayed, {}) == "item"


def test_what_follows_from_texts_is_not_compared_with_a_record_of_other_texts() -> None:
    one, other = recorded({"reason": "2 of 2 steps"}, "run_ended"), drafted("run_ended", {"reason": "all done"})

    assert differing(one, other, {}, other_wording=True) is None
    assert differing(one, other, {}) == "reason"


WHOLE, ADDED = {"continues": None, "value": ["a", "b"]}, {"continues": "k", "value": ["b"]}


@pytest.mark.parametrize(
    ("one", "other", "digest", "path"),
    [
        (WHOLE, ADDED, "d", None),
        (ADDED, WHOLE, "d", None),
        (WHOLE, ADDED, "e", "prompt_digest"),
        (WHOLE, {**WHOLE, "value": ["b"]}, "d", "prompt.value"),
        (ADDED, {**ADDED, "value": ["c"]}, "d", "prompt.value[0]"),
    ],
)
def test_a_prompt_may_be_kept_whole_where_a_process_took_the_run_up(
    one: Any, other: Any, digest: str, path: str | None
) -> None:
    recorded_ = recorded({"prompt_digest": "d", "prompt": one}, "model_started")
    replayed = drafted("model_started", {"prompt_digest": digest, "prompt": other})

    assert differing(recorded_, replayed, {}) == path


def test_a_prompt_that_is_kept_otherwise_is_compared_if_no_digest_says_that_it_is_the_same() -> None:
    left, right = ({"prompt": prompt} for prompt in (WHOLE, ADDED))

    assert differing(recorded(left, "model_started"), drafted("model_started", right), {}) == "prompt.continues"


def test_prompts_with_different_digests_are_compared_however_they_are_kept() -> None:
    left = Event(3, "paused", None, 0.0, {"prompt": WHOLE, "prompt_digest": "d"})
    right = drafted("paused", {"prompt": ADDED, "prompt_digest": "e"})

    assert differing(left, right, {}) == "prompt.continues"


def test_an_empty_field_may_be_absent_on_either_side_and_no_other_may() -> None:
    assert compared({"a": [], "b": {"c": None}}, {"b": {}, "d": {}}) is None
    assert [compared({"a": value}, {}) for value in (0, False, "", [0])] == ["a"] * 4


def test_a_name_stands_for_one_digest_throughout() -> None:
    names: dict[str, str] = {}

    assert compared({"key": NAME, "text": f"see {NAME}."}, {"key": "ab12", "text": "see ab12."}, names) is None
    assert names == {NAME: "ab12"}
    assert compared({"key": NAME}, {"key": "cd34"}, names) == "key"
    assert compared({"key": NAME}, {"key": "not hexadecimal"}) == "key"


def test_each_name_of_a_text_stands_for_its_digest() -> None:
    other = "redacted-fedcba9876543210"

    assert compared({"text": f"{NAME} {other}"}, {"text": "ab12 cd34"}, {NAME: "ab12", other: "ee55"}) == "text"


def test_nothing_is_learned_from_events_that_differ() -> None:
    names: dict[str, str] = {}

    assert compared({"key": NAME, "n": 1}, {"key": "ab12", "n": 2}, names) == "n"
    assert names == {}


def test_texts_laid_out_around_a_redacted_value_are_not_compared() -> None:
    one, other = {"shown": "a   [redacted]", "n": 1}, {"shown": "a [redacted]", "n": 1}

    assert differing(recorded(one), drafted("paused", other), {}, True) is None
    assert differing(recorded(one), drafted("paused", other), {}, False) == "shown"


def test_a_difference_is_told_with_both_sides_of_the_field() -> None:
    difference = Divergence(
        3, recorded({"a": {"b": ["x", "old"]}}), drafted("paused", {"a": {"b": ["x", "new"]}}), "a.b[1]"
    )

    assert str(difference) == "event 3 differs in a.b[1]; on record: old; in the replay: new"
    assert difference.to_json()["replayed"]["payload"]["a"] == {"b": ["x", "new"]}


def test_a_side_that_is_missing_is_told_and_so_is_the_reason() -> None:
    ahead, behind = Divergence(3, None, drafted("paused", {"reason": "r"}), None, "a newer tool"), recorded({})

    assert str(Divergence(3, recorded({"reason": "r"}), None)) == (
        "event 3 differs; on record: paused: r; in the replay: nothing"
    )
    assert str(ahead) == "event 3 differs; on record: nothing; in the replay: paused: r; a newer tool"
    assert ahead.to_json()["recorded"] is None and Divergence(3, behind, None).to_json()["replayed"] is None
    assert Divergence(3, behind, None).to_json()["recorded"] == {"kind": "paused", "payload": behind.payload}


@pytest.mark.parametrize(
    ("value", "shown"),
    [(7, "7"), ([7], "[7]"), ("x" * 300, "x" * 300), ("x" * 301, "x" * 300 + "…")],
    ids=["number", "list", "as much as is shown", "more than is shown"],
)
def test_a_value_is_shown_as_text_up_to_a_length(value: Any, shown: str) -> None:
    assert f"on record: {shown};" in str(Divergence(3, recorded({"a": value}), drafted("paused", {}), "a"))


@pytest.mark.parametrize(
    ("path", "value", "shown"), [("a[1]", [7], "[7]"), ("a.b", [7], "[7]"), ("a[0]", "old", "old")]
)
def test_an_argument_with_the_name_of_a_path_breaks_no_text(path: str, value: Any, shown: str) -> None:
    difference = Divergence(3, recorded({"a": value, path: 1}), None, path)

    assert f"on record: {shown};" in str(difference)


@pytest.mark.parametrize(
    ("replayed", "field", "is_of_a_step"),
    [
        (drafted("paused", {}, "a"), None, True),
        (drafted("paused", {}, "a"), "reason", False),
        (drafted("paused", {}), None, False),
        (None, None, False),
    ],
    ids=["an event of a step", "a field", "an event of the run", "nothing"],
)
def test_a_divergence_is_of_a_step_if_the_record_has_no_such_event(
    replayed: Any, field: str | None, is_of_a_step: bool
) -> None:
    assert Divergence(3, recorded({}), replayed, field).is_of_a_step is is_of_a_step


@pytest.mark.parametrize(
    ("kind", "is_of_plans"),
    [("plan_revised", True), ("plan_refused", True), ("run_ended", True), ("paused", False), (None, False)],
)
def test_a_divergence_is_of_plans_if_the_replay_reads_another_answer_of_the_planner(
    kind: Any, is_of_plans: bool
) -> None:
    replayed = drafted(kind, {}) if kind else None

    assert Divergence(3, recorded({}), replayed).is_of_plans is is_of_plans
