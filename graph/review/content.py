"""What a person decides about, as data: the value under `review` of a request.

Its JSON Schema is `schemas/review.json`. There is one entry for each action request, in the same order. Steps of the
plan are named by their ids, and their arguments are not repeated: they stand in `args` of the action. Fields that say
nothing are left out. Texts are as models, tools and people wrote them, and so untrusted.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue

from planner_executor.graph.plan.catalog import Effect
from planner_executor.graph.plan.params import Trust
from planner_executor.graph.record.published_schema import published_schema
from planner_executor.graph.record.values import keep
from planner_executor.graph.review.planned_call import Later
from planner_executor.graph.words.tables import ClosedTable

LARGEST_VALUE = 4_096
"""Bytes of JSON up to which a value is whole."""
END_CHARACTERS = 200
"""How much of the end of a longer value is shown."""

Judge = Literal["code", "model", "nobody"]


class Whole(ClosedTable):
    """A value."""

    value: JsonValue


class Preview(ClosedTable):
    """A value of more than 4 KB: its length in bytes of JSON, its SHA-256, and how it begins and ends."""

    length: int
    digest: str
    preview: str
    end: str = ""


Shown = Whole | Preview


def shown(value: JsonValue) -> Shown:
    """Return a value, whole if it is small."""
    kept = keep(value, LARGEST_VALUE)
    if (found := kept.artifact) is None:
        return Whole(value=value)
    # An artifact may be small too (an integer beyond 64 bits makes one); then the preview is the whole of it.
    end = kept.text[-END_CHARACTERS:] if found.size > LARGEST_VALUE else ""
    return Preview(length=found.size, digest=found.id, preview=found.preview, end=end)


class Tool(ClosedTable):
    """A tool; `reversible` and `trust`, that of its results, are left out if the tool does not declare them.

    `folder` is where it writes. `steps` are those left that may call it, if it has an effect.
    """

    name: str
    effect: Effect
    declared: bool = True
    trust: Literal["trusted", "undeclared", "untrusted"] = "undeclared"
    reversible: bool | None = None
    folder: str | None = None
    steps: tuple[str, ...] = ()

    @property
    def acts(self) -> bool:
        """Whether it has an effect beyond reading from this machine."""
        return self.effect != "read"


class Argument(ClosedTable):
    """Where an argument comes from: the plan's text, results of `steps`, an item of a list, or the model.

    `params` are the parameters of the plan in it. `trust` is that of the value at worst, `sources` the tools that
    lowered it. `asked`: the call is shown again, with the value, before it is made.
    """

    origin: Literal["plan", "result", "item", "model"]
    steps: tuple[str, ...] = ()
    params: tuple[str, ...] = ()
    trust: Trust
    sources: tuple[str, ...] = ()
    asked: bool = False


class PreviewContent(ClosedTable):
    """What a tool says that a call would do, which is not sure; `place` is the step, with the index of the item.

    `text` is its beginning if it has a `length`. `was` is what people saw of the same call before. `none`: why there is
    no preview.
    """

    place: str
    tool: str
    text: str | None = None
    length: int | None = None
    was: str | None = None
    none: str | None = None


class ParameterContent(ClosedTable):
    """A parameter of the plan: its value, and how far whoever gave it is trusted."""

    value: Shown
    trust: Trust


class StepContent(ClosedTable):
    """A step of the plan: what it does in the words of its tool, where its arguments come from, and who judges it.

    `acts`: it may have an effect. `most_items`: it is done for each item of a list. `left_out` has the constraints of
    the goal that its model is not told, `checks` what code looks at. `unchecked` are tools that do not declare how far
    their results are to be trusted, and that its effects get results of under the approval of the plan alone.

    `asks`: why the policy asks about its calls, by tool. `settled`: approving the plan approves them too, by people who
    also meet the rules `settled_by`, unless `ask_later` names the step; `settles` has those of items, with their
    arguments. `asked_later`: why they are asked about when they are due.

    `when` is its condition, and `decided_by` the tools without trusted results that decide, by it or by the condition
    of a step before, whether the step runs.
    """

    id: str
    status: Literal["pending", "succeeded", "skipped"]
    done_by: Literal["tool", "model", "person", "planner", "nobody"]
    acts: bool = False
    does: Mapping[str, str] = Field(default_factory=dict)
    args: Mapping[str, Mapping[str, Argument]] = Field(default_factory=dict)
    most_items: int | None = None
    when: str | None = None
    decided_by: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    judged_by: Judge | None = None
    left_out: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    asks: Mapping[str, str] = Field(default_factory=dict)
    settled: bool = False
    settles: Mapping[str, Mapping[str, JsonValue]] = Field(default_factory=dict)
    settled_by: tuple[Mapping[str, JsonValue], ...] = ()
    asked_later: Later | None = None


class FieldChange(ClosedTable):
    """A field, or an argument as `args.to`, that differs; what was not given is left out."""

    field: str
    was: Shown | None = None
    now: Shown | None = None


class Change(ClosedTable):
    """What became of a step since the plan `since`; `answer` in the place of an id stands for the plan's answer."""

    step: str
    change: Literal["added", "changed", "removed"]
    fields: tuple[FieldChange, ...] = ()


