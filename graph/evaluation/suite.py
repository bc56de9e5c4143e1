"""A suite: goals with checkable outcomes, and the terms that are the same for all arms."""

from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, field_validator

from planner_executor.graph.policy.policy import ApprovalMode
from planner_executor.graph.record.budget import NO_BUDGET, Budget, Price, read_budget
from planner_executor.graph.settings.settings import SETTINGS

Arm = Literal["direct", "static", "replanning"]
ARMS: tuple[Arm, ...] = get_args(Arm)
"""An agent without a plan; a static plan; a plan that is revised when a step fails."""

AnswerFormat = Literal["text", "json"] | dict[str, JsonValue]
"""Format of an answer: text, JSON, or JSON that fits a schema."""

REPLANNING = tuple(name for name, told in SETTINGS.items() if told.suite)
"""Settings that a suite may set for the replanning arm."""

BOUNDED = ("model_calls", "tokens", "cost_usd", "tool_calls", "wall_s")
"""Limits that a whole evaluation can have."""


def _read_budget(given: Any) -> Budget:
    if isinstance(given, Budget):
        return given
    budget, faults = read_budget(given)
    if faults:
        raise ValueError("; ".join(f"{name} {fault}" for name, fault in faults))
    return budget


def _read_whole_budget(given: Any) -> Budget:
    budget = _read_budget(given)
    if others := [name for name in budget.names if name not in BOUNDED]:
        raise ValueError(f"{others[0]} cannot limit a whole evaluation; use {', '.join(BOUNDED)}")
    return budget


class Case(BaseModel):
    """A goal and the checks of its outcome; `documents` and `workspace` override those of the suite.

    Checks are those of plan steps. They apply to the answer or, with the key `file`, to the text of that file.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$", max_length=60)
    goal: str = Field(min_length=1)
    constraints: tuple[str, ...] = ()
    answer: AnswerFormat = "text"
    checks: tuple[dict[str, JsonValue], ...] = Field(min_length=1)
    documents: str | None = None
    workspace: str | None = None


class Suite(BaseModel):
    """Cases, each run `repetitions` times in each arm; paths are relative to `folder`.

    `tools` limits the tools (None: all); `allow` names tools that may reach beyond a trial's copy of the workspace.
    `budget` bounds the whole evaluation, `run_budget` each run of every arm. `prices` override those of the policy, in
    US dollars per million tokens. `replanning` holds settings of that arm.
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
    def _check_replanning(cls, given: dict[str, Any]) -> dict[str, Any]:
        if other := [name for name in given if name not in REPLANNING]:
            raise ValueError(f"{other[0]} cannot be set here; use {', '.join(REPLANNING)}")
        return given

    def path(self, name: str | None) -> Path | None:
        """Return a path named in the suite, relative to its folder."""
        return None if name is None else self.folder / name

    def documents_of(self, case: Case) -> Path | None:
        """Return the documents folder of a case."""
        return self.path(case.documents or self.documents)

    def workspace_of(self, case: Case) -> Path | None:
        """Return the folder that is copied for each trial of a case."""
        return self.path(case.workspace or self.workspace)
