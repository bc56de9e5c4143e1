"""Events of steps: results, checks of their criteria, and limits of the budget."""

from dataclasses import dataclass

from planner_executor.graph.record.budget import NO_BUDGET, NO_USAGE, Budget, Usage
from planner_executor.graph.record.check_result import CheckResult, Opinion
from planner_executor.graph.record.codec import Needed, Written
from planner_executor.graph.record.events.content import Result
from planner_executor.graph.record.events.payload import Payload
from planner_executor.graph.record.trust_label import TrustLabel


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class StepFinished(Payload):
    """The result of a step of more than one call.

    `inputs` is the digest of its inputs, `label` the trust label of its result. `missing` has the missing parts of a
    succeeded step, `items` the indexes of failed list items. `unchecked`: the criteria are checked next.
    """

    result: Result
    inputs: str
    label: TrustLabel | None = None
    revision: int
    missing: tuple[str, ...] = ()
    items: tuple[int, ...] = ()
    unchecked: bool = False


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class StepChecked(Payload):
    """Whether the result of a step meets its criteria; `again` means that the step is tried again."""

    met: bool
    checks: Written[tuple[CheckResult, ...]] = ()
    judged: Opinion | None = None
    error: str | None = None
    revision: int
    again: bool = False


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class ConditionEvaluated(Payload):
    """Whether the condition of a step is met; a step whose condition is not met is skipped."""

    met: bool
    condition: str
    revision: int


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class BudgetReached(Payload, must_last=True):
    """A limit of the budget was reached: `by` is the node, `left` has the remaining steps."""

    limit: str
    by: Written[str | None] = None
    budget: Written[Budget] = NO_BUDGET
    spent: Written[Usage] = NO_USAGE
    left: Needed[tuple[str, ...]] = ()