class CommentContent(ClosedTable):
    """A comment on a step of the plan before, what became of that step, and what the planner says of it."""

    step: str
    text: str
    became: Literal["changed", "unchanged", "gone"]
    says: str | None = None


class Why(ClosedTable):
    """Why the plan is asked about: who wrote it and what for, the failures before it, the rule that has it shown."""

    author: str
    cause: str = ""
    reason: str = ""
    failed: Mapping[str, str] = Field(default_factory=dict)
    stalled: str | None = None
    rule: Literal["always", "policy", "effects"] | None = None
    tools: tuple[str, ...] = ()


class PlanContent(ClosedTable):
    """A plan; one that `cannot_run` has `faults`, and no steps here.

    `tools` are those that steps left may call. `since` is the number of the revision that `changes` begin with;
    `was_seen`: a person saw it. `work` is what is left to do and may be taken, as `estimate` of the request.
    `unpreviewed` are calls whose tools have previews, but of which there is none.
    """

    name: Literal["run_plan"]
    decisions: tuple[str, ...] = ()
    revision: int
    digest: str
    why: Why | None = None
    tools: tuple[Tool, ...] = ()
    params: Mapping[str, ParameterContent] = Field(default_factory=dict)
    steps: tuple[StepContent, ...] = ()
    since: int | None = None
    was_seen: bool = True
    changes: tuple[Change, ...] = ()
    comments: tuple[CommentContent, ...] = ()
    notes: tuple[str, ...] = ()
    work: Mapping[str, JsonValue] = Field(default_factory=dict)
    previews: tuple[PreviewContent, ...] = ()
    unpreviewed: tuple[str, ...] = ()
    cannot_run: bool = False
    faults: tuple[str, ...] = ()

    @property
    def left(self) -> list[StepContent]:
        """The steps that are left to do."""
        return [step for step in self.steps if step.status == "pending"]


class Given(ClosedTable):
    """A value that people gave and the call rests on."""

    what: str
    by: tuple[str, ...]
    step: str | None = None
    value: str | None = None


class CallContent(ClosedTable):
    """A call that is decided by itself. `new`: no approved plan had it. `before` names runs in which it happened.

    `by_model`: a model makes it, for the `objective`, so often `most_calls`; `most_items`: for each item of a list.
    """

    name: Literal["run_step"]
    kind: Literal["call"]
    decisions: tuple[str, ...] = ()
    step: str
    digest: str | None = None
    tool: Tool | None = None
    does: str | None = None
    new: bool = False
    why: str | None = None
    args: Mapping[str, Argument] = Field(default_factory=dict)
    given: tuple[Given, ...] = ()
    before: tuple[str, ...] = ()
    preview: PreviewContent | None = None
    by_model: bool = False
    objective: str | None = None
    most_calls: int | None = None
    most_items: int | None = None
    criteria: str | None = None
    checks: tuple[str, ...] = ()
    judged_by: Judge | None = None


