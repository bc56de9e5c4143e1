"""Settings of a graph: names and limits, as its operator chooses them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict, get_type_hints

from planner_executor.graph.plan.attempts import AttemptLimits
from planner_executor.graph.plan.schema import MAX_STEPS
from planner_executor.graph.policy.modes import ApprovalMode, Replan
from planner_executor.graph.policy.policy import NO_POLICY, Policy
from planner_executor.graph.record.budget import NO_BUDGET, Budget
from planner_executor.graph.settings.run_settings import RunSettings, Setting, choices_of, told_of


@dataclass(frozen=True)
class Settings(RunSettings):
    """Names and limits, each declared once: checks, forms, options, records and texts are made of its field.

    `timeout_s`, `attempts` and `backoff_s` are those of every step, see `graph.plan.attempts`.
    """

    policy: Annotated[Policy, Setting("The rules that allow, review and deny", client="ignores")] = NO_POLICY
    budget: Annotated[Budget, Setting("What a new run may spend", nodes=("executor",))] = NO_BUDGET
    max_rounds: Annotated[
        int,
        Setting(
            "Rounds of planning step by step per run, at most",
            least=1,
            counts=("round", "when planning one step at a time"),
            nodes=("planner", "replanner"),
            suite=True,
        ),
    ] = 10
    max_check_attempts: Annotated[
        int,
        Setting(
            "Attempts at a step whose result does not meet its criteria, the first one included",
            least=1,
            nodes=("executor",),
        ),
    ] = 2
    max_feedback: Annotated[
        int,
        Setting(
            "Plans that a person may send back per run, at most",
            least=0,
            counts=("plan", "rejected with feedback"),
            nodes=("review",),
        ),
    ] = 10
    max_steps: Annotated[
        int,
        Setting("Steps in one plan, at most", least=1, counts=("step", "in a plan"), nodes=("planner", "replanner")),
    ] = MAX_STEPS
    max_depth: Annotated[
        int,
        Setting(
            "Nesting of refined steps, at most",
            least=1,
            counts=("level", "of nested refined steps"),
            nodes=("replanner",),
            suite=True,
        ),
    ] = 2
    timeout_s: Annotated[
        float | None,
        Setting("Time limit of a call, or of all turns of a model step, in seconds", nodes=("executor",)),
    ] = None
    attempts: Annotated[
        int | None, Setting("Attempts of a call that fails for a reason that may pass", nodes=("executor",))
    ] = None
    backoff_s: Annotated[
        float | None,
        Setting(
            "Wait before the second attempt, in seconds; it doubles with each further one",
            nodes=("executor",),
            order="recorded",
        ),
    ] = None
    look: Annotated[
        Sequence[str],
        Setting(
            "Tools by which a planner may look before it proposes, besides those that are marked",
            client="ignores",
            order="recorded",
        ),
    ] = ()
    time_zone: Annotated[
        str,
        Setting(
            "Time zone of the day that the models of steps are told, by its IANA name",
            nodes=("executor",),
            order="recorded",
        ),
    ] = "UTC"
    record_prompts: Annotated[
        bool, Setting("Whether the ledger keeps the prompts of models", nodes=("planner", "executor"))
    ] = True
    instructions: Annotated[
        Mapping[str, str], Setting("Additional instructions, by role", client="ignores", order="other")
    ] = field(default_factory=dict)

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
    look: Sequence[str]
    time_zone: str
    record_prompts: bool
    instructions: Mapping[str, str]


TYPES: Mapping[str, Any] = get_type_hints(Settings)
SETTINGS: Mapping[str, Setting] = told_of(Settings)
DEFAULTS: Mapping[str, Any] = {name: getattr(Settings(), name) for name in SETTINGS}
OPTIONAL = tuple(name for name, default in DEFAULTS.items() if default is None)
CHOICES: Mapping[str, tuple[Any, ...]] = choices_of(Settings)
"""Setting -> its values, the strictest first."""


def _rank(name: str) -> Callable[[Any], float] | None:
    order = SETTINGS[name].order
    if order == "other":
        return None
    if order == "recorded":
        # All alike, so that none is stricter and the value on record stays.
        return lambda _: 0
    return CHOICES[name].index if name in CHOICES else lambda limit: float("inf") if limit is None else limit


RANKS: Mapping[str, Callable[[Any], float] | None] = {name: _rank(name) for name in SETTINGS}
"""Setting -> the rank of its values, of which the lowest is the strictest; None if it has no order."""


def current_settings(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a record under their names of today; `max_retries` counted the attempts after the first.

    One that is optional was unset in a version that did not have it; any other is left at its default.
    """
    known = {**dict.fromkeys(OPTIONAL), **recorded}
    if "max_retries" in known:
        known["max_check_attempts"] = known.pop("max_retries") + 1
    return known
