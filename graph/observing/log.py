"""Events as log records: one line each with structured fields, never arguments, results or prompts.

The logger is `planner_executor.run`. Each record has `run` and `event` and, if applicable, `step`, `revision`, `role`,
`model`, `tool`, `status`. Failures and refusals are warnings, the milestones of a run are info, the rest is debug.
"""

import json
import logging
import re
from collections.abc import Sequence
from typing import Any

from planner_executor.graph.ledger.protocol import RunKey
from planner_executor.graph.plain_text.sanitize import escaped
from planner_executor.graph.record.events import CallFinished, Draft, EventData, ModelFinished, RunEnded, StepFinished
from planner_executor.graph.record.run_state import run_name

LOGGER = logging.getLogger("planner_executor.run")
LOGGER.addHandler(logging.NullHandler())  # otherwise `logging.lastResort` would print warnings
FIELDS = ("revision", "role", "model", "tool", "status", "decision", "approver", "limit", "cap")
MILESTONES = (
    "run_started",
    "plan_revised",
    "review_requested",
    "decided",
    "steered",
    "paused",
    "run_ended",
    "run_reopened",
    "step_skipped",
    "result_supplied",
    "response_given",
)
PROBLEMS = (
    "call_refused",
    "plan_refused",
    "budget_reached",
    "step_held",
    "step_uncertain",
    "call_asked",
    "cap_reached",
)

_WORD = re.compile(r'[^\s="]+')


def log_events(run: RunKey, drafts: Sequence[Draft]) -> None:
    """Log newly written events."""
    for draft in drafts:
        level = _level(draft)
        if not LOGGER.isEnabledFor(level):
            continue
        told = draft.payload
        fields = {name: _clean(told[name]) for name in FIELDS if told.get(name) is not None}
        named = escaped(run_name(run.thread, run.n))
        about: dict[str, Any] = {"run": named, "event": draft.kind, "step": draft.step, **fields}
        words = " ".join(f"{name}={_quoted(value)}" for name, value in fields.items())
        LOGGER.log(
            level, "%s %s%s %s", about["run"], draft.kind, f" {draft.step}" if draft.step else "", words, extra=about
        )


def _clean(value: Any) -> Any:
    """Return a field with control characters escaped, so that it cannot forge a log line (decision 0030)."""
    return escaped(value) if isinstance(value, str) else value


def _quoted(value: Any) -> str:
    """Return a value quoted unless it is one word; untrusted names may contain `status=succeeded`."""
    text = str(value)
    return text if _WORD.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def _level(draft: Draft) -> int:
    if draft.kind in PROBLEMS or _failed(draft.data):
        return logging.WARNING
    return logging.INFO if draft.kind in MILESTONES else logging.DEBUG


def _failed(data: EventData) -> bool:
    match data:
        case CallFinished() | StepFinished():
            return data.result.status == "failed"
        case RunEnded():
            return data.status == "failed"
        case ModelFinished():
            return data.error is not None
    return False
