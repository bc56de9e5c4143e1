"""The open request of a run, folded from its events, and kept as text by the index of runs."""

from typing import Any

import pytest

from planner_executor.graph.record.deadline import Deadline
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.open_review import OpenReview
from planner_executor.graph.record.summarizer import Summarizer
from planner_executor.graph.testing import whole_payload

DEADLINE = Deadline(1_000.0, 100.0, reminders_s=(10.0,), escalations_s=(50.0,))
RULES = [{"roles": ["finance"]}]
STARTED = ("run_started", {"started_by": "os:eve"})
ASKED = (
    "review_requested",
    {"rules": RULES, "deadline": DEADLINE.to_json(), "estimate": {"calls": 2}, "takes": {"seconds": 3}},
)
REMINDED = ("review_reminded", {"after_s": 10.0})
ESCALATED = ("review_escalated", {"after_s": 50.0})
VOTED = ("voted", {"approver": "server:ada"})
FULL = OpenReview(
    1,
    "s",
    tuple(RULES),
    DEADLINE,
    {"calls": 2, "takes": {"seconds": 3}},
    ("os:eve",),
    ("server:ada",),
    50.0,
    50.0,
    3.0,
    5.0,
)


def folded(*events: tuple[str, Any]) -> OpenReview | None:
    """Fold events, each of which is written a second after the one before."""
    payloads = enumerate(events, 1)
    made = (Event(seq, kind, "a", float(seq), whole_payload(kind, one)) for seq, (kind, one) in payloads)
    return Summarizer("t", 1).apply(made).summary.review


def test_an_open_request_has_its_rules_its_people_and_its_time() -> None:
    assert folded(STARTED, ASKED, REMINDED, VOTED, ESCALATED) == FULL


def test_a_request_without_a_bound_says_nothing_of_it() -> None:
    assert folded(STARTED, ("review_requested", {})) == OpenReview(1, "s", askers=("os:eve",))


def test_it_is_the_same_after_it_was_kept_as_text() -> None:
    assert OpenReview.from_text(FULL.to_text()) == FULL
    assert OpenReview.from_text(OpenReview(1).to_text()) == OpenReview(1)
    assert OpenReview(1, "s").to_json() == {"request": 1, "subject": "s"}


@pytest.mark.parametrize(
    ("handled_s", "due_at"), [(0.0, 1_010.0), (10.0, 1_050.0), (50.0, 1_100.0)], ids=["reminder", "escalation", "end"]
)
def test_what_is_due_next_is_what_was_not_done(handled_s: float, due_at: float) -> None:
    assert OpenReview(1, deadline=DEADLINE, handled_s=handled_s).due_at == due_at
    assert OpenReview(1).due_at is None


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("decided", {}),
        ("review_expired", {}),
        ("steered", {}),
        ("run_ended", {}),
        ("step_skipped", {}),
        ("result_supplied", {}),
    ],
)
def test_what_changes_the_run_closes_the_request(kind: str, payload: Any) -> None:
    assert folded(ASKED, (kind, payload)) is None


def test_votes_count_until_the_request_is_decided_or_expires() -> None:
    for closing in ("decided", "review_expired"):
        again = folded(ASKED, VOTED, (closing, {}), ASKED)
        assert again is not None and again.voters == ()
    shown_again = folded(ASKED, VOTED, ASKED)
    assert shown_again is not None and shown_again.voters == ("server:ada",)


def test_a_request_that_is_shown_again_keeps_its_moments_and_another_one_does_not() -> None:
    again, other = (folded(ASKED, REMINDED, ESCALATED, (ASKED[0], {**ASKED[1], "request": n})) for n in (1, 2))

    assert again is not None and other is not None
    assert (again.handled_s, again.escalated_s, again.reminded_at, again.escalated_at) == (50.0, 50.0, 2.0, 3.0)
    assert (other.handled_s, other.escalated_s, other.reminded_at, other.escalated_at) == (0.0, 0.0, None, None)


def test_moments_of_another_request_or_of_none_change_nothing() -> None:
    assert folded(ASKED, ("review_reminded", {"request": 2})) == folded(ASKED)
    assert folded(REMINDED, VOTED) is None


def test_a_reminder_after_an_escalation_does_not_turn_back_what_was_done() -> None:
    found = folded(ASKED, ESCALATED, REMINDED)

    assert found is not None and (found.handled_s, found.reminded_at) == (50.0, 3.0)


def test_whoever_changes_what_is_asked_for_is_an_asker() -> None:
    asking = (
        STARTED,
        ("plan_revised", {"written_by": "os:ann"}),
        ("plan_revised", {}),
        ("steered", {"approver": "os:bob"}),
        ("run_reopened", {"approver": "os:cy"}),
        ("decided", {"decision": "propose", "approver": "os:dan"}),
        ASKED,
    )
    found = folded(*asking)

    assert found is not None and found.askers == ("os:eve", "os:ann", "os:bob", "os:cy", "os:dan")
