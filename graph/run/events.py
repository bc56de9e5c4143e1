"""The lines of the ledger: what they are called and what they say."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from graph.plan.render.labels import plain

Kind = Literal[
    "run_started",  # goal, constraints, setup, thread, n, checkpoint
    "plan_revised",  # revision, plan, digest, binding, reason, author, dropped, checkpoint
    "review_requested",  # request, digest, subject, revision, asked, error, issues, checkpoint, skip
    "decided",  # request, decision, by, approver, digest, binding, message, settled, checkpoint
    "executing",  # revision, checkpoint
    "call_started",  # key, call, tool, args, args_digest, effect, repeatable, revision
    "call_finished",  # key, status, value | artifact | error, nothing_happened, started_at, ended_at
    "model_started",  # key, role, model, prompt_digest
    "model_finished",  # key, response | error, usage
    "step_finished",  # status, value | artifact | error, inputs, revision, started_at, ended_at
    "paused",  # reason
    "run_ended",  # status, reason
]

CONTROL: tuple[Kind, ...] = ("plan_revised", "decided", "run_ended")
"""Events that change what is allowed: an intent is refused when one of these came after its author last looked."""


@dataclass(frozen=True)
class Draft:
    """An event that is not written yet; `safe` says that a power cut may lose it without harm."""

    kind: Kind
    payload: Mapping[str, Any] = field(default_factory=dict)
    step: str | None = None
    safe: bool = True


@dataclass(frozen=True)
class Event:
    """An event as it stands in the ledger; `seq` counts from 1 within the run, `at` is in Unix seconds."""

    seq: int
    kind: Kind
    step: str | None
    at: float
    payload: Mapping[str, Any]


CANCELLED: Mapping[str, Any] = {"status": "cancelled", "reason": "cancelled", "value": None}
"""What `run_ended` says of a run that was cancelled."""

TELLING = ("status", "decision", "by", "tool", "role", "revision", "author", "reason", "message", "error", "digest")


def event_line(event: Event) -> str:
    """Return an event as one line for people; arguments and values are left to the event itself."""
    told = {name: event.payload[name] for name in TELLING if event.payload.get(name) is not None}
    words = ", ".join(f"{name} {str(value)[:12] if name == 'digest' else value}" for name, value in told.items())
    return f"{event.seq:>4} {event.kind}{f' {event.step}' if event.step else ''}{f': {plain(words)}' if words else ''}"
