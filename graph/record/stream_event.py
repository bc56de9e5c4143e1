"""The events of the `custom` stream: a contract with whoever draws a run as it works (docs/observability.md).

Their JSON Schema is `schemas/stream.json`.
"""

from typing import Any, Final, Literal

from pydantic import with_config
from typing_extensions import TypedDict  # before Python 3.12 pydantic reads none of typing's own

from planner_executor.graph.plain_text.sanitize import one_line
from planner_executor.graph.record.cost import Cost, StepCost
from planner_executor.graph.record.published_schema import CLOSED, published_schema
from planner_executor.graph.record.results import StepResult, StepStatus
from planner_executor.graph.record.values import to_text

VERSION: Final = 1
"""Raised when a field is removed or changes its meaning; new fields and kinds leave it as it is."""

PREVIEW_CHARACTERS = 200

Kind = Literal["step", "item", "progress", "person"]
"""A step's status, the end of one item of a list, what a tool reports in mid-call, and that a person will be needed."""


@with_config(CLOSED)
class ToolProgress(TypedDict):
    """How far a call is, as its tool reports it: `text` is all of it in words."""

    tool: str
    done: float
    total: float | None
    message: str | None
    text: str


@with_config(CLOSED)
class StepState(TypedDict):
    """How far a step is, and what it has cost; times are Unix seconds."""

    status: StepStatus
    error: str | None
    started_at: float | None
    ended_at: float | None
    preview: str | None
    cost: Cost


@with_config(CLOSED)
class StepEvent(StepState):
    """An event of the `custom` stream; times are Unix seconds, and texts are from outside: escape them."""

    version: Literal[1]
    kind: Kind
    run: str
    revision: int
    sequence: int
    step: str
    item: int | None
    attempt: int
    progress: ToolProgress | None


def step_event(
    *,
    kind: Kind,
    run: str,
    revision: int,
    sequence: int,
    step: str,
    attempt: int,
    result: StepResult,
    cost: StepCost,
    item: int | None = None,
    progress: ToolProgress | None = None,
) -> StepEvent:
    """Return an event as clients receive it; every field is always there.

    `sequence` is the number of the run's last ledger event when this one was sent: what a client has read from the
    ledger with a higher number is newer. `attempt` counts the tries of the step under this revision from 1. `cost` is
    what the step has cost since the run was started or resumed.
    """
    return {
        "version": VERSION,
        "kind": kind,
        "run": run,
        "revision": revision,
        "sequence": sequence,
        "step": step,
        "item": item,
        "attempt": attempt,
        "status": result.status,
        "error": result.error,
        "started_at": result.started_at,
        "ended_at": result.ended_at,
        "preview": preview_of(result),
        "cost": cost.to_json(),
        "progress": progress,
    }


def preview_of(result: StepResult) -> str | None:
    """Return the beginning of a succeeded step's value on one line, None if there is no value.

    >>> preview_of(StepResult("succeeded", {"n": 14})), preview_of(StepResult("running"))
    ('{"n":14}', None)
    """
    if result.status != "succeeded":
        return None
    value = result.artifact.get("preview") if result.artifact else result.value
    text = value if isinstance(value, str) else to_text(value)
    # Cut before it is escaped, as it may be long; with room for the spaces that fall together.
    return one_line(text[: 2 * PREVIEW_CHARACTERS], PREVIEW_CHARACTERS)


def stream_schema() -> dict[str, Any]:
    """Return the JSON Schema of an event of the stream."""
    return published_schema(StepEvent)
