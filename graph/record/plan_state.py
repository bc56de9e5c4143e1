"""The plan of a run: the revision in force, those before it, and the feedback on them."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from planner_executor.graph.plan.effect import effect_digest, effect_key, origins_of
from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.record.amendment import amendment_words
from planner_executor.graph.record.call import Call
from planner_executor.graph.record.comment import MOST_ANSWERED, Comment
from planner_executor.graph.record.events import Decided, PlanRefused, PlanRevised, ReviewRequested, RunForked, Steered
from planner_executor.graph.record.replacement import Replaced
from planner_executor.graph.record.run_pass import Pass


class NewEffect(NamedTuple):
    """A call of a step that no approved plan had: the key under which it is decided, and the digest of what it does."""

    step: Step
    tool: str
    key: str
    digest: str


@dataclass
class PlanState:
    """The plan in force of a run, and the data that its next revision responds to; changed by events only."""

    # The revision in force, and the plan that was approved last.
    revision: int = 0
    plan: Mapping[str, Any] | None = None
    digest: str | None = None
    binding: str | None = None
    approved_plan: Mapping[str, Any] | None = None
    approved_revision: int = 0
    awaits_plan: bool = True

    # All plans that were approved, by digest, those of them that people approved, and the digests of what a person
    # refused of them (decision 121).
    approved_plans: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    approved_by_people: set[str] = field(default_factory=set)
    refused_effects: set[str] = field(default_factory=set)

    # Of the revision in force: the steps that were planned with untrusted content, and which of their calls no approved
    # plan had: step id -> tools. `planned` has the ids of all steps that were ever planned.
    planned: set[str] = field(default_factory=set)
    tainted: set[str] = field(default_factory=set)
    new_effects: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    effects: tuple[NewEffect, ...] = ()

    # Failed steps that revisions removed or changed, and the same at the last approval (decision 26).
    replaced: tuple[Replaced, ...] = ()
    replaced_before: tuple[Replaced, ...] = ()

    # Revisions after failures, and those of planning step by step; the digests of all revisions, the fingerprints of
    # the failures that they responded to, and why the plan in force makes no progress.
    replans: int = 0
    rounds: int = 0
    digests: list[str] = field(default_factory=list)
    failures: set[str] = field(default_factory=set)
    stalled: str | None = None

    # A person's feedback that no plan has answered yet, and a count of all feedback; `comments` are those on steps of
    # the plan that was turned down last, until one is approved. `unchanged` is why the plan stays although another one
    # was asked for, `steered` the user's amendment since the last plan, `issues` the faults of the plan refused
    # last.
    feedback: list[str] = field(default_factory=list)
    comments: tuple[Comment, ...] = ()
    feedback_rounds: int = 0
    feedback_answered: int = 0
    unchanged: str | None = None
    steered: str | None = None
    issues: tuple[Issue, ...] = ()

    # The event of the revision in force, and the events of all by checkpoint: a node that is repeated finds its own.
    revised: PlanRevised | None = None
    revised_at: dict[str, PlanRevised] = field(default_factory=dict)

    # What a person saw last, in a review or as their own edit that they approved, and the one before it, or
    # the same once it is approved.
    seen: PlanRevised | None = None
    seen_before: PlanRevised | None = None

    # How often an ended run was continued. `is_proposed`: somebody edited the plan, and others have to approve it.
    # `is_wished`: since a person approved a plan, a person has said what to do instead (decision 107).
    reopened: int = 0
    is_proposed: bool = False
    is_wished: bool = False

    @property
    def dropped(self) -> tuple[str, ...]:
        """Ids of the failed steps that the plan neither keeps nor replaces."""
        return tuple(dict.fromkeys(one.step for one in self.replaced if not one.is_made_up_for))

    @property
    def commented(self) -> tuple[str, ...]:
        """Ids of the steps whose comments the next plan responds to, as many as it is asked about."""
        return tuple(dict.fromkeys(one.step for one in self.comments) if self.feedback else {})[:MOST_ANSWERED]

    def seen_other_than(self, digest: str) -> PlanRevised | None:
        """Return what a person saw last that was another plan than this one."""
        return self.seen if self.seen is None or self.seen.digest != digest else self.seen_before

    @property
    def current_pass(self) -> Pass:
        """The pass over the plan in force."""
        return Pass(self.revision, self.reopened)

    def pass_of(self, revision: int) -> Pass:
        """Return the pass over a revision since the run was reopened last."""
        return Pass(revision, self.reopened)

    @property
    def after_retries(self) -> str:
        """Suffix of the names of model calls, so that a retried run asks anew; empty in a run without a retry."""
        return f":retry {self.reopened}" if self.reopened else ""

    def may_call(self, step: str, tool: str) -> bool:
        """Return whether a step of this id, if the plan has one, calls this tool."""
        return all(one.get("tool") == tool for one in (self.plan or {}).get("steps", ()) if one["id"] == step)

    def effects_of(self, steps: Collection[str] | None = None) -> Iterator[NewEffect]:
        """Yield what is new in the revision in force: of all steps, or of those with these ids."""
        return (one for one in self.effects if steps is None or one.step.id in steps)

    @property
    def has_refused(self) -> bool:
        """Whether the revision in force has a call that a person refused when a plan with it was approved."""
        return any(one.digest in self.refused_effects for one in self.effects_of())

    @property
    def is_edited(self) -> bool:
        """Whether a person put the revision in force in place of another one, beside a review."""
        return self.revised is not None and self.revised.author == "state" and self.revision > 1

    @property
    def is_by_look(self) -> bool:
        """Whether nothing but looks of its author taints the revision in force."""
        return self.revised is not None and self.revised.by_look

    def plan_revised(self, data: PlanRevised) -> None:
        """Put a revision in force; it is not approved yet."""
        self.revision = data.revision
        self.plan, self.digest, self.binding = data.plan, data.digest, data.binding
        self.replaced = self._replaced_by(data)
        self.planned.update(step["id"] for step in data.plan.get("steps", ()))
        self.awaits_plan = False
        self.revised = self.revised_at[data.checkpoint or ""] = data
        self.replans += data.answers_failure
        self.rounds += data.cause in ("step", "horizon")
        self._answered(len(self.feedback))
        self.issues, self.unchanged = (), None
        self.digests.append(data.digest)
        self.tainted, self.new_effects = set(data.tainted), data.new_effects
        self.effects = tuple(_effects_in(data.plan, data.new_effects))
        self.failures.update(data.failures)
        self.stalled = data.stalled

    def run_forked(self, data: RunForked) -> None:
        """Keep which steps of the source's plan were planned with untrusted content, and what of it was new."""
        self.tainted, self.new_effects = set(data.tainted), data.new_effects

    def run_reopened(self) -> None:
        """Let models be asked anew for what they were asked before the end."""
        self.reopened += 1
        self.issues, self.unchanged = (), None

    def plan_refused(self, data: PlanRefused) -> None:
        """Set the issues of a refused plan; if the one before stays, remove the feedback on it."""
        self.issues = data.issues
        if data.stays is not None:
            self._answered(self.feedback_answered)
            self.unchanged, self.awaits_plan = data.stays, False

    def review_requested(self, data: ReviewRequested) -> None:
        """Keep the plan that is shown; a request about a call or a question shows none."""
        if "run_plan" in data.asked and data.digest == self.digest:
            self._see()

    def decided(self, data: Decided) -> None:
        """Set the approved plan, or the feedback that asks for another plan."""
        # The plan that was refused as unchanged has been decided about; its faults are those of another by now.
        if self.unchanged is not None:
            self.issues, self.unchanged = (), None
        self.is_proposed = data.decision == "propose" and data.digest is not None
        self._decide_effects(data)
        if data.decision == "approve":
            self._approved(by_person=data.by == "person")
            # Only a person has seen it: what the policy lets pass is not what the next difference begins with.
            if data.by == "person":
                self._see()
                self.seen_before = self.seen
        if data.decision == "feedback":
            self._said(data.message or "")
            self.comments = tuple(Comment(**one) for made in data.decisions for one in made.get("comments", ()))
            self.awaits_plan = self.is_wished = True

    def amended(self, data: Steered) -> None:
        """Set the user's amendment since the last plan, for the next one."""
        words = amendment_words(data.added, data.withdrawn, data.feedback)
        self.steered = f"{self.steered}; {words}" if self.steered else words
        self.is_wished = True
        if data.feedback:
            self._said(data.feedback)

    def call_happened(self, call: Call) -> None:
        """Remove a failed step from the replaced ones if its work was this call: it needs no replacement then."""
        self.replaced = _without(self.replaced, call)
        self.replaced_before = _without(self.replaced_before, call)

    def _said(self, feedback: str) -> None:
        self.feedback.append(feedback)
        self.feedback_rounds += 1

    def _answered(self, kept: int) -> None:
        """Nothing is left to answer; the first `kept` texts of the feedback still count."""
        del self.feedback[kept:]
        self.feedback_answered, self.steered = kept, None

    def _see(self) -> None:
        if self.seen is None or self.seen.digest != self.digest:
            self.seen_before, self.seen = self.seen, self.revised

    def _decide_effects(self, data: Decided) -> None:
        """Keep what was refused of the revision in force, until it is approved under its own name after all."""
        for effect in self.effects_of():
            if effect.key in data.rejected:
                self.refused_effects.add(effect.digest)
            elif effect.key in data.steps:
                self.refused_effects.discard(effect.digest)

    def _approved(self, *, by_person: bool) -> None:
        self.approved_plan, self.approved_revision, self.stalled = self.plan, self.revision, None
        self.comments = ()
        if self.revised is not None:
            self.approved_plans[self.revised.digest] = self.revised.plan
            if by_person:
                self.approved_by_people.add(self.revised.digest)
        if by_person:
            # What was refused stays what it is: no approval of the plan around it covers it.
            self.tainted = {one.step.id for one in self.effects_of() if one.digest in self.refused_effects}
            self.is_wished = False
            self.replaced = tuple(one.approved() for one in self.replaced)
        self.replaced_before = self.replaced

    def _replaced_by(self, data: PlanRevised) -> tuple[Replaced, ...]:
        """Return the replacements of failed steps; the first version recorded only those that were dropped."""
        if data.replaced is not None:
            return data.replaced
        ran = {step["id"]: step for step in (self.approved_plan or {}).get("steps", ())}
        return (*self.replaced_before, *(Replaced(name, _tools(ran.get(name, {}))) for name in data.dropped))


def _tools(step: Mapping[str, Any]) -> tuple[str, ...]:
    return (step["tool"],) if "tool" in step else tuple(step.get("tools", ()))


def _without(replaced: tuple[Replaced, ...], call: Call) -> tuple[Replaced, ...]:
    return tuple(one for one in replaced if (one.step, one.tools) != (call.step, (call.tool,)))


def _effects_in(plan: Mapping[str, Any], added: Mapping[str, tuple[str, ...]]) -> Iterator[NewEffect]:
    """Yield the calls of a plan that are new, as the event of its revision names them."""
    if not added:
        return
    steps = Plan.model_validate(plan).steps
    origins = origins_of(steps)
    for step in steps:
        for tool in added.get(step.id, ()):
            yield NewEffect(step, tool, effect_key(step, tool, origins), effect_digest(step, tool))
