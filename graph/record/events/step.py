"""Events of steps: results, checks of their criteria, and limits of the budget."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from planner_executor.graph.record.budget import NO_BUDGET, NO_USAGE, Budget, Usage, read_budget
from planner_executor.graph.record.check_results import CheckResult, Opinion
from planner_executor.graph.record.events.content import result_from_json, result_json
from planner_executor.graph.record.events.payload import Json, Payload, given, integer
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.trust_label import TrustLabel


@dataclass(frozen=True, kw_only=True, slots=True)
class StepFinished(Payload):
    """The result of a step of more than one call.

    `inputs` is the digest of its inputs, `label` the trust label of its result. `missing` has the missing parts of a
    succeeded step, `items` the indexes of failed list items. `unchecked`: the criteria are checked next.
    """

    kind: ClassVar[Literal["step_finished"]] = "step_finished"

    result: StepResult
    inputs: str
    label: TrustLabel | None = None
    revision: int
    missing: tuple[str, ...] = ()
    items: tuple[int, ...] = ()
    unchecked: bool = False

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        return {
            **result_json(self.result),
            "inputs": self.inputs,
            **given(label=self.label and self.label.to_json()),
            "revision": self.revision,
            **given(missing=list(self.missing), items=list(self.items), unchecked=self.unchecked),
        }

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        label = raw.get("label")
        return cls(
            result=result_from_json(raw),
            inputs=raw["inputs"],
            label=TrustLabel.of(label) if label else None,
            revision=integer(raw, "revision"),
            missing=tuple(raw.get("missing", ())),
            items=tuple(raw.get("items", ())),
            unchecked=raw.get("unchecked", False),
            checkpoint=raw.get("checkpoint"),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class StepChecked(Payload):
    """Whether the result of a step meets its criteria; `again` means that the step is tried again."""

    kind: ClassVar[Literal["step_checked"]] = "step_checked"

    met: bool
    checks: tuple[CheckResult, ...] = ()
    judged: Opinion | None = None
    error: str | None = None
    revision: int
    again: bool = False

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        return {
            "met": self.met,
            "checks": [finding.to_json() for finding in self.checks],
            **given(judged=self.judged and self.judged.to_json(), error=self.error),
            "revision": self.revision,
            **given(again=self.again),
        }

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        judged = raw.get("judged")
        return cls(
            met=raw["met"],
            checks=tuple(map(CheckResult.from_json, raw.get("checks", ()))),
            judged=Opinion.from_json(judged) if judged else None,
            error=raw.get("error"),
            revision=integer(raw, "revision"),
            again=raw.get("again", False),
            checkpoint=raw.get("checkpoint"),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class BudgetReached(Payload):
    """A limit of the budget was reached: `by` is the node, `left` has the remaining steps."""

    kind: ClassVar[Literal["budget_reached"]] = "budget_reached"
    must_last: ClassVar[bool] = True

    limit: str
    by: str | None = None
    budget: Budget = NO_BUDGET
    spent: Usage = NO_USAGE
    left: tuple[str, ...] = ()

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        return {
            "limit": self.limit,
            "by": self.by,
            "budget": self.budget.to_json(),
            "spent": self.spent.to_json(),
            "left": list(self.left),
        }

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        return cls(
            limit=raw["limit"],
            by=raw.get("by"),
            budget=read_budget(raw.get("budget", {}))[0],
            spent=Usage.from_json(raw.get("spent", {})),
            left=tuple(raw["left"]),
            checkpoint=raw.get("checkpoint"),
        )
