"""The classes of events: what is written is read back, whatever a redaction or an earlier release left of it."""

import json
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest
from full_payloads import ARTIFACT, FULL
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from planner_executor.graph.errors import UnknownEventError
from planner_executor.graph.record.events import TYPES, Content, Draft, Event, RunEnded, StepFinished, cancelled
from planner_executor.graph.record.redaction import Redactor, Unredactable, redacted_payload
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.testing import LEAST
from planner_executor.graph.text.event_text import event_text

DATA = Path(__file__).parents[2] / "data"
SECRET, NUMBER = "hunter2 is the secret", 47_114_711
READ_BY = {"revision", "call", "item", "request", "n", "seq", "skip"} | {
    *("since", "within_s", "after_s", "expires_at", "expired_at")
}
"""Numbers that the record is read by: a redaction of one is refused when the record is read after it."""

Path = tuple[str | int, ...]


def leaves(value: Any, path: Path = ()) -> Iterator[Path]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if inner is None:
        yield path
    else:
        for key, item in inner:
            yield from leaves(item, (*path, key))


def changed(value: Any, path: Path) -> Any:
    """Return JSON with the secret in the place of one text or number."""
    if not path:
        return SECRET if isinstance(value, str) else NUMBER
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(value[path[0]], path[1:])
    return copy


def at(value: Any, path: Path) -> Any:
    return at(value[path[0]], path[1:]) if path else value


VERSION = ("version",)
"""A number of one digit: no redaction is of less than four characters."""
PLACES = [(kind, path) for kind, payload in FULL.items() for path in leaves(payload) if path != VERSION]


@pytest.mark.parametrize("kind", TYPES)
def test_every_field_of_every_kind_is_written_as_it_was_read(kind: str) -> None:
    data = TYPES[kind].from_json({**FULL[kind], "checkpoint": "c1"})

    assert data.to_json() == {**FULL[kind], "checkpoint": "c1"}
    for field in fields(data):
        default = field.default if field.default_factory is MISSING else field.default_factory()
        assert getattr(data, field.name) != default, f"the sample of {kind} says nothing in {field.name}"


def without_empty(value: Any) -> Any:
    """Return a value without empty fields, which earlier releases wrote and this one leaves out."""
    if isinstance(value, dict):
        return {name: without_empty(part) for name, part in value.items() if part not in (None, [], {})}
    return [without_empty(part) for part in value] if isinstance(value, list) else value


@pytest.mark.parametrize("export", sorted(DATA.glob("*/*.jsonl")), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_what_an_earlier_release_wrote_is_written_as_it_was_read(export: Path) -> None:
    lines = [json.loads(line) for line in export.read_text().splitlines()]
    events = [(line["kind"], json.loads(line["payload"])) for line in lines if line["record"] == "event"]

    assert events
    for kind, payload in events:
        written = TYPES[kind].from_json(payload).to_json()
        assert without_empty(written) == without_empty(payload)
        assert written.keys() <= payload.keys()


@pytest.mark.parametrize("kind", LEAST)
def test_what_an_earlier_release_left_out_has_a_default(kind: str) -> None:
    data = TYPES[kind].from_json(LEAST[kind])

    assert TYPES[kind].from_json(data.to_json()) == data


@settings(max_examples=2 * len(PLACES))
@given(place=st.sampled_from(PLACES))
def test_a_payload_is_read_whatever_field_of_it_was_redacted(place: tuple[str, Path]) -> None:
    kind, path = place
    assume(isinstance(at(FULL[kind], path), str | int | float) and not isinstance(at(FULL[kind], path), bool))
    payload = changed(FULL[kind], path)
    secret = SECRET if at(payload, path) == SECRET else str(NUMBER)
    try:
        left = redacted_payload(payload, Redactor(secret))
    except Unredactable:
        return  # the record is read by this word
    assert secret not in str(left)
    event = Event(1, kind, "step_1", 1000.0, left)

    if path[-1] in READ_BY:
        with pytest.raises(TypeError):
            event.data.to_json()
    else:
        assert event.data.to_json() and event_text(event).sentence


@pytest.mark.parametrize("version", [2, 0, "1", None, True])
def test_another_version_of_a_kind_is_refused_by_name(version: Any) -> None:
    event = Event(4, "paused", None, 0.0, {"reason": "r", "version": version})

    with pytest.raises(UnknownEventError, match="'paused'") as refused:
        event.data.to_json()
    assert refused.value.seq == 4 and event.data_if_known is None


def test_version_one_may_stand_there_and_is_not_written() -> None:
    assert Event(1, "paused", None, 0.0, {"reason": "r", "version": 1}).data.to_json() == {"reason": "r"}


def test_a_payload_that_lacks_what_its_kind_needs_is_no_event() -> None:
    with pytest.raises(KeyError):
        Event(1, "call_started", None, 0.0, {"key": "k"}).data.to_json()


def test_a_value_is_told_from_the_artifact_that_stands_for_it() -> None:
    held = Content.from_json({"artifact": ARTIFACT})

    assert (held.value, held.shown) == (None, {"artifact": ARTIFACT})
    assert (Content(None).to_json(), Content(0).shown) == ({"value": None}, 0)


def test_a_step_that_never_began_has_no_times() -> None:
    failed = StepFinished(result=StepResult("failed", error="no plan"), inputs="", revision=1)

    assert failed.to_json() == {"status": "failed", "error": "no plan", "inputs": "", "revision": 1}


def test_only_a_cancelled_run_is_cancelled() -> None:
    assert cancelled("c").is_cancelled
    assert not RunEnded(status="cancelled", reason="cancelled", answer=Content("x")).is_cancelled


def test_a_draft_is_the_event_that_is_written() -> None:
    draft = Draft(cancelled(), "a")
    event = Event.written(3, 5.0, draft)

    assert (event.kind, event.step, event.data, event.payload) == ("run_ended", "a", draft.data, draft.payload)
    assert draft.at("c1").data.checkpoint == "c1" and not draft.safe


CONTROL = {
    "decided", "plan_revised", "response_given", "result_supplied", "review_expired", "run_ended", "run_reopened",
    "steered", "step_skipped",
}  # fmt: skip
ASIDE = {
    "call_previewed", "configured", "late_answer", "owner_replaced", "redacted", "review_escalated", "review_reminded",
    "standing_given", "standing_revoked", "take_over_asked", "voted",
}  # fmt: skip
LASTING = {
    *CONTROL, "budget_reached", "call_asked", "late_answer", "redacted", "review_escalated", "review_requested",
    "standing_given", "standing_revoked", "step_held", "step_uncertain", "take_over_asked", "voted",
}  # fmt: skip


@pytest.mark.parametrize(("mark", "kinds"), [("is_control", CONTROL), ("is_aside", ASIDE), ("must_last", LASTING)])
def test_what_changes_what_is_allowed_is_marked_so_and_all_that_people_decide_lasts(mark: str, kinds: set[str]) -> None:
    assert {name for name, kind in TYPES.items() if getattr(kind, mark)} == kinds
