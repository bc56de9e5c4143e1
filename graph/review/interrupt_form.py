"""The form of the interrupt value, `ReviewRequest.to_json` (docs/review.md), and of the plan in it; JSON Schemas
`schemas/request.json` and `schemas/plan.json`.
"""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired

from pydantic import JsonValue, with_config
from typing_extensions import TypedDict  # before Python 3.12 pydantic reads none of typing's own

from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.published_schema import CLOSED, published_schema
from planner_executor.graph.review.content import ReviewContent
from planner_executor.graph.review.request_json import ActionName, DecisionType

Json = Mapping[str, JsonValue]
BOUNDS = {"gt": "exclusiveMinimum", "ge": "minimum"}


@with_config(CLOSED)
class PlanArgs(TypedDict):
    """A plan, see `schemas/plan.json`; one that cannot run is as it was written."""

    plan: Json


@with_config(CLOSED)
class PlanRequest(TypedDict):
    """Asks about a plan."""

    name: Literal["run_plan"]
    args: PlanArgs
    description: str


@with_config(CLOSED)
class CallArgs(TypedDict):
    """A call with its arguments; of a gate `tool` is "gate", and `args` is what it shows."""

    step: str
    tool: str
    args: Json


@with_config(CLOSED)
class CallRequest(TypedDict):
    """Asks about a call or a gate; a call that a revision adds has a digest of its own."""

    name: Literal["run_step"]
    args: CallArgs
    description: str
    digest: NotRequired[str]


@with_config(CLOSED)
class QuestionArgs(TypedDict):
    """A question of a step, or of the call of a tool; `answer` is to be filled in."""

    step: str
    tool: NotRequired[str]
    question: str
    answer: None


@with_config(CLOSED)
class QuestionRequest(TypedDict):
    """Asks for an answer."""

    name: Literal["answer_question"]
    args: QuestionArgs
    description: str


@with_config(CLOSED)
class EffectArgs(TypedDict):
    """A call that may have happened; `happened`, and `result` if it did, are to be filled in."""

    step: str
    tool: str
    args: Json
    happened: None
    result: None


@with_config(CLOSED)
class EffectRequest(TypedDict):
    """Asks whether a call happened."""

    name: Literal["settle_effect"]
    args: EffectArgs
    description: str


@with_config(CLOSED)
class BudgetArgs(TypedDict):
    """The limits of the run, and what was used."""

    budget: Json
    spent: Json


@with_config(CLOSED)
class BudgetRequest(TypedDict):
    """Asks whether a limit is raised."""

    name: Literal["raise_budget"]
    args: BudgetArgs
    description: str


@with_config(CLOSED)
class ReviewConfig(TypedDict):
    """The decisions that the action request in the same place takes."""

    action_name: ActionName
    allowed_decisions: list[DecisionType]


@with_config(CLOSED)
class PlanDifference(TypedDict, total=False):
    """Ids of steps that differ from the plan that was shown before; empty if there is no plan."""

    added: list[str]
    changed: list[str]
    removed: list[str]
    answer: bool


@with_config(CLOSED)
class PlanIssue(TypedDict):
    """A fault of a plan; `step` is null for the plan itself."""

    step: str | None
    field: str
    message: str


@with_config(CLOSED)
class Range(TypedDict):
    """At least `low`; at most `high`, if that is known."""

    low: float
    high: NotRequired[float]


@with_config(CLOSED)
class Expectation(TypedDict):
    """What the rest of the plan may take; `unknown` are tools and steps without history."""

    seconds: Range
    tokens: NotRequired[Range]
    cost_usd: NotRequired[Range]
    unknown: NotRequired[list[str]]


@with_config(CLOSED)
class WorkEstimate(TypedDict, total=False):
    """What is left to do at most; empty if there is no plan."""

    steps: int
    tool_calls: int
    model_steps: int
    longest_chain: int
    further_attempts: int
    to_refine: int
    budget_left: Mapping[str, float]
    takes: Expectation


@with_config(CLOSED)
class ReviewInterrupt(TypedDict):
    """The value of an interrupt: all that needs a person now, in the shape of LangChain's `HITLRequest`.

    Texts are as models, tools and people wrote them: escape them. `until` is in Unix seconds.
    """

    action_requests: list[PlanRequest | CallRequest | QuestionRequest | EffectRequest | BudgetRequest]
    review_configs: list[ReviewConfig]
    run: str
    revision: int
    digest: str
    diff: PlanDifference
    issues: list[PlanIssue]
    estimate: WorkEstimate
    error: str | None
    review: ReviewContent
    until: NotRequired[float]
    asked_before: NotRequired[int]


def request_schema() -> dict[str, Any]:
    """Return the JSON Schema of the interrupt value."""
    return published_schema(ReviewInterrupt)


def plan_schema() -> dict[str, Any]:
    """Return the JSON Schema of a plan as a request has it, and as an edit gives it."""
    found: dict[str, Any] = _standard(published_schema(Plan))
    return found


def _standard(schema: Any) -> Any:
    """Return a schema with the names of JSON Schema for bounds, of which pydantic leaves some as its own."""
    if isinstance(schema, list):
        return [_standard(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {BOUNDS.get(key, key): _standard(one) for key, one in schema.items()}
