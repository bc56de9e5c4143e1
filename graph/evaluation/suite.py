"""A suite: goals whose outcomes a machine can check, and the terms under which each arm tries to reach them."""

from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, field_validator

from graph.policy.policy import ApprovalMode
from graph.record.budget import NO_BUDGET, Budget, Price, read_budget

Arm = Literal["direct", "static", "replanning"]
ARMS: tuple[Arm, ...] = get_args(Arm)
"""An agent that calls tools as it goes; a plan that stays as it is; a plan that is revised when a step fails."""

Form = Literal["text", "json"] | dict[str, JsonValue]
"""What an answer is read as: text, JSON, or JSON that fits this schema."""

REPLANNING = ("replan", "horizon", "max_replans", "max_rounds", "max_repairs", "max_depth")
"""Settings that the arm with replanning may have of its own."""

BOUNDED = ("model_calls", "tokens", "cost_usd", "tool_calls", "wall_s")
"""Limits that make sense for a whole evaluation."""


def _read_budget(given: Any) -> Budget:
    if isinstance(given, Budget):
        return given
    budget, faults = read_budget(given)
    if faults:
        raise ValueError("; ".join(f"{name} {why}" for name, why in faults))
    return budget


def _read_whole_budget(given: Any) -> Budget:
    budget = _read_budget(given)
    if others := [name for name in budget.names if name not in BOUNDED]:
        raise ValueError(f"{others[0]} is no limit of a whole evaluation; it has {', '.join(BOUNDED)}")
    return budget


class Case(BaseModel):
    """A goal and what is checked when a run has ended; `documents` and `workspace` stand in for those of the suite.

    A check is one of those that a step may have, and is about the answer, or with `file` about the text of that file.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$", max_length=60)
    goal: str = Field(min_length=1)
    constraints: tuple[str, ...] = ()
    answer: Form = "text"
    checks: tuple[dict[str, JsonValue], ...] = Field(min_length=1)
    documents: str | None = None
    workspace: str | None = None


class Suite(BaseModel):
    """Cases, each tried `repetitions` times in each arm; paths begin at `folder`.

    `tools` are those that may be used, all by default; of them, those that reach beyond a trial's own copy of the
    workspace only where `allow` names them. `budget` bounds the whole evaluation, `run_budget` each run, in all arms.
    `prices` are in US dollars per million tokens, over those of the policy. `replanning` are settings of that arm.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^\w[\w .-]*$", max_length=100)
    cases: tuple[Case, ...] = Field(min_length=1)
    folder: Path = Field(exclude=True)
    repetitions: int = Field(default=1, ge=1)
    approval: ApprovalMode = "side_effects"
    documents: str | None = None
    workspace: str | None = None
    tools: tuple[str, ...] | None = None
    allow: tuple[str, ...] = ()
    policy: str | None = None
    mcp: str | None = None
    budget: Annotated[Budget, BeforeValidator(_read_whole_budget)] = NO_BUDGET
    run_budget: Annotated[Budget, BeforeValidator(_read_budget)] = NO_BUDGET
    prices: dict[str, Price] = Field(default_factory=dict)
    replanning: dict[str, Any] = Field(default_factory=dict)

    @field_validator("replanning")
    @classmethod
    def _settings_of_plans(cls, given: dict[str, Any]) -> dict[str, Any]:
        if other := [name for name in given if name not in REPLANNING]:
            raise ValueError(f"{other[0]} cannot be set here; there are {', '.join(REPLANNING)}")
        return given

    def path(self, name: str | None) -> Path | None:
        """Return where something lies that the suite names."""
        return None if name is None else self.folder / name

    def documents_of(self, case: Case) -> Path | None:
        """Return the folder that a case's tools read."""
        return self.path(case.documents or self.documents)

    def workspace_of(self, case: Case) -> Path | None:
        """Return the folder that each trial of a case gets a copy of."""
        return self.path(case.workspace or self.workspace)
