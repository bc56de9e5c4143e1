"""What people are told of a run: that it waits for a person, failed, or ended. No goal, argument or result is in it."""

import hashlib
from dataclasses import dataclass
from typing import Any

from graph.ledger.outbox import Delivery
from graph.record.summary import PERSON, RunSummary
from graph.sanitize import escaped

KINDS = ("waits", "failed", "ended")
"""That a run waits for a person, ended as `failed`, `partial` or `budget_exhausted`, or ended otherwise."""
FAILURES = ("failed", "partial", "budget_exhausted")
ASKED = {
    "run_plan": "a plan to approve",
    "run_step": "a call to approve",
    "answer_question": "a question to answer",
    "settle_effect": "an uncertain effect to settle",
    "raise_budget": "a spent budget",
}
"""What a person is asked, in words; the names are those of the review contract."""


@dataclass(frozen=True)
class Notice:
    """What a run came to at `since`, in Unix seconds; `asks` names the open requests of a run that waits."""

    kind: str
    status: str
    since: float
    asks: tuple[str, ...] = ()


def notice_of(run: RunSummary) -> Notice | None:
    """Return the notice that is due about a run as it stands, None while nobody needs to hear of it.

    >>> notice_of(RunSummary("t", 1, 9, "partial", ended_at=5.0))
    Notice(kind='failed', status='partial', since=5.0, asks=())
    """
    if run.waits_for == PERSON and run.waiting_since is not None:
        return Notice("waits", run.status, run.waiting_since, run.asks)
    if run.ended_at is not None:
        return Notice("failed" if run.status in FAILURES else "ended", run.status, run.ended_at)
    return None


def identity(delivery: Delivery) -> str:
    """Return the key that is equal for every try of a notice, whoever sends it."""
    named = "\n".join((delivery.run.thread, str(delivery.run.n), delivery.kind, repr(delivery.since)))
    return hashlib.sha256(named.encode()).hexdigest()


def title(delivery: Delivery) -> str:
    """Return the one line that says what happened.

    >>> from graph.ledger.protocol import RunKey
    >>> title(Delivery(RunKey("t", 1), "waits", 5.0, "waiting", ("run_plan", "settle_effect"), "ops"))
    't.1 waits: a plan to approve, an uncertain effect to settle'
    """
    name = escaped(delivery.run.id)
    if delivery.kind != "waits":
        return f"{name} ended: {delivery.status}"
    asked = ", ".join(dict.fromkeys(ASKED.get(name, "a decision") for name in delivery.asks))
    return f"{name} waits: {asked or 'a decision'}"


def content(delivery: Delivery, link: str | None) -> dict[str, Any]:
    """Return the notice as webhooks get it (docs/notices.md)."""
    return {
        "version": 1,
        "id": identity(delivery),
        "kind": delivery.kind,
        "run": delivery.run.id,
        "thread": delivery.run.thread,
        "n": delivery.run.n,
        "status": delivery.status,
        "asks": list(delivery.asks),
        "since": delivery.since,
        "title": title(delivery),
        "link": link,
    }
