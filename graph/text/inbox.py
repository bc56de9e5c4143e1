"""Open requests as people read them in a list."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, assert_never

from planner_executor.graph.record.asked_effect import AskedEffect
from planner_executor.graph.text.expectation import estimate_text, takes_in_words
from planner_executor.graph.text.stopped import STOPPED, How

ASKED: Mapping[str, str] = {
    "run_plan": "a plan to approve",
    "run_step": "a call to approve",
    "answer_question": "a question to answer",
    "settle_effect": "an uncertain effect to settle",
    "raise_budget": "a spent budget",
}
"""What a person is asked, in words; the names are those of the review contract."""


@dataclass(frozen=True, kw_only=True)
class ListedRun:
    """A run that needs a person `since` then (Unix seconds); `started_by` is the label of who started it."""

    run: str
    goal: str
    since: float
    tags: tuple[str, ...] = ()
    steps: int = 0
    succeeded: int = 0
    cost_usd: float = 0.0
    tokens: int = 0
    started_by: str = ""


@dataclass(frozen=True, kw_only=True)
class InboxRow(ListedRun):
    """An open request: of which run, what it asks, and until when (Unix seconds; None for no limit).

    `estimate` bounds the rest of the run, see `graph.review.estimate`, and says as `takes` what it may take; `deciders`
    are the people by each rule of the policy in words, `policy` says who has to approve, and `voters` have approved.
    `effects` are the first that it asks for, without so many `left_out`, and `amount` is the largest amount of money in
    them, in whatever currency.
    """

    asks: tuple[str, ...]
    until: float | None = None
    estimate: Mapping[str, Any] = field(default_factory=dict)
    deciders: tuple[str, ...] = ()
    policy: str = ""
    voters: tuple[str, ...] = ()
    revision: int = 0
    effects: tuple[AskedEffect, ...] = ()
    left_out: int = 0
    amount: float | None = None

    @property
    def does(self) -> str:
        """What it would do, as a list; empty if it has no effect, or none is on record."""
        more = [f"and {self.left_out} more"] if self.left_out else []
        told = (f"{one.words} (cannot be undone)" if one.undo is False else one.words for one in self.effects)
        return ", ".join([*told, *more])

    @property
    def asked(self) -> str:
        """What is asked, in words."""
        return asked_in_words(self.asks)

    @property
    def may_take(self) -> str:
        """What the rest of the run may take and cost, as a sentence; empty if that is not on record, or redacted."""
        try:
            told = estimate_text(self.estimate) if self.estimate else ""
            return " ".join(filter(None, (told, takes_in_words(self.estimate.get("takes", {})))))
        # The estimate is as the record has it, which an earlier release wrote
        # or a redaction emptied; a list shows the row.
        except (KeyError, TypeError, ValueError):
            return ""

    def to_json(self) -> dict[str, Any]:
        """Return the request as JSON."""
        lists = {name: list(getattr(self, name)) for name in ("asks", "deciders", "voters", "tags")}
        effects = [one.to_json() for one in self.effects]
        return {**vars(self), **lists, "estimate": dict(self.estimate), "effects": effects}


@dataclass(frozen=True, kw_only=True)
class StoppedRow(ListedRun):
    """A run that needs a person and asks nothing: `how` it stopped is a key of `STOPPED`."""

    how: How
    status: str

    @property
    def told(self) -> str:
        """How it stopped, in words."""
        return STOPPED[self.how]

    def to_json(self) -> dict[str, Any]:
        """Return the run as JSON."""
        return {**vars(self), "tags": list(self.tags)}


Grouping = Literal["what", "who", "tag"]
GROUPS: Mapping[Grouping, str] = {"what": "what is asked", "who": "who started it", "tag": "tag"}
"""By what requests are grouped, and how that is called."""


def grouped(rows: Sequence[InboxRow], by: Grouping | None) -> list[tuple[str, list[InboxRow]]]:
    """Return requests under headings, in the order in which these come first; without one if they are not grouped."""
    found: dict[str, list[InboxRow]] = {}
    for row in rows:
        match by:
            case "what":
                heading = row.asked
            case "who":
                heading = row.started_by or "nobody on record"
            case "tag":
                heading = ", ".join(row.tags) or "no tag"
            case None:
                heading = ""
            case _:
                assert_never(by)
        found.setdefault(heading, []).append(row)
    return list(found.items())


def asked_in_words(asks: Sequence[str]) -> str:
    """Return what is asked, each thing once.

    >>> asked_in_words(["run_plan", "settle_effect", "run_plan"]), asked_in_words([])
    ('a plan to approve, an uncertain effect to settle', 'a decision')
    """
    return ", ".join(dict.fromkeys(ASKED.get(name, "a decision") for name in asks)) or "a decision"


def left_in_words(until: float, now: float) -> str:
    """Return how much time is left, roughly.

    >>> left_in_words(90_000.0, 0.0), left_in_words(600.0, 0.0), left_in_words(0.0, 5.0)
    ('1 day', '10 min', 'over')
    """
    left = until - now
    for size, name in ((86_400, "day"), (3_600, "h"), (60, "min")):
        if left >= size:
            count = int(left // size)
            return f"{count} {name}{'s' if name == 'day' and count > 1 else ''}"
    return "less than a minute" if left > 0 else "over"


def age_in_words(since: float, now: float) -> str:
    """Return how long something has waited, roughly.

    >>> age_in_words(0.0, 7_300.0), age_in_words(5.0, 0.0)
    ('2 h', 'less than a minute')
    """
    # A clock that was set back would make the age negative, which reads as "over".
    return left_in_words(max(now, since + 1.0), since)
