"""Calls that people brought into force, by an approval or a value, without having met the policy's rules on people."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.approver_rule import ApproverRule, givers_fault, people_rules
from planner_executor.graph.policy.approvers import NO_APPROVERS
from planner_executor.graph.policy.policy import Policy
from planner_executor.graph.record.events import ValueShown
from planner_executor.graph.record.given_value import GivenValue
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.values import to_text
from planner_executor.graph.text.review.values import cut

VALUE_CHARACTERS = 400
"""How much of a value is shown with a call that rests on it."""
NOT_APPROVED = "the approval of the plan does not meet the policy's rules on who decides about {tool}"
GIVEN = "it rests on what was given by people who may not decide about {tool} alone"


@dataclass(frozen=True)
class Unmet:
    """Why people have to decide about a call by itself, and the values it rests on, if it is for those."""

    why: str
    values: tuple[ValueShown, ...] = ()


@dataclass
class RuledCalls:
    """The rules on people at the gate, for one pass over the plan of a run in its recorded state.

    Rules say who decides, never that people are asked: a call that no person's decision or value brought about passes.
    """

    record: RunState
    policy: Policy

    def unmet(self, step: str, tool: ToolSpec) -> Unmet | None:
        """Return why a step's call of a tool is held, None if those who brought it about met the rules of its tool."""
        if self.policy.approvers == NO_APPROVERS:
            return None
        cost = self.record.spending.budget.within(self.policy.limits).cost_usd
        if not (rules := people_rules(self.policy.approvers.of_call(tool, cost))):
            return None
        approval, raised = self.record.review_state.approval, self.record.people.values.get("limit")
        is_met, since = None, 0
        if approval is not None and tool.name in approval.met:
            met, more = approval.met[tool.name], raised.met.get(tool.name, ()) if raised is not None else ()
            # None: an earlier release noted no rules, and its request had shown the tool.
            is_met = met is None or _are_met(rules, (*met, *more))
            # An approval covers what was given before it only if those who gave it meet the rules themselves.
            since = approval.people_seq if is_met else 0
        values = [
            value
            for value in self._values_of.get(step, ())
            if value.seq > since and not _are_met(rules, value.met.get(tool.name, ()))
        ]
        if values:
            return Unmet(GIVEN.format(tool=tool.name), tuple(map(_shown, values)))
        return Unmet(NOT_APPROVED.format(tool=tool.name)) if is_met is False else None

    def is_settled(self, key: str, step: str, tool: ToolSpec) -> bool:
        """Whether people who meet the rules of a call that the policy asks about approved it with its plan."""
        review, within = self.record.review_state, self.record.plan_state.current_pass
        if (consent := review.with_plan.get(key)) is None or review.rejection(key, within):
            return False
        cost = self.record.spending.budget.within(self.policy.limits).cost_usd
        rules = self.policy.approvers.rules((), cost, calls=[tool])
        if not rules:
            return True
        plan, people = self._plan, self.record.people
        askers = people.askers_of(plan, {step}) if plan is not None and people.values else people.askers
        return _are_met(rules, consent.met) and givers_fault(rules, consent.by, askers) is None

    @cached_property
    def _plan(self) -> Plan | None:
        raw = self.record.plan_state.plan
        return Plan.model_validate(raw) if raw is not None else None

    @cached_property
    def _values_of(self) -> Mapping[str, list[GivenValue]]:
        """Step -> the values that its calls rest on."""
        found: defaultdict[str, list[GivenValue]] = defaultdict(list)
        if self.record.people.values and (plan := self._plan) is not None:
            for value in self.record.people.values.values():
                for step in value.reached(plan):
                    found[step].append(value)
        return found


def _are_met(rules: Iterable[ApproverRule], met: Iterable[Mapping[str, Any]]) -> bool:
    known = list(met)
    return all(rule.to_json() in known for rule in rules)


def _shown(value: GivenValue) -> ValueShown:
    text = None if value.kind in ("gate", "limit", "plan") else cut(to_text(value.value), VALUE_CHARACTERS)
    return ValueShown(value.kind, value.by, value.step, text)
