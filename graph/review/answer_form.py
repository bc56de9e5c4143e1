"""The form of an answer to a review request, with JSON Schema `schemas/decision.json` (docs/review.md).

`graph.review.decision` reads answers and takes the fields from here. A schema cannot say which request an answer fits:
short forms serve for a single plan, and a bare decision for a single action.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, JsonValue, with_config
from typing_extensions import TypedDict  # before Python 3.12 pydantic reads none of typing's own

from planner_executor.graph.record.published_schema import CLOSED, published_schema

Json = Mapping[str, JsonValue]
JsonOrText = Json | str


@with_config(CLOSED)
class StandingWish(TypedDict):
    """The wish that further calls be covered: `args` are constraints by argument, `until` is a time with its zone."""

    args: NotRequired[Mapping[str, Json]]
    at_most: Annotated[int, Field(ge=1, le=1_000)]
    until: NotRequired[str]


@with_config(CLOSED)
class StandingWishOfPlaybook(TypedDict):
    """The wish that further runs of a playbook be covered, with `params` in its constraints; it needs an end."""

    params: NotRequired[Mapping[str, Json]]
    at_most: NotRequired[Annotated[int, Field(ge=1, le=1_000)]]
    until: NotRequired[str]


@with_config(CLOSED)
class Approval(TypedDict):
    """Lets what was shown happen; `ask_later` are steps of a plan whose calls are asked about when they are due."""

    type: Literal["approve"]
    digest: NotRequired[str | None]
    standing: NotRequired[StandingWish | StandingWishOfPlaybook | None]
    reason: NotRequired[str | None]
    ask_later: NotRequired[list[str] | None]


@with_config(CLOSED)
class PlanToRun(TypedDict):
    """Another plan, or its JSON text."""

    plan: Json | list[Json] | str


@with_config(CLOSED)
class EditOfPlan(TypedDict):
    """Has another plan run."""

    name: Literal["run_plan"]
    args: PlanToRun


@with_config(CLOSED)
class CallToMake(TypedDict):
    """All arguments to make the call with."""

    step: NotRequired[str]
    tool: NotRequired[str]
    args: JsonOrText


@with_config(CLOSED)
class EditOfCall(TypedDict):
    """Has a call made with other arguments."""

    name: Literal["run_step"]
    args: CallToMake


@with_config(CLOSED)
class AnswerToQuestion(TypedDict):
    """An answer that is not blank, of the schema that `review` names."""

    step: NotRequired[str]
    tool: NotRequired[str]
    question: NotRequired[str]
    answer: JsonValue


@with_config(CLOSED)
class EditOfQuestion(TypedDict):
    """Answers a question."""

    name: Literal["answer_question"]
    args: AnswerToQuestion


@with_config(CLOSED)
class EffectAsFound(TypedDict):
    """Whether the call happened, and what came of it; text is read as JSON where it is JSON."""

    step: NotRequired[str]
    tool: NotRequired[str]
    args: NotRequired[JsonOrText]
    happened: bool | Annotated[str, Field(pattern="^\\s*([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])\\s*$")]
    result: NotRequired[JsonValue]


@with_config(CLOSED)
class EditOfEffect(TypedDict):
    """Settles an uncertain call."""

    name: Literal["settle_effect"]
    args: EffectAsFound


@with_config(CLOSED)
class BudgetToHold(TypedDict):
    """The limits that hold from now on; null takes a limit away."""

    budget: JsonOrText
    spent: NotRequired[JsonOrText]


@with_config(CLOSED)
class EditOfBudget(TypedDict):
    """Raises a limit."""

    name: Literal["raise_budget"]
    args: BudgetToHold


@with_config(CLOSED)
class Edit(TypedDict):
    """Fills in or changes what was shown; `reason` says why, where the policy requires it of an approval."""

    type: Literal["edit"]
    digest: NotRequired[str | None]
    reason: NotRequired[str | None]
    edited_action: EditOfPlan | EditOfCall | EditOfQuestion | EditOfEffect | EditOfBudget


@with_config(CLOSED)
class StepComment(TypedDict):
    """A comment on a step of the plan."""

    step: str
    text: Annotated[str, Field(min_length=1)]


@with_config(CLOSED)
class Rejection(TypedDict):
    """Asks for something else in words; ends the run if there are none, or `final` is true."""

    type: Literal["reject"]
    digest: NotRequired[str | None]
    message: NotRequired[str | None]
    final: NotRequired[bool | None]
    comments: NotRequired[list[StepComment] | None]


@with_config(CLOSED)
class Decisions(TypedDict):
    """One decision for each action request, in order."""

    decisions: Annotated[list[Approval | Edit | Rejection], Field(min_length=1)]
    digest: NotRequired[str | None]


class EditedPlan(TypedDict):
    """The short form of an edit of a plan."""

    steps: list[Json]


Text = Annotated[str, Field(min_length=1)]
"""A short form, feedback, or another answer as JSON text."""
Answer = Decisions | Approval | Edit | Rejection | EditedPlan | Annotated[list[Json], Field(min_length=1)] | bool | Text


def answer_schema() -> dict[str, Any]:
    """Return the JSON Schema of what a client may answer."""
    return published_schema(Answer, "Answer")
