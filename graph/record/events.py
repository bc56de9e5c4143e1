"""The lines of the ledger: what they are called and what they say."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal[
    # goal, constraints, tags, wording, setup, setup_by, budget, history, configured, thread, n, checkpoint
    "run_started",
    "configured",  # settings, models, tools: what decisions rest on from here on, where it is not as before
    # revision, plan, digest, binding, reason, author, replaced: [{step, tools, by, standing}], tainted, failures,
    # stalled, checkpoint, read_as: what was read otherwise than written, would_replace: sentences on files
    "plan_revised",
    "plan_refused",  # author, issues, brought: {value | artifact} where the caller brought it
    # request, digest, subject, revision, asked, actions, shown, answer, unseen, error, issues, checkpoint, skip
    "review_requested",
    # request, decision, by, approver, digest, binding, message, settled, decisions, steps, given, budget,
    # checkpoint
    "decided",
    "steered",  # constraints, added, withdrawn, feedback, approver
    "executing",  # revision, checkpoint
    "call_started",  # key, call, item, tool, args | args: {artifact} and args_digest, effect, repeatable, revision
    "call_finished",  # call, status, value | artifact | error, nothing_happened, unchecked, started_at, ended_at
    "call_refused",  # tool, args..., why, revision: what a step asked for and its grant or the policy does not give
    # key, tool, args..., labels, before: [{key, run, step, seq}], revision: a call that waits for a person to see it
    "step_held",
    # key, tool, args..., calls: [{key} | {key, run, step, seq, error, unmet}], revision: a call that waits until a
    # person has said of others, of this run or another one of its thread, whether they happened
    "step_uncertain",
    # key, role, model, prompt_digest, reserved: {tokens, cost_usd}, prompt: {continues, value | artifact}
    "model_started",
    "model_finished",  # key, response | error, usage, model, attempts, cost_usd
    # status, value | artifact | error, inputs, label, missing, revision, unchecked, started_at, ended_at
    "step_finished",
    # met, checks: [{check, met, seen}], judged: {criterion, met, why}, error, revision, again
    "step_checked",
    "budget_reached",  # limit, by: who could not go on, budget, spent, left: ids of the steps that are left
    "paused",  # reason
    "redacted",  # left: [{seq, digest}] of the payloads that stand in place of others, by, reason
    "run_ended",  # status, reason, value | artifact, read_as of an answer that a planner gave at once
]

WORDING = 2
"""Which words prompts and reviews are written in; it changes with a release that changes them. Absent means 1."""

CONTROL: tuple[Kind, ...] = ("plan_revised", "decided", "steered", "run_ended")
"""Events that change what is allowed: an intent is refused when one of these came after its author last looked."""

ASIDE: tuple[Kind, ...] = ("configured", "redacted")
"""Events that say nothing of where the run stands."""


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


BY_FACADE = "facade"
"""`setup_by` of a run whose setup the facade gave; a setup without it may be a client's."""

CANCELLED: Mapping[str, Any] = {"status": "cancelled", "reason": "cancelled", "value": None}
"""What `run_ended` says of a run that was cancelled."""
