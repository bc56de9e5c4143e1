"""Settings of a graph: names and limits, as its operator chooses them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypedDict

from planner_executor.graph.plan.attempts import AttemptLimits
from planner_executor.graph.plan.reading import MAX_STEPS
from planner_executor.graph.policy.policy import NO_POLICY, ApprovalMode, Policy
from planner_executor.graph.policy.replanning import Replan
from planner_executor.graph.record.budget import NO_BUDGET, Budget


@dataclass(frozen=True)
class Settings:
    """Names and limits; each limit has a minimum, enforced by `build_graph`.

    `max_repairs` bounds the corrections of an invalid plan, `max_feedback` the plans that a person may send back,
    `max_replans` the calls of the replanner after failures, `max_rounds` the rounds of a run that is planned step by
    step, `max_check_attempts` the attempts at a step whose result does not meet its criteria, `max_depth` the nesting
    of refined steps. With `horizon` 1 the planner plans one step at a time. `budget` limits a new run.
    `timeout_s`, `attempts` and `backoff_s` are those of every step, see `graph.plan.attempts`.
    `record_prompts` records prompts in the ledger; answers are always recorded. `instructions` adds to a role's prompt.
    """

    approval: ApprovalMode = "always"
    policy: Policy = NO_POLICY
    budget: Budget = NO_BUDGET
    replan: Replan = "failure"
    horizon: Literal[1] | None = None
    max_concurrency: int = 16
    max_replans: int = 2
    max_rounds: int = 10
    max_check_attempts: int = 2
    max_repairs: int = 1
    max_feedback: int = 10
    max_steps: int = MAX_STEPS
    max_depth: int = 2
    timeout_s: float | None = None
    attempts: int | None = None
    backoff_s: float | None = None
    record_prompts: bool = True
    instructions: Mapping[str, str] = field(default_factory=dict)

    @property
    def attempt_limits(self) -> AttemptLimits:
        """How long and how often a step is tried, by these settings and the policy."""
        return AttemptLimits(self.timeout_s, self.attempts, self.backoff_s).lowest(self.policy.steps)


class GivenSettings(TypedDict, total=False):
    """The settings as a caller may write them: those of `Settings`, with files and plain data for policy and budget."""

    approval: ApprovalMode
    policy: str | Path | Mapping[str, Any] | Policy | None
    budget: Mapping[str, Any] | Budget | None
    replan: Replan
    horizon: Literal[1] | None
    max_concurrency: int
    max_replans: int
    max_rounds: int
    max_check_attempts: int
    max_repairs: int
    max_feedback: int
    max_steps: int
    max_depth: int
    timeout_s: float | None
    attempts: int | None
    backoff_s: float | None
    record_prompts: bool
    instructions: Mapping[str, str]


def current_settings(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a record under their names of today; `max_retries` counted the attempts after the first.

    A setting that an earlier version did not have is left at its default.
    """
    known = {"timeout_s": None, "attempts": None, "backoff_s": None, **recorded}
    if "max_retries" in known:
        known["max_check_attempts"] = known.pop("max_retries") + 1
    return known
