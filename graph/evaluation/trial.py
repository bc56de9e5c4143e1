"""A trial: one run of one case in one arm, with its end, its usage and the findings of the checks."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.chat_models.failures import FailureKind
from planner_executor.graph.plan.check import describe_check
from planner_executor.graph.record.budget import Usage
from planner_executor.graph.record.run_status import RunStatus

OUTAGES: frozenset[FailureKind] = frozenset({"rate_limit", "timeout", "connection", "server", "key", "unknown_model"})
"""Kinds of model failure that are the server's fault, so that the trial is void."""


@dataclass(frozen=True)
class Spent:
    """Usage of a run; `cost_usd` is None if a model has no price, `estimated` is true if tokens were not reported.

    `seconds` excludes the time of reviews, `questions` counts how often a person would have been asked.
    """

    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    other_tokens: int = 0
    estimated: bool = False
    cost_usd: float | None = None
    tool_calls: int = 0
    seconds: float = 0.0
    questions: int = 0

    @property
    def tokens(self) -> int:
        """All tokens: of prompts, of answers, and others that a server counts in neither."""
        return self.input_tokens + self.output_tokens + self.other_tokens

    @property
    def usage(self) -> Usage:
        """The same in the units of a budget."""
        return Usage(
            model_calls=self.model_calls,
            tokens=self.tokens,
            cost_usd=self.cost_usd or 0.0,
            tool_calls=self.tool_calls,
            wall_s=self.seconds,
        )


@dataclass(frozen=True, kw_only=True)
class _Ended:
    """How a run ended; `limit` is that of the budget that ended it, `run` its name in the records, if it has one."""

    status: RunStatus
    reason: str | None
    spent: Spent
    run: str | None = None
    limit: str | None = None


@dataclass(frozen=True, kw_only=True)
class TrialEnding(_Ended):
    """The end of the run of a trial, before its answer is looked at.

    `called` is the number of successful calls by tool, and `outage` the failure of a model's server, which is not the
    arm's fault.
    """

    answer: JsonValue
    called: Mapping[str, int] = field(default_factory=dict)
    outage: str | None = None


@dataclass(frozen=True)
class PlannedTrial:
    """A planned trial; `basis` is a digest of all inputs that its outcome depends on."""

    case: str
    arm: str
    repetition: int
    basis: str

    @property
    def name(self) -> str:
        """Name shown to people."""
        return f"{self.case} {self.arm} {self.repetition}"


@dataclass(frozen=True, kw_only=True)
class Trial(_Ended):
    """A finished trial; `met` is true if all checks passed, `findings` has an entry per check.

    `void` is the reason not to count the trial, which will be repeated. `folder` is the name of the folder with its
    files.
    """

    slot: PlannedTrial
    answer: str
    met: bool
    findings: tuple[Mapping[str, Any], ...]
    folder: str
    void: str | None = None

    @property
    def claimed(self) -> bool:
        """Whether the run itself claimed success."""
        return self.status == "succeeded"

    @property
    def faults(self) -> list[str]:
        """The unmet checks, and the run's status if it did not claim success; nothing if all are met."""
        unmet = [f"{_named(finding['check'])}: {finding['seen']}" for finding in self.findings if not finding["met"]]
        ended = [] if self.claimed else [f"{self.status}, {self.reason}" if self.reason else self.status]
        return [*unmet, *ended] if unmet else []

    def to_json(self) -> dict[str, Any]:
        """Return the trial in the format of the results file."""
        own = {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name not in ("slot", "spent")}
        return {**asdict(self.slot), **own, "findings": list(self.findings), "spent": asdict(self.spent)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Trial":
        """Return a trial from the results file."""
        rest = dict(data)
        slot = PlannedTrial(**{entry.name: rest.pop(entry.name) for entry in fields(PlannedTrial)})
        return cls(**{**rest, "slot": slot, "spent": Spent(**rest["spent"]), "findings": tuple(rest["findings"])})


def _named(check: Mapping[str, Any]) -> str:
    if whole := {"answer", "case"} & check.keys():
        return whole.pop()
    about = f" in {check['file']}" if "file" in check else ""
    return describe_check({key: value for key, value in check.items() if key != "file"}) + about
