"""Who decides: the rules of a policy on the people whose decisions count."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from planner_executor.graph.plan.catalog import Effect, ToolSpec
from planner_executor.graph.policy.approver_rule import ANYBODY, ApproverRule, people_rules
from planner_executor.graph.policy.decision_deadline import TimeLimit
from planner_executor.graph.record.deadline import Deadline

Table = Literal["plans", "calls"]
"""Under which rules a call falls: as a part of the plan that is approved, or as one that is asked about by itself."""
TABLES: tuple[Table, ...] = get_args(Table)


@dataclass(frozen=True)
class Approvers:
    """The rules by tool, by effect and by cost, and `rule` for what none of these is about.

    The rule of a tool takes precedence over that of its effect; a tool with an effect and neither needs `rule`,
    whatever other tools the decision is about. Rules by cost (US dollars -> rule) are added to the others. `four_eyes`
    and `quorum` of `rule` hold for all, and its `time` for those without a time of their own. For a call that is asked
    about by itself a rule of `calls`, by tool or for all, takes the place of these, but for those by cost.
    """

    rule: ApproverRule = ANYBODY
    tools: Mapping[str, ApproverRule] = field(default_factory=dict)
    effects: Mapping[Effect, ApproverRule] = field(default_factory=dict)
    costs: tuple[tuple[float, ApproverRule], ...] = ()
    calls: "Approvers | None" = None

    def rules(
        self,
        tools: Iterable[ToolSpec],
        cost_usd: float | None,
        escalated_s: float = 0.0,
        *,
        calls: Iterable[ToolSpec] = (),
    ) -> tuple[ApproverRule, ...]:
        """Return the rules on a decision, each of which has to be met; empty if anybody decides.

        Args:
            tools: The tools that the decision is about, as those of a plan.
            cost_usd: What the run may cost by then; None, which is more than any bound, if nothing bounds it.
            escalated_s: How many seconds after the request it was escalated last, 0 if it was not.
            calls: The tools of calls that the decision is about, each by itself.
        """
        return people_rules(self.timed_rules(tools, cost_usd, calls=calls), escalated_s)

    def timed_rules(
        self, tools: Iterable[ToolSpec], cost_usd: float | None, *, calls: Iterable[ToolSpec] = ()
    ) -> tuple[ApproverRule, ...]:
        """Return the rules on a decision, with those on time alone."""
        asked: tuple[tuple[Table, Iterable[ToolSpec]], ...] = (("plans", tools), ("calls", calls))
        found = [rule for table, specs in asked for tool in specs if (rule := self._of_tool(tool, table)) is not None]
        return self._together(found or [self._with_general(self.rule)], cost_usd)

    def of_call(self, tool: ToolSpec, cost_usd: float | None, table: Table = "plans") -> tuple[ApproverRule, ...]:
        """Return the rules that a call has to meet once people decide about it; empty if none is about its tool."""
        rule = self._of_tool(tool, table)
        return self._together([rule], cost_usd) if rule is not None else ()

    def time_limits(
        self, tools: Iterable[ToolSpec], cost_usd: float | None, *, calls: Iterable[ToolSpec] = ()
    ) -> list[TimeLimit]:
        """Return how long people have for a decision, by each rule that says so, the shortest first."""
        rules = self.timed_rules(tools, cost_usd, calls=calls)
        found = dict.fromkeys(rule.time for rule in rules if rule.time is not None)
        return sorted(found, key=lambda limit: limit.within_s)

    def deadline(
        self, tools: Iterable[ToolSpec], cost_usd: float | None, since: float, *, calls: Iterable[ToolSpec] = ()
    ) -> Deadline | None:
        """Return until when a request of `since` (Unix seconds) may be decided, None for as long as it takes.

        The shortest time counts, and what its rule says of reminders and the end; each rule escalates by itself.
        """
        if not (limits := self.time_limits(tools, cost_usd, calls=calls)):
            return None
        first = limits[0]
        reminders = tuple(first.within_s - before for before in first.remind_before_s)
        after = {limit.escalate_after_s for limit in limits if limit.escalate_after_s is not None}
        escalations = tuple(sorted(moment for moment in after if moment < first.within_s))
        return Deadline(since, first.within_s, reminders, escalations, first.on_expire)

    def has_cost_rule(self, cost_usd: float | None) -> bool:
        """Whether a rule by cost applies to a run that may cost this much, None if nothing bounds it."""
        return bool(self._by_cost(cost_usd))

    def _by_cost(self, cost_usd: float | None) -> list[ApproverRule]:
        return [rule for above, rule in self.costs if cost_usd is None or cost_usd > above]

    def _together(self, found: Iterable[ApproverRule], cost_usd: float | None) -> tuple[ApproverRule, ...]:
        rules = (*found, *map(self._with_general, self._by_cost(cost_usd)))
        return tuple(dict.fromkeys(rule for rule in rules if rule != ANYBODY))

    def _of_tool(self, tool: ToolSpec, table: Table) -> ApproverRule | None:
        """Return the rule on one tool, None for a tool without an effect that no rule is about."""
        found = self.tools.get(tool.name) or self.effects.get(tool.effect) or (self.rule if tool.acts else None)
        rule = self._with_general(found) if found is not None else None
        if table == "plans" or self.calls is None:
            return rule
        own = self.calls._with_general(self.calls.tools.get(tool.name, self.calls.rule))
        if own.people() == ANYBODY:  # it says how long people have, if anything, and not who decides
            return rule if own.time is None else (rule or ANYBODY)._replace(time=own.time)
        return own._replace(time=own.time or (rule or self.rule).time)

    def _with_general(self, rule: ApproverRule) -> ApproverRule:
        quorum, time = max(rule.quorum, self.rule.quorum), rule.time or self.rule.time
        return rule._replace(four_eyes=rule.four_eyes or self.rule.four_eyes, quorum=quorum, time=time)

    def to_json(self) -> dict[str, Any]:
        """Return the rules as JSON, unset fields left out."""
        found = {
            "tools": {name: rule.to_json() for name, rule in self.tools.items()},
            "effects": {effect: rule.to_json() for effect, rule in self.effects.items()},
            "cost": [{"above_usd": above, **rule.to_json()} for above, rule in self.costs],
        }
        calls = {"calls": self.calls.to_json()} if self.calls is not None else {}
        return {**self.rule.to_json(), **{name: value for name, value in found.items() if value}, **calls}


NO_APPROVERS = Approvers()