class Through(ClosedTable):
    """A call behind a gate: `items` is how often it is made, if that is known by now."""

    step: str
    tool: Tool
    does: str | None = None
    args: Mapping[str, Shown] = Field(default_factory=dict)
    items: int | None = None


class GateContent(ClosedTable):
    """A gate: what it says, which steps wait for it, and the calls with effects behind it."""

    name: Literal["run_step"]
    kind: Literal["gate"]
    decisions: tuple[str, ...] = ()
    step: str
    words: str = ""
    steps: tuple[str, ...] = ()
    through: tuple[Through, ...] = ()


class QuestionContent(ClosedTable):
    """A question of a step or of a tool: the `results` that it rests on, and the JSON Schema of the `answer`."""

    name: Literal["answer_question"]
    decisions: tuple[str, ...] = ()
    step: str
    tool: str | None = None
    steps: tuple[str, ...] = ()
    results: Mapping[str, Shown] = Field(default_factory=dict)
    answer: JsonValue = None


class UncertainContent(ClosedTable):
    """A call that may have happened; `failure` is what is known of it. `due_in` are steps that would make it again.

    `took_effect`: its result missed the checks. `may_live`: its process may yet make it. `run` is another run's id.
    """

    name: Literal["settle_effect"]
    decisions: tuple[str, ...] = ()
    step: str
    tool: Tool | None = None
    does: str | None = None
    failure: str
    took_effect: bool = False
    may_live: bool = False
    run: str | None = None
    due_in: tuple[str, ...] = ()


class BudgetContent(ClosedTable):
    """A limit that is reached; `hard` has the policy's limits, which nobody raises."""

    name: Literal["raise_budget"]
    decisions: tuple[str, ...] = ()
    limit: str
    left: tuple[str, ...] = ()
    hard: Mapping[str, JsonValue] = Field(default_factory=dict)


# The name alone tells no call from a gate, as both are `run_step`, so it cannot be the discriminator.
ActionContent = Annotated[
    PlanContent | CallContent | GateContent | QuestionContent | UncertainContent | BudgetContent,
    Field(union_mode="left_to_right"),
]


class Escalation(ClosedTable):
    """From when on (Unix seconds) these people may decide too."""

    at: float
    names: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()


class Reach(ClosedTable):
    """Calls of `tools` rest on what is decided; whoever meets the `rules` on people decides about them too."""

    tools: tuple[str, ...]
    rules: tuple[Mapping[str, JsonValue], ...]


class PeopleContent(ClosedTable):
    """Who decides, by the policy's `rules`, each of which holds, until when (Unix seconds), and who has by now.

    `takes_two`: it is not verified who asked. `nobody_left`: these asked for it, and nobody else may approve it.
    """

    rules: tuple[Mapping[str, JsonValue], ...] = ()
    asked_by: tuple[str, ...] = ()
    approved_by: tuple[str, ...] = ()
    takes_two: bool = False
    nobody_left: tuple[str, ...] = ()
    reach: Reach | None = None
    until: float | None = None
    on_expire: Literal["reject", "end"] | None = None
    escalations: tuple[Escalation, ...] = ()


class ReviewContent(ClosedTable):
    """The content of a review request; an approval has to carry a reason for the tools `reason_for`."""

    version: Literal[1]
    goal: str
    actions: tuple[ActionContent, ...]
    people: PeopleContent | None = None
    reason_for: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as it stands in the request."""
        return self.model_dump(mode="json", exclude_defaults=True)


def review_schema() -> dict[str, Any]:
    """Return the JSON Schema of the value under `review`."""
    return published_schema(ReviewContent)
