"""A run as a node reads it: its services, its state on record, its terms and its plans."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from graph.context import Services
from graph.ledger.protocol import Ledger, RunKey
from graph.ledger.values import values_of
from graph.plan.reading import Reading
from graph.plan.schedule import waits_for
from graph.plan.schema import Plan, Step
from graph.policy.approval_scope import ExecutionTerms
from graph.policy.replanning import ReplanPolicy
from graph.record.ending import Ending, ending_of
from graph.record.replacement import Replaced, replaced_in, replaces_issues
from graph.record.results import StepResult
from graph.record.run_state import RunState


@dataclass
class RunContext:
    """A run as a node reads it; `RunWriter` changes it, and `record` with it.

    `checkpoint` is the one the node runs at, `shown` the plan in the state there, `named` the run that it names.
    """

    services: Services
    ledger: Ledger
    key: RunKey
    record: RunState
    checkpoint: str
    shown: Any = None
    named: Any = None
    _terms: ExecutionTerms | None = field(default=None, init=False, repr=False)
    _plans: dict[int, tuple[Mapping[str, Any], Plan]] = field(default_factory=dict, init=False, repr=False)

    @property
    def here_before(self) -> bool:
        """Whether a node ran for this run at this checkpoint: the process died since, or an old answer was sent."""
        return self.checkpoint in self.record.checkpoints

    @property
    def terms(self) -> ExecutionTerms:
        """The terms under which the run goes on now."""
        if self._terms is None or self._terms.budget is not self.record.budget:
            settings, named = self.services.settings, tuple(self.services.models.named)
            specs, budget = self.services.toolbox.specs, self.record.budget
            self._terms = ExecutionTerms(specs, settings.approval, settings.policy, budget, named)
        return self._terms

    @property
    def replan_policy(self) -> ReplanPolicy:
        """How far ahead is planned, and when anew."""
        settings = self.services.settings
        return ReplanPolicy(settings.replan, settings.horizon, settings.max_replans, settings.max_rounds)

    def recorded_plan(self) -> Plan | None:
        """Return the run's latest revision."""
        return self._validated(self.record.plan)

    def approved_plan(self) -> Plan | None:
        """Return the plan that was approved last, which is the one that ran last."""
        return self._validated(self.record.approved_plan)

    def _validated(self, raw: Mapping[str, Any] | None) -> Plan | None:
        """Return a plan of the record, which is read once however often it is asked for."""
        if raw is None:
            return None
        held = self._plans.get(id(raw))
        if held is None or held[0] is not raw:
            held = self._plans[id(raw)] = raw, Plan.model_validate(raw)
        return held[1]

    def replaced_in(self, plan: Plan) -> list[Replaced]:
        """Return the failed steps that a plan leaves out or changes, and whether it makes up for them."""
        record, specs = self.record, self.services.toolbox.specs
        return replaced_in(plan, self.approved_plan(), record.results, record.replaced_before, specs)

    async def values(self, plan: Plan) -> dict[str, JsonValue]:
        """Return the whole value of each step of `plan` that succeeded."""
        return await values_of(self.ledger, self.record, plan)

    async def ending(self, plan: Plan) -> Ending:
        """Return how the run ends if it ends with this plan as it is."""
        record = self.record
        return ending_of(plan, record.results, await self.values(plan), record.dropped, record.missing)

    def seen_by(self, step: Step) -> dict[str, Any]:
        """Return the results that a step waits for as a person sees them: the whole value, or an artifact's preview."""
        found = {before: self.record.results.get(before) for before in waits_for([step])[step.id]}
        return {name: _seen(result) for name, result in found.items() if result is not None}

    def offered(self, names: Collection[str] = ()) -> list[dict[str, Any]]:
        """Return the tools as planners are shown them, without denied ones; if `names` is given, those alone."""
        offered = self.services.offered
        return [tool for tool in offered if tool["name"] in names] if names else list(offered)

    @property
    def told_limits(self) -> dict[str, Any]:
        """What planners are told of what is left to spend."""
        bounds, usage, settings = self.terms.bounds, self.record.usage, self.services.settings
        left = {name: (bounds.of(name) or 0) - usage.of(name) for name in bounds.names}
        replans = settings.max_replans - self.record.replans
        told = {"replans_left": replans, "budget_left": left, "executors": list(self.terms.executors)}
        return {name: value for name, value in told.items() if value or name == "replans_left"}

    def allowed(self, reading: Reading) -> Reading:
        """Return what was read of a plan, with all that the policy has against it."""
        if reading.plan is None:
            return reading
        issues = self.terms.issues(reading.plan)
        issues += replaces_issues(reading.plan, self.record.planned, self.record.succeeded)
        return Reading(None, tuple(issues)) if issues else reading

    def planned(self, reading: Reading) -> Reading:
        """Return what was read of a model's plan, with all that policy and horizon have against it."""
        return self.replan_policy.checked(self.allowed(reading), self.record)


def _seen(result: StepResult) -> JsonValue:
    return dict(result.artifact) if result.artifact else result.value
