"""What the approval of a plan settles beside it: calls that the policy asks about, known and shown in full."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from pydantic import JsonValue

from planner_executor.graph.nodes.review.outcome import Outcome
from planner_executor.graph.nodes.review.people import cost_under
from planner_executor.graph.nodes.review.votes import Ballot
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.known_args import known_args
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.policy.approver_rule import ApproverRule, missing
from planner_executor.graph.record.call import call_key, place_of
from planner_executor.graph.record.events import SettledWithPlan
from planner_executor.graph.record.remaining import steps_left
from planner_executor.graph.review.planned_call import Later, PlannedCall
from planner_executor.graph.text.review.values import is_whole


def planned_calls(run: RunContext, plan: Plan) -> list[PlannedCall]:
    """Return the calls of the steps left that the policy asks about, in the order of the plan."""
    policy, specs = run.terms.policy, run.services.toolbox.specs
    asking = {name for name, spec in specs.items() if policy.verdict(spec) == "ask" or policy.conditions(spec)}
    if not asking:
        return []
    reading = _Reading(run, plan)
    return [
        found
        for step in steps_left(plan, run.record.steps.results)
        for name in step.tool_names
        if name in asking and kind_spec(step.kind).calls_tools
        if (found := reading.of_step(step, specs[name])) is not None
    ]


def settled_with_plan(
    run: RunContext, before: Plan | None, outcome: Outcome, ballot: Ballot
) -> tuple[SettledWithPlan, ...] | None:
    """Return the calls that a decision about a plan settles, None if it changes nothing of what is settled.

    `before` is the plan that was shown. Of an edited one those calls count that were shown as they are now. Whose
    approvals the decision rests on have to meet the rules on each call by itself.
    """
    verdict, after = ballot.verdict, outcome.plan
    if verdict.plan is None or verdict.unseen or before is None or after is None:
        return None
    calls = planned_calls(run, before)
    if after.digest != before.digest:
        left = {key for one in planned_calls(run, after) for key in one.places}
    else:
        left = {key for one in calls for key in one.places}
    approvers, specs = run.terms.policy.approvers, run.services.toolbox.specs
    cost, authors = cost_under(run, verdict.budget), [str(run.approver)] if outcome.is_edit else []
    found = []
    for one in calls:
        if one.later or one.step in verdict.plan.ask_later:
            continue
        rules = approvers.rules((), cost, calls=[specs[one.tool]])
        askers = [*run.record.people.askers_of(after, {one.step}), *authors] if rules else []
        if missing(rules, ballot.voters, askers) is None:
            met = tuple(rule.to_json() for rule in rules)
            found += [SettledWithPlan(key, place, one.tool, met) for key, place in one.places.items() if key in left]
    # An empty tuple takes back what an earlier decision settled.
    return tuple(found) if found or run.record.review_state.with_plan else None


@dataclass(frozen=True)
class _Reading:
    """A plan as it is read for the calls that the policy asks about."""

    run: RunContext
    plan: Plan

    def of_step(self, step: Step, tool: ToolSpec) -> PlannedCall | None:
        """Return the calls of a step with a tool that the policy asks about, None if it asks about none."""
        if (args := known_args(step)) is None:
            # Without arguments the policy can only be asked whether it might ask.
            why = self._may_ask(step, tool)
            return PlannedCall(step.id, tool.name, why, "unknown") if why else None
        asks = self.run.terms.policy.asks
        asked = {
            item: given
            for item, given in args.items()
            # A call that is held by now has a request of its own.
            if asks(tool, given) and self._key(step, tool, item, given) not in self._held
        }
        if not asked:
            return None
        # Of the calls of one step the reason of the first stands for all.
        why = str(asks(tool, next(iter(asked.values()))))
        if later := self._later(step, tool, asked):
            return PlannedCall(step.id, tool.name, why, later)
        places = {self._key(step, tool, item, given): place_of(step.id, item) for item, given in asked.items()}
        shown = {place_of(step.id, item): given for item, given in asked.items()}
        return PlannedCall(step.id, tool.name, why, None, places, shown, self._rules(tool))

    def _may_ask(self, step: Step, tool: ToolSpec) -> str | None:
        """Return why the policy asks, or may ask, about calls whose arguments are not known yet."""
        policy, fixed = self.run.terms.policy, step.fixed_args()
        known = {name: value for name, value in fixed.items() if tool.takes(name)}
        if why := policy.asks(tool, known):
            return why
        is_open = not step.args and step.tool is None
        named = [one for one in policy.conditions(tool) if one not in known and (is_open or one in step.args)]
        return f"the policy may ask by {named[0]}" if named else None

    def _later(self, step: Step, tool: ToolSpec, asked: Mapping[int | None, Mapping[str, JsonValue]]) -> Later | None:
        state = self.run.record.plan_state
        if tool.name in state.new_effects.get(step.id, ()):
            return "new"
        if step.id in state.tainted or state.is_by_look:
            return "untrusted"
        if tool.name in self._uncertain:
            return "uncertain"
        whole = {"for_each": step.for_each, **step.args} if step.for_each is not None else step.args
        return None if is_whole(whole) and all(map(is_whole, asked.values())) else "long"

    @cached_property
    def _held(self) -> frozenset[str]:
        """The keys of the calls that the same request asks about by themselves."""
        return frozenset(held.event.key for held in self.run.record.waiting_calls)

    @cached_property
    def _uncertain(self) -> frozenset[str]:
        return frozenset(call.tool for call in self.run.record.calls.by_key.values() if call.is_uncertain)

    def _key(self, step: Step, tool: ToolSpec, item: int | None, args: Mapping[str, JsonValue]) -> str:
        return call_key(self.run.record.id, step.id, item, 0, tool.name, digest(dict(args)))

    def _rules(self, tool: ToolSpec) -> tuple[ApproverRule, ...]:
        rules = self.run.terms.policy.approvers.rules((), cost_under(self.run, None), calls=[tool])
        return tuple(rule for rule in rules if rule not in self._rules_on_plan)

    @cached_property
    def _rules_on_plan(self) -> tuple[ApproverRule, ...]:
        return self.run.terms.rules_on(self.plan)
