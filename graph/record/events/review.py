"""Events of reviews: requests and decisions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.record.asked_effect import AskedEffect
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.record.codec import Coded, Needed, Shown, Written
from planner_executor.graph.record.deadline import Deadline
from planner_executor.graph.record.events.content import NO_CONTENT, Content
from planner_executor.graph.record.events.met import Met
from planner_executor.graph.record.events.payload import Payload


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class ReviewRequested(Payload, must_last=True):
    """A request was shown: the names in `asked`, and `shown` as the texts for people.

    `actions` are the requested actions as data, without the plan, which is in the revision. `answer` is the rejected
    response before, with `error` and `issues`; `unseen` means that it was given in advance, None without one. `skip` is
    the number of responses stored at the checkpoint before this request. `approver`, with these `roles`, gave the
    response. `takes` is what was said that the plan may take, `estimate` bounds the rest of the run. `rules` say who
    decides, and `deadline` until when; `askers` are those who asked for what is shown beside those who asked for the
    run. `content` says as data what `shown` says in words, `effects` what the first few effects are, for lists; so many
    are `left_out` there.
    """

    request: int
    digest: Written[str | None] = None
    subject: str
    revision: Written[int | None] = None
    asked: Written[tuple[str, ...]] = ()
    actions: Written[tuple[Mapping[str, Any], ...]] = ()
    shown: Written[Content] = NO_CONTENT
    answer: Content | None = None
    unseen: bool | None = None
    error: Needed[str | None] = None
    issues: Needed[tuple[Issue, ...]] = ()
    skip: Needed[int] = 0
    approver: str | None = None
    roles: tuple[str, ...] = ()
    takes: Mapping[str, Any] | None = None
    rules: tuple[Mapping[str, Any], ...] = ()
    deadline: Deadline | None = None
    estimate: Mapping[str, Any] = field(default_factory=dict)
    askers: tuple[str, ...] = ()
    content: Content | None = None
    effects: tuple[AskedEffect, ...] = ()
    left_out: Shown[int] = 0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SettledCall(Coded):
    """An uncertain call that a person settled; `run` names its run if that is another one."""

    key: str
    happened: bool
    result: Written[JsonValue] = None
    run: str | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SettledWithPlan(Coded):
    """A call that the approval of a plan settles: its key, its step with the index of the item, and the rules met."""

    key: str
    place: str
    tool: str
    met: tuple[Mapping[str, Any], ...] = ()


WITHOUT_ANSWER = ("policy", "standing")
"""By what a plan passes that nobody is asked about."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class Decided(Payload, is_control=True, must_last=True):
    """A decision was made: `by` a `person`, `unseen`, or without an answer by the `policy` or a `standing` approval.

    `decisions` are the decisions as parsed, `given` has answers to questions by step, `steps` the keys of calls
    approved with the shown arguments, or with those of `replaced`, which has the arguments that a person gave instead
    by key of the call; `rejected` has what was said of a rejected call by its key. `replies` are the forms filled in
    for calls that asked, by key of the call and id of the question (null if declined), `budget` the raised budget.
    `approver` has these `roles`; `voters` are all whose approvals counted, if it took several. `met` maps the tools
    that it is about, and those that its values reach, to the rules on people that they met, None if none were recorded.
    `with_plan` are the calls that the approval of a plan settles beside it, None if they stay as they were. `standing`
    is the id of the standing approval of a playbook that let the plan pass.
    """

    request: Written[int] = 0
    digest: str | None
    binding: str | None
    settled: tuple[SettledCall, ...] = ()
    decisions: Written[tuple[Mapping[str, Any], ...]] = ()
    given: Mapping[str, JsonValue] = field(default_factory=dict)
    steps: tuple[str, ...] = ()
    replaced: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    rejected: Mapping[str, str] = field(default_factory=dict)
    replies: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    budget: Budget | None = None
    decision: str
    by: str
    approver: Written[str] = ""
    message: Needed[str | None] = None
    roles: tuple[str, ...] = ()
    voters: tuple[str, ...] = ()
    met: Met | None = None
    with_plan: tuple[SettledWithPlan, ...] | None = None
    standing: str | None = None
