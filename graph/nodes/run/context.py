"""The context of a run in a node: its services, recorded state, terms and plans."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

import planner_executor.graph.nodes.run.imports  # noqa: F401
from planner_executor.graph.caller import caller_on
from planner_executor.graph.context import Services
from planner_executor.graph.errors import OtherTermsError
from planner_executor.graph.ledger.known_runs import Handed
from planner_executor.graph.ledger.protocol import Ledger
from planner_executor.graph.ledger.values import values_of
from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.normalization import NO_PLAYBOOK, PLAYBOOK
from planner_executor.graph.plan.params import Params, Trust
from planner_executor.graph.plan.playbook_expansion import read_expanded, uses_playbook
from planner_executor.graph.plan.reading import ParsedPlan
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.policy.forbidden import forbidden
from planner_executor.graph.policy.new_effects import SEEN, NewEffects, denied, new_effects, stained_by
from planner_executor.graph.policy.replanning import ReplanPolicy
from planner_executor.graph.policy.terms import Comparison
from planner_executor.graph.prompts.offer import Offer
from planner_executor.graph.prompts.planner import UNTRUSTED
from planner_executor.graph.record.budget import Budget, Usage
from planner_executor.graph.record.call import Call
from planner_executor.graph.record.ending import Ending, ending_of
from planner_executor.graph.record.person import Approver
from planner_executor.graph.record.plan_marks import seen_args
from planner_executor.graph.record.recorded_plans import RecordedPlans
from planner_executor.graph.record.replacement import Replaced, replaced_in
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.trust_label import joined, label_of_tool
from planner_executor.graph.settings.identity import acting


@dataclass(frozen=True)
class PlanBefore:
    """The plan that another one is compared with, None if there is none, its revision, and whether a person saw it."""

    plan: Plan | None
    revision: int
    was_seen: bool = True


@dataclass
class RunContext:
    """The context of a run; `RunWriter` writes its events and updates `record`.

    `checkpoint` is the id of the node's checkpoint, `shown` the plan in the state there, `named` the run named in the
    state, `invocation` a graph server's id of the invocation. `goes_on`: the previous node left it. `services` are held
    to the terms of the run, `terms_here` says how those of this process differ.
    """

    services: Services
    ledger: Ledger
    key: RunKey
    record: RunState
    checkpoint: str
    shown: Any = None
    named: Any = None
    invocation: str | None = None
    goes_on: bool = False
    terms_here: Comparison | None = None
    plans: RecordedPlans = field(default_factory=RecordedPlans, repr=False)
    request: Handed = field(default_factory=Handed, repr=False)
    _terms: ExecutionTerms | None = field(default=None, init=False, repr=False)

    def require_terms(self) -> None:
        """Refuse to go on with a run that was begun under other terms.

        Raises:
            OtherTermsError: It was.
        """
        if self.terms_here is not None and self.terms_here.other:
            raise OtherTermsError(self.record.id, self.terms_here.other)

    @property
    def here_before(self) -> bool:
        """Whether a node has run here before: after a crash, or if an old response is sent again.

        A fork runs at an old checkpoint too, but in a run of its own (docs/decisions/0003-fork-or-crash.md).
        """
        return self.checkpoint in self.record.checkpoints

    @property
    def is_repeated(self) -> bool:
        """Whether this is the invocation of a graph server that began or reopened the run, perhaps after a crash."""
        return self.invocation is not None and self.invocation == self.record.assignment.invocation

    @property
    def terms(self) -> ExecutionTerms:
        """The current terms of the run."""
        budget = self._budget
        # By identity: each event that changes the budget brings a new one.
        if self._terms is None or self._terms.budget is not budget:
            settings, named = self.services.settings, tuple(self.services.models.named)
            specs = self.services.toolbox.specs
            self._terms = ExecutionTerms(specs, settings.approval, settings.policy, budget, named)
        return self._terms

    @property
    def _budget(self) -> Budget:
        """The budget of the run, within that of stricter terms which are not on record yet."""
        current, here = self.record.spending.budget, self.terms_here
        if here is None or not here.is_new or here.terms.budget == self.record.assignment.budget:
            return current
        return current.within(here.terms.budget)

    @property
    def elapsed_s(self) -> float:
        """Seconds since the start of the run, by the clock of this machine."""
        return self.services.pauses.now() - self.record.started_at

    @property
    def usage(self) -> Usage:
        """The usage of the run that its budget counts, as recorded."""
        return self.record.spending.usage_under(self.terms.bounds)

    @property
    def approver(self) -> Approver:
        """Who acts in the invocation of the current node."""
        return caller_on(self.key.thread).by or acting(self.services.identity)

    @property
    def replan_policy(self) -> ReplanPolicy:
        """When to replan, and how far ahead."""
        settings = self.services.settings
        return ReplanPolicy(settings.replan, settings.horizon, settings.max_replans, settings.max_rounds)

    def recorded_plan(self) -> Plan | None:
        """Return the latest revision of the plan."""
        return self._validated(self.record.plan_state.plan)

    def approved_plan(self) -> Plan | None:
        """Return the plan approved last, which is also the one that ran last."""
        return self._validated(self.record.plan_state.approved_plan)

    def plan_before(self, plan: Plan) -> PlanBefore:
        """Return what a person saw last before this plan; if no plan was shown yet, the one that ran last."""
        state = self.record.plan_state
        if (seen := state.seen_other_than(plan.digest)) is not None:
            return PlanBefore(self._validated(seen.plan), seen.revision)
        return PlanBefore(self.approved_plan(), state.approved_revision, was_seen=False)

    def _validated(self, raw: Mapping[str, Any] | None) -> Plan | None:
        return self.plans.plan_of(raw) if raw is not None else None

    def replaced_in(self, plan: Plan) -> list[Replaced]:
        """Return the failed steps that a plan omits or changes, each with the status of its replacement."""
        record, specs = self.record, self.services.toolbox.specs
        return replaced_in(plan, self.approved_plan(), record.steps.ran, record.plan_state.replaced_before, specs)

    async def values(self, plan: Plan) -> dict[str, JsonValue]:
        """Return step id -> full result, for each step of `plan` that succeeded."""
        return await values_of(self.ledger, self.record, plan)

    async def ending(self, plan: Plan) -> Ending:
        """Return the ending of the run with this plan."""
        return self.ending_with(plan, self.record.steps.results, await self.values(plan))

    def ending_with(self, plan: Plan, results: Mapping[str, StepResult], values: Mapping[str, JsonValue]) -> Ending:
        """Return the ending of the run with this plan, these results, and the values of those that succeeded."""
        steps = self.record.steps
        return ending_of(
            plan, results, values, self.record.plan_state.dropped, steps.missing, steps.unjudged(plan), steps.untaken
        )

    def seen_by(self, step: Step) -> dict[str, Any]:
        """Return the results of a step's dependencies for people: the full value, or an artifact's preview."""
        found = {before: self.record.steps.results.get(before) for before in step.waits}
        return {name: _seen(result) for name, result in found.items() if result is not None}

    def offered(self, step: Step | None = None) -> Offer:
        """Return the tools for a planner's prompt, without denied ones; for a step that is to be refined its own.

        If there are many, those stand whole that the plan names, or that fit the words of people, or of the step.
        """
        offer, plan = self.services.offer, self.recorded_plan()
        said = self.record.assignment
        before = [words for message in said.started.history for key, words in message.items() if key != UNTRUSTED]
        wanted = [said.started.goal, *said.constraints, *before, *self.record.plan_state.feedback]
        if step is not None:
            offer = offer.only(step.tools) if step.tools else offer
            return offer.about([*wanted, step.objective], step.tools)
        # Tools of the plan stand in the prompt in full, or a model could not keep the steps that call them.
        needed = [name for one in plan.steps for name in one.tool_names] if plan else []
        return offer.about(wanted, needed, {} if self.replan_policy.horizon else self.services.library)

    def read(self, raw: Any, params: Params | None = None, *, by_model: bool = False) -> ParsedPlan:
        """Read a plan, with the playbooks in it expanded; one that a model writes brings no parameters of its own."""
        label: Trust = "untrusted" if by_model and self.has_read_untrusted else "user"
        services = self.services
        if by_model and self.replan_policy.horizon and uses_playbook(raw):
            return ParsedPlan(None, (Issue(None, PLAYBOOK, NO_PLAYBOOK),))
        return read_expanded(raw, services.toolbox.specs, services.library, label, services.settings.max_steps, params)

    @property
    def planner_limits(self) -> dict[str, Any]:
        """The remaining limits for a planner's prompt."""
        bounds, usage, settings = self.terms.bounds, self.usage, self.services.settings
        left = {name: (bounds.of(name) or 0) - usage.of(name) for name in bounds.names}
        replans = settings.max_replans - self.record.plan_state.replans
        limits = {"replans_left": replans, "budget_left": left, "executors": list(self.terms.executors)}
        return {name: value for name, value in limits.items() if value or name == "replans_left"}

    @property
    def has_read_untrusted(self) -> bool:
        """Whether what a planner has read, or looked at, is not to be trusted."""
        return self.has_steps_with_untrusted or self._has_untrusted(self.record.calls.looks)

    @property
    def has_steps_with_untrusted(self) -> bool:
        """Whether what steps have read is not to be trusted, or what was answered before in a chat."""
        record = self.record
        supplied = joined(record.steps.labels[step] for step in record.steps.supplied)
        in_chat = any(UNTRUSTED in message for message in record.assignment.started.history)
        return supplied.untrusted or in_chat or self._has_untrusted(c for c in record.calls.by_key.values() if c.step)

    def _has_untrusted(self, calls: Iterable[Call]) -> bool:
        specs = self.services.toolbox.specs
        return any(label_of_tool(specs[call.tool]).untrusted for call in calls if call.tool in specs)

    def tainted_in(self, plan: Plan, *, by_model: bool) -> list[str]:
        """Return ids of the steps written by a model that had read untrusted results, in this run or an earlier one."""
        record, before = self.record, self.recorded_plan()
        # An unchanged step keeps its mark: who wrote it had read what there was then.
        kept = {step.id for step in plan.steps if before and step.same_as(before.by_id.get(step.id))}
        new = self.has_read_untrusted and by_model
        tainted = record.plan_state.tainted
        if before is None and tainted:  # a fork, whose steps are those of the forked run
            return [step.id for step in plan.steps if step.id in tainted]
        return [step.id for step in plan.steps if (step.id in tainted if step.id in kept else new)]

    def new_effects_in(self, plan: Plan, tainted: Collection[str]) -> NewEffects:
        """Return the calls with an effect that no approved plan of the run had, see `new_effects`."""
        state = self.record.plan_state
        if not (tainted and state.approved_plans):  # before the first approval only a fork has any: its source's
            stained = stained_by(plan, tainted) if state.new_effects else ()
            return {step: names for step, names in state.new_effects.items() if step in stained}
        approved = map(self.plans.plan_of, state.approved_plans.values())
        specs, refused = self.services.toolbox.specs, state.refused_effects
        return new_effects(plan, approved, specs, tainted=tainted, refused=refused)

    def allowed(self, parsed: ParsedPlan, *, by_model: bool = False) -> ParsedPlan:
        """Return a plan, or issues instead of a plan that the policy forbids."""
        if parsed.plan is None:
            return parsed
        issues = forbidden(parsed.plan, self.terms, self.record)
        if self.terms.policy.new_effects == "deny":
            tainted = self.tainted_in(parsed.plan, by_model=by_model)
            issues += denied(self.new_effects_in(parsed.plan, tainted))
            issues += self._seen_in(parsed.plan, tainted)
        return ParsedPlan(None, tuple(issues)) if issues else parsed

    def _seen_in(self, plan: Plan, tainted: Collection[str]) -> list[Issue]:
        """Return the issues with a first plan whose effects have arguments from an untrusted look."""
        if self.record.plan_state.approved_plans or not self._has_untrusted(self.record.calls.looks):
            return []
        specs = self.services.toolbox.specs
        acts = [plan.by_id[one] for one in tainted if any(specs[tool].acts for tool in plan.by_id[one].tool_names)]
        return [
            Issue(step.id, f"args.{name}", SEEN, by_policy=True)
            for step in acts
            for name in seen_args(self.record, step)
        ]

    def planned(self, parsed: ParsedPlan) -> ParsedPlan:
        """Return a model's plan, or issues instead of a plan that the policy or the horizon forbids."""
        return self.replan_policy.checked(self.allowed(parsed, by_model=True), self.record)


def _seen(result: StepResult) -> JsonValue:
    return dict(result.artifact) if result.artifact else result.value
