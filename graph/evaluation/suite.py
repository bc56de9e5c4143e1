"""A suite: goals with checkable outcomes, and the terms that are the same for all arms."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue

from planner_executor.graph.playbooks.case import Case as RecordedCase
from planner_executor.graph.playbooks.playbook import Playbook
from planner_executor.graph.policy.modes import ApprovalMode
from planner_executor.graph.record.budget import NO_BUDGET, Budget, BudgetTable, Price
from planner_executor.graph.settings.settings import SETTINGS
from planner_executor.graph.words.tables import ClosedTable, Says, Shape, fault

ArmKind = Literal["direct", "static", "replanning", "playbook"]
"""An agent without a plan; a static plan; a plan that is revised when a step fails; the plan of a playbook."""

ARM_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,19}")

AnswerFormat = Literal["text", "json"] | dict[str, JsonValue]
"""Format of an answer: text, JSON, or JSON that fits a schema."""

REPLANNING = tuple(name for name, told in SETTINGS.items() if told.suite)
"""Settings that a suite may set for the replanning arm."""

BOUNDED = ("model_calls", "tokens", "cost_usd", "tool_calls", "wall_s")
"""Limits that a whole evaluation can have."""


def _as_table(given: Any) -> Any:
    return given.to_json() if isinstance(given, Budget) else given


def _of_a_whole_evaluation(budget: Budget) -> Budget:
    if others := [name for name in budget.names if name not in BOUNDED]:
        raise fault(f"cannot limit a whole evaluation; use {', '.join(BOUNDED)}", others[0])
    return budget


def _of_the_replanning_arm(given: dict[str, Any]) -> dict[str, Any]:
    if others := [name for name in given if name not in REPLANNING]:
        raise fault(f"cannot be set here; use {', '.join(REPLANNING)}", others[0])
    return given


Limits = Annotated[BudgetTable, BeforeValidator(_as_table)]


class Arm(ClosedTable):
    """One way to reach the goals: the model of its planner, by default the evaluation's, and the playbooks it knows."""

    kind: ArmKind
    planner: str | None = Field(default=None, min_length=1)
    playbooks: str | None = Field(default=None, min_length=1)


def _arms(given: Any) -> Any:
    """Return the arms as they are written; the kind of an arm that says none is its name, or a plan that is revised."""
    if not isinstance(given, dict):
        return given
    if wrong := [name for name in given if ARM_NAME.fullmatch(name) is None]:
        raise fault("is no name of an arm: a letter, then letters, digits, _ and -, 20 at most", wrong[0])
    # A suite may be built in Python, with arms that are read already.
    tables = {name: arm.model_dump(exclude_none=True) if isinstance(arm, Arm) else arm for name, arm in given.items()}
    return {
        name: {"kind": name if name in get_args(ArmKind) else "replanning", **arm} if isinstance(arm, dict) else arm
        for name, arm in tables.items()
    }


ARMS: Mapping[str, Arm] = {kind: Arm(kind=kind) for kind in get_args(ArmKind)}
"""The arms of a suite that names none."""


class Case(ClosedTable):
    """A goal and the checks of its outcome; `documents` and `workspace` override those of the suite.

    Checks are those of plan steps. They apply to the answer or, with the key `file`, to the text of that file.
    """

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$", max_length=60)
    goal: str = Field(min_length=1)
    constraints: tuple[str, ...] = ()
    answer: AnswerFormat = "text"
    checks: Annotated[
        tuple[dict[str, JsonValue], ...], Field(min_length=1), Says("must be a list of checks, at least one")
    ]
    documents: str | None = None
    workspace: str | None = None


class PlaybookCase(Case):
    """A case of a playbook: its goal and checks are those of the case, which answers for the tools."""

    checks: tuple[dict[str, JsonValue], ...] = ()
    playbook: Playbook = Field(exclude=True)
    digest: str
    recorded: RecordedCase


class Suite(ClosedTable):
    """Cases, each run `repetitions` times in each arm; paths are relative to `folder`.

    `playbook` is the file whose cases they are. Of the arms others are compared with the first.

    `tools` limits the tools (None: all); `allow` names tools that may reach beyond a trial's copy of the workspace.
    `budget` bounds the whole evaluation, `run_budget` each run of every arm. `prices` override those of the policy, in
    US dollars per million tokens. `replanning` holds settings of that arm.
    """

    name: str = Field(pattern=r"^\w[\w .-]*$", max_length=100)
    cases: Annotated[tuple[Case, ...], Field(min_length=1), Says("must be a list of cases, at least one")]
    folder: Path = Field(exclude=True)
    playbook: str | None = None
    arms: Annotated[dict[str, Annotated[Arm, Shape()]], BeforeValidator(_arms)] = Field(default_factory=dict)
    repetitions: int = Field(default=1, ge=1)
    approval: ApprovalMode = "side_effects"
    documents: str | None = None
    workspace: str | None = None
    tools: tuple[str, ...] | None = None
    allow: tuple[str, ...] = ()
    policy: str | None = None
    mcp: str | None = None
    budget: Annotated[Limits, AfterValidator(_of_a_whole_evaluation)] = NO_BUDGET
    run_budget: Limits = NO_BUDGET
    prices: dict[str, Price] = Field(default_factory=dict)
    replanning: Annotated[dict[str, Any], AfterValidator(_of_the_replanning_arm)] = Field(default_factory=dict)

    @property
    def tried(self) -> Mapping[str, Arm]:
        """The arms by name; only cases of a playbook can be tried with it."""
        return self.arms or {name: arm for name, arm in ARMS.items() if arm.kind != "playbook" or self.playbook}

    def path(self, name: str | None) -> Path | None:
        """Return a path named in the suite, relative to its folder."""
        return None if name is None else self.folder / name

    def documents_of(self, case: Case) -> Path | None:
        """Return the documents folder of a case."""
        return self.path(case.documents or self.documents)

    def workspace_of(self, case: Case) -> Path | None:
        """Return the folder that is copied for each trial of a case."""
        return self.path(case.workspace or self.workspace)


CaseTable = Annotated[Case, Shape()]
SuiteTable = Annotated[Suite, Shape()]
"""A case and a suite as they are written."""
