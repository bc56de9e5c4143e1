"""Events of plans: revisions, refusals, amendments, the start of the executor."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.plan_diff import PlanDiff
from planner_executor.graph.record.call_preview import CallPreview
from planner_executor.graph.record.codec import Needed, Written
from planner_executor.graph.record.events.content import Content
from planner_executor.graph.record.events.met import Met
from planner_executor.graph.record.events.payload import Payload
from planner_executor.graph.record.expected import Expected
from planner_executor.graph.record.replacement import Replaced

NO_DIFFERENCE = PlanDiff()


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class PlanRevised(Payload, is_control=True, must_last=True):
    """A plan became the run's next revision.

    `cause` is the cause of replanning; `refined` means that only due steps were expanded. `replaced` has the failed
    steps that the plan omits or changes; the first version recorded only omitted ones, in `dropped`. `tainted` has the
    steps written by a model that had read untrusted results, `new_effects` their calls with an effect that no approved
    plan had (step id -> tools). `by_look`: the model had but looked at them, and no step had read any. `failures` are
    the fingerprints of the failures that the plan responds to, `stalled` is the reason why it makes no progress.
    `read_as` has the normalizations, `would_replace` sentences on files that the plan would replace, `like_steps` what
    like steps took by then, if somebody is shown the plan. `previews` are what tools say that its calls would
    do, unless that is on record. `written_by` is the user who wrote it, if it is a person's, and `met_alone` the rules
    on the calls of each tool that this user meets alone, where it replaces another plan. `on_comments` is what its
    author says of the comments on steps, by step: words, which no part of the plan rests on.
    `playbooks` are those in the plan, see `ParsedPlan`, each with who chose it: `by` is a planner or a caller.
    """

    revision: int
    plan: Mapping[str, Any]
    digest: str
    binding: Written[str | None] = None
    author: str
    reason: Written[str | None] = None
    cause: Written[str] = "failure"
    diff: Written[PlanDiff] = NO_DIFFERENCE
    replaced: tuple[Replaced, ...] | None = None
    dropped: tuple[str, ...] = ()
    tainted: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    stalled: str | None = None
    read_as: tuple[str, ...] = ()
    would_replace: tuple[str, ...] = ()
    like_steps: Expected | None = None
    written_by: str | None = None
    new_effects: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    by_look: bool = False
    previews: tuple[CallPreview, ...] = ()
    met_alone: Met = field(default_factory=dict)
    on_comments: Mapping[str, str] = field(default_factory=dict)
    playbooks: tuple[Mapping[str, Any], ...] = ()

    @property
    def answers_failure(self) -> bool:
        """Whether a replanner wrote the plan in response to a failure."""
        return self.author == "replanner" and self.cause == "failure"


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class PlanRefused(Payload):
    """No valid plan was found; `brought` is the plan that the caller gave, if any.

    `stays` is the reason if a plan was waiting and waits again: feedback or a changed constraint led to no other one.
    Only such an event is of version 2. `denied`: the policy forbids it; earlier releases did not record that.
    """

    version: ClassVar[int] = 2

    author: str
    issues: Written[tuple[Issue, ...]] = ()
    brought: Content | None = None
    stays: str | None = None
    denied: bool | None = None

    def to_json(self) -> dict[str, Any]:
        """See `Payload`."""
        raw = Payload.to_json(self)
        return raw if self.stays is not None else {name: raw[name] for name in raw if name != "version"}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class Steered(Payload, is_control=True, must_last=True):
    """A user changed constraints or gave feedback to the planner; `constraints` are those now in force."""

    constraints: tuple[str, ...]
    added: Needed[tuple[str, ...]] = ()
    withdrawn: Needed[tuple[str, ...]] = ()
    feedback: Needed[str | None] = None
    approver: Written[str] = ""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class Executing(Payload):
    """The executor started a revision of the plan."""

    revision: int
