"""What people are told of a run, and what they are not."""

import json
from typing import Any

import pytest

from planner_executor.graph.ledger.outbox import Delivery
from planner_executor.graph.notices.notice import Notice, content, identity, notices_of, title
from planner_executor.graph.notices.posting import MOST_TRIES, again_s
from planner_executor.graph.notices.webhook import signature, signature_fault
from planner_executor.graph.record.open_review import OpenReview
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.summary import RunSummary

SECRET = b"0123456789abcdef"
DELIVERY = Delivery(RunKey("t", 1), "waits", 5.0, "waiting", ("run_plan",), "ops")


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("succeeded", "ended"),
        ("rejected", "ended"),
        ("cancelled", "ended"),
        ("failed", "failed"),
        ("partial", "failed"),
        ("budget_exhausted", "failed"),
    ],
)
def test_each_end_has_its_kind(status: str, kind: str) -> None:
    assert notices_of(RunSummary("t", 1, 3, status, ended_at=9.0)) == [Notice(kind, status, 9.0)]


@pytest.mark.parametrize(
    ("fields", "notices"),
    [
        ({"waits_for": "person", "waiting_since": 7.0}, [Notice("waits", "waiting", 7.0, ("run_plan",))]),
        ({"waits_for": "person"}, []),
        ({"waits_for": "person", "review": OpenReview(1, reminded_at=7.0)}, []),
        ({"waits_for": "rate", "waiting_since": 7.0}, []),
    ],
)
def test_a_run_that_waits_for_a_person_is_told_with_what_it_asks(fields: dict[str, Any], notices: list[Notice]) -> None:
    assert notices_of(RunSummary("t", 1, 3, "waiting", asks=("run_plan",), **fields)) == notices


@pytest.mark.parametrize(
    ("delivery", "words"),
    [
        (DELIVERY, "t.1 waits: a plan to approve"),
        (DELIVERY._replace(asks=("run_plan", "run_plan", "newer")), "t.1 waits: a plan to approve, a decision"),
        (DELIVERY._replace(asks=()), "t.1 waits: a decision"),
        (DELIVERY._replace(kind="failed", status="partial"), "t.1 ended: partial"),
    ],
)
def test_one_line_says_what_happened_and_is_part_of_what_a_webhook_gets(delivery: Delivery, words: str) -> None:
    found = content(delivery, "https://desk/t.1")

    assert title(delivery) == words == found["title"]
    assert (found["version"], found["link"], found["run"], found["asks"]) == (
        1,
        "https://desk/t.1",
        "t.1",
        list(delivery.asks),
    )


def test_a_run_at_work_is_nothing_to_hear_of() -> None:
    assert notices_of(RunSummary("t", 1, 3, "running")) == []


def test_a_reminder_and_an_escalation_are_notices_of_their_own() -> None:
    review = OpenReview(1, reminded_at=7.0, escalated_at=8.0)
    run = RunSummary("t", 1, 3, "waiting", waits_for="person", asks=("run_plan",), waiting_since=5.0, review=review)
    told = [(notice.kind, notice.since) for notice in notices_of(run)]
    assert told == [("waits", 5.0), ("expires", 7.0), ("escalated", 8.0)]
    assert title(Delivery(RunKey("t", 1), "expires", 7.0, "waiting", ("run_plan",), "ops")) == (
        "t.1 is about to expire: a plan to approve"
    )


def test_a_notice_tells_neither_goal_nor_reason() -> None:
    run = RunSummary("t", 1, 3, "failed", goal="pay s3cret", reason="s3cret was wrong", ended_at=9.0)
    assert notices_of(run) and "s3cret" not in repr(notices_of(run))
    assert "s3cret" not in json.dumps(content(DELIVERY, None))


def test_each_try_has_the_same_identity_and_each_event_its_own() -> None:
    assert identity(DELIVERY) == identity(Delivery(**{**DELIVERY._asdict(), "tries": 3, "address": "other"}))
    others = [{"since": 6.0}, {"kind": "ended"}, {"run": RunKey("t", 2)}]
    assert len({identity(DELIVERY), *(identity(Delivery(**{**DELIVERY._asdict(), **other})) for other in others)}) == 4


def test_a_thread_name_cannot_forge_a_line_of_a_notice() -> None:
    told = title(Delivery(RunKey("a\nDecided: yes", 1), "ended", 1.0, "succeeded", (), "ops"))
    assert "\n" not in told


def test_a_line_holds_a_hundred_characters_of_a_long_name() -> None:
    told = title(Delivery(RunKey("x" * 200, 1), "ended", 1.0, "succeeded", (), "ops"))
    assert told == "x" * 99 + "… ended: succeeded"


def test_a_receiver_that_is_down_for_a_day_is_still_told() -> None:
    waits = [again_s(tries) for tries in range(1, MOST_TRIES)]
    assert sum(filter(None, waits)) > 2 * 86_400 and None not in waits
    assert again_s(MOST_TRIES) is None


def headers(body: bytes, at: str = "1000") -> dict[str, str]:
    return {"planner-executor-timestamp": at, "planner-executor-signature": signature(SECRET, at, body)}


def test_a_signed_notice_is_believed_and_a_changed_or_old_one_is_not() -> None:
    assert signature_fault(SECRET, headers(b"{}"), b"{}", 1100.0) is None
    assert signature_fault(SECRET, headers(b"{}"), b"{ }", 1100.0) == "its signature is not made with this secret"
    assert signature_fault(SECRET, {**headers(b"{}"), "planner-executor-timestamp": "1099"}, b"{}", 1100.0)
    assert signature_fault(SECRET, headers(b"{}"), b"{}", 1301.0) == "it is too old, or this clock is wrong"
    assert signature_fault(b"another secret..", headers(b"{}"), b"{}", 1100.0)
    assert signature_fault(SECRET, {}, b"{}", 1100.0)


@pytest.mark.parametrize(
    "thread",
    [
        "https://evil.example/pay",
        "evil.example",
        "[pay](//evil.example)",
        "<https://x|pay>",
        "@here",
        "<!channel>",
        "a.b@c.de",
    ],
)
def test_a_threads_name_is_no_link_no_mention_and_no_markup(thread: str) -> None:
    words = title(DELIVERY._replace(run=RunKey(thread, 1)))

    assert words.endswith(".1 waits: a plan to approve")
    assert set(words.removesuffix(".1 waits: a plan to approve")).isdisjoint("./:@<>[]()!|*`&#")
