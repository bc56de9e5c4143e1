"""A notice about a run that waits for a person, failed or ended. It has no goal, argument or result (decision 81)."""

import hashlib
from dataclasses import dataclass
from typing import Any

from planner_executor.graph.ledger.outbox import Delivery
from planner_executor.graph.plain_text.sanitize import one_line
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.run_status import FAILURES
from planner_executor.graph.record.summary import PERSON, RunSummary
from planner_executor.graph.text.inbox import asked_in_words

NAME_CHARACTERS = 100
"""How much of a run's name a title holds."""
VERBS = {"waits": "waits", "expires": "is about to expire", "escalated": "is escalated to you"}
"""The words of each kind of notice about a run that waits."""


@dataclass(frozen=True)
class Notice:
    """The state of a run at `since`, in Unix seconds; `asks` names the actions of the open request."""

    kind: str
    status: str
    since: float
    asks: tuple[str, ...] = ()


def notices_of(run: RunSummary) -> list[Notice]:
    """Return the notices that a run in this state calls for; none while it executes.

    >>> notices_of(RunSummary("t", 1, 9, "partial", ended_at=5.0))
    [Notice(kind='failed', status='partial', since=5.0, asks=())]
    """
    if run.ended_at is not None:
        return [Notice("failed" if run.status in FAILURES else "ended", run.status, run.ended_at)]
    if run.waits_for != PERSON or run.waiting_since is None:
        return []
    review = run.review
    since = {
        "waits": run.waiting_since,
        "expires": review.reminded_at if review is not None else None,
        "escalated": review.escalated_at if review is not None else None,
    }
    return [Notice(kind, run.status, at, run.asks) for kind, at in since.items() if at is not None]


def identity(delivery: Delivery) -> str:
    """Return the key of a notice, equal for every try and every sender, so that receivers can drop repetitions."""
    named = "\n".join((delivery.run.thread, str(delivery.run.n), delivery.kind, repr(delivery.since)))
    return hashlib.sha256(named.encode()).hexdigest()


def title(delivery: Delivery) -> str:
    """Return the notice in one line.

    >>> from planner_executor.graph.ledger.protocol import RunKey
    >>> title(Delivery(RunKey("t", 1), "waits", 5.0, "waiting", ("run_plan", "settle_effect"), "ops"))
    't.1 waits: a plan to approve, an uncertain effect to settle'
    """
    name = harmless(delivery.run)
    if delivery.kind not in VERBS:
        return f"{name} ended: {delivery.status}"
    return f"{name} {VERBS[delivery.kind]}: {asked_in_words(delivery.asks)}"


def harmless(run: RunKey) -> str:
    """Return the name of a run as text that no mail program and no chat takes for a link, a mention or markup.

    A thread's name may be a client's: letters, digits, spaces, `-` and `_` of it stay.

    >>> from planner_executor.graph.ledger.protocol import RunKey
    >>> harmless(RunKey("order 7", 1)), harmless(RunKey("https://evil.example", 2))
    ('order 7.1', 'https···evil·example.2')
    """
    line, number = one_line(run.id, NAME_CHARACTERS), f".{run.n}"
    thread, number = (line.removesuffix(number), number) if line.endswith(number) else (line, "")
    return "".join(letter if letter.isalnum() or letter in " -_…" else "·" for letter in thread) + number


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
