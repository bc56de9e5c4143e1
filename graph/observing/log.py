"""Events as log records: one line each with structured fields, never arguments, results or prompts.

The logger is `planner_executor.run`. Each record has `run` and `event` and, if applicable, `step`, `revision`, `role`,
`model`, `tool`, `status`. Failures and refusals are warnings, the milestones of a run are info, the rest is debug.
"""

import json
import logging
import re
from collections.abc import Sequence
from typing import Any, assert_never

from planner_executor.graph.plain_text.sanitize import escaped
from planner_executor.graph.record.events import (
    BudgetReached,
    CallAsked,
    CallFinished,
    CallInherited,
    CallPreviewed,
    CallRefused,
    CallStarted,
    CapReached,
    ConditionEvaluated,
    Configured,
    Decided,
    Draft,
    EventData,
    Executing,
    Inherited,
    LateAnswer,
    ModelFinished,
    ModelStarted,
    OwnerReplaced,
    Paused,
    PlanRefused,
    PlanRevised,
    ResponseGiven,
    ResultSupplied,
    ReviewEscalated,
    ReviewExpired,
    ReviewReminded,
    ReviewRequested,
    RunEnded,
    RunForked,
    RunReopened,
    RunStarted,
    StandingGiven,
    StandingRevoked,
    Steered,
    StepChecked,
    StepFinished,
    StepHeld,
    StepSkipped,
    StepUncertain,
    TakeOverAsked,
    ValueRedacted,
    Voted,
)
from planner_executor.graph.record.run_key import RunKey, run_name

LOGGER = logging.getLogger("planner_executor.run")
LOGGER.addHandler(logging.NullHandler())  # otherwise `logging.lastResort` would print warnings
FIELDS = ("revision", "role", "model", "tool", "status", "decision", "approver", "limit", "cap")
_WORD = re.compile(r'[^\s="]+')


def log_events(run: RunKey, drafts: Sequence[Draft]) -> None:
    """Log newly written events."""
    for draft in drafts:
        level = _level(draft.data)
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


def _level(data: EventData) -> int:
    match data:
        case CallFinished() | StepFinished():
            return logging.WARNING if data.result.status == "failed" else logging.DEBUG
        case ModelFinished():
            return logging.WARNING if data.error is not None else logging.DEBUG
        case RunEnded():
            return logging.WARNING if data.status == "failed" else logging.INFO
        case (
            CallRefused() | PlanRefused() | BudgetReached() | StepHeld() | StepUncertain() | CallAsked() | CapReached()
        ):  # fmt: skip
            return logging.WARNING
        case (
            RunStarted() | PlanRevised() | ReviewRequested() | Decided() | Steered() | Paused() | RunReopened()
            | StepSkipped() | ResultSupplied() | ResponseGiven()
        ):  # fmt: skip
            return logging.INFO
        case (
            Configured() | TakeOverAsked() | OwnerReplaced() | Executing() | CallStarted() | ModelStarted()
            | ConditionEvaluated()
            | StepChecked() | ValueRedacted() | RunForked() | Inherited() | CallInherited() | StandingGiven()
            | StandingRevoked() | Voted() | ReviewReminded() | ReviewEscalated() | ReviewExpired() | LateAnswer()
            | CallPreviewed()
        ):  # fmt: skip
            return logging.DEBUG
        case _:
            assert_never(data)
