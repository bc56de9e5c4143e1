"""One try of one arm at one case: how it ended, what it took, and what the checks found."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from pydantic import JsonValue

from graph.chat_models.failures import FailureKind
from graph.evaluation.suite import Arm
from graph.record.budget import Usage

OUTAGES: frozenset[FailureKind] = frozenset({"rate_limit", "timeout", "connection", "server", "key", "unknown_model"})
"""Kinds of failure of a model's server that say nothing of the arm that met them."""


@dataclass(frozen=True)
class Spent:
    """What a run took; `cost_usd` is None where a model has no price, `estimated` says that tokens were not counted.

    `seconds` are of work, `questions` counts how often a person would have been asked.
    """

    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False
    cost_usd: float | None = None
    tool_calls: int = 0
    seconds: float = 0.0
    questions: int = 0

    @property
    def tokens(self) -> int:
        """Tokens of prompts and answers together."""
        return self.input_tokens + self.output_tokens

    @property
    def usage(self) -> Usage:
        """The same as budgets count it."""
        return Usage(
            model_calls=self.model_calls,
            tokens=self.tokens,
            cost_usd=self.cost_usd or 0.0,
            tool_calls=self.tool_calls,
            wall_s=self.seconds,
        )


@dataclass(frozen=True)
class Ending:
    """How a run of any arm ended; `status` is as of a run of the agent.

    `called` is tool -> calls with success. `limit` is the limit of the budget that ended it. `outage` says that a
    model's server gave no answer, which is not the arm's fault. `run` is its name in the records, where it has any.
    """

    status: str
    reason: str | None
    answer: JsonValue
    spent: Spent
    called: Mapping[str, int] = field(default_factory=dict)
    limit: str | None = None
    outage: str | None = None
    run: str | None = None


@dataclass(frozen=True)
class Slot:
    """A trial that is to be made; `basis` is a digest of all that its outcome rests on."""

    case: str
    arm: Arm
    repetition: int
    basis: str

    @property
    def name(self) -> str:
        """How people know it."""
        return f"{self.case} {self.arm} {self.repetition}"


@dataclass(frozen=True)
class Trial:
    """A trial that was made: `met` says that all checks hold, `findings` what each of them found.

    `void` says why it does not count: nothing is learned of an arm from it, and it is made again. `limit` is the limit
    of a budget that ended it, `folder` the name of the folder with its files.
    """

    slot: Slot
    status: str
    reason: str | None
    answer: str
    met: bool
    findings: tuple[Mapping[str, Any], ...]
    spent: Spent
    folder: str
    run: str | None = None
    limit: str | None = None
    void: str | None = None

    @property
    def claimed(self) -> bool:
        """Whether the run said of itself that it succeeded."""
        return self.status == "succeeded"

    def to_json(self) -> dict[str, Any]:
        """Return the trial as the results have it."""
        told = {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name not in ("slot", "spent")}
        return {**asdict(self.slot), **told, "findings": list(self.findings), "spent": asdict(self.spent)}

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> "Trial":
        """Return the trial that the results have."""
        rest = dict(told)
        slot = Slot(**{entry.name: rest.pop(entry.name) for entry in fields(Slot)})
        return cls(**{**rest, "slot": slot, "spent": Spent(**rest["spent"]), "findings": tuple(rest["findings"])})
