"""What a decision is about: the calls that it covers, or brings into force, and the rules on the people who make it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.approver_rule import ApproverRule, have_to_approve, missing, people_rules
from planner_executor.graph.policy.approvers import TABLES, Approvers, Table
from planner_executor.graph.record.events.met import Met
from planner_executor.graph.record.person import Approver
from planner_executor.graph.words.name_list import listed


class Reach(NamedTuple):
    """Tools whose calls rest on a value, and the rules on people who decide about these calls by it."""

    tools: tuple[str, ...]
    rules: tuple[ApproverRule, ...]

    def in_words(self, name: Callable[[str], str] = str, words: Callable[[str], str] = str) -> str:
        """Return it as sentences; `name` writes the name of a tool, `words` that of a person or of a role."""
        return (
            f"It reaches calls of {listed(list(map(name, self.tools)))}: {have_to_approve(self.rules, words)}. "
            "From anybody else it stands, and these calls are shown by themselves."
        )


class AtStake(NamedTuple):
    """The tools of plans, those of calls that are asked about by themselves, and what the run may cost by then.

    A cost of None is more than any bound.
    """

    tools: tuple[ToolSpec, ...] = ()
    calls: tuple[ToolSpec, ...] = ()
    cost_usd: float | None = 0.0

    @classmethod
    def of_steps(
        cls, plan: Plan, steps: Collection[str], tools: Mapping[str, ToolSpec], cost_usd: float | None
    ) -> "AtStake":
        """Return what is at stake with the calls of these steps of a plan; a tool that is gone is left out."""
        names = dict.fromkeys(name for step in plan.steps if step.id in steps for name in step.tool_names)
        return cls(tuple(tools[name] for name in names if name in tools), cost_usd=cost_usd)

    def __or__(self, other: "AtStake") -> "AtStake":
        """Return what is at stake in either: what was shown, and what would hold afterwards."""
        costs = (self.cost_usd, other.cost_usd)
        cost = None if None in costs else max(cost for cost in costs if cost is not None)
        return AtStake(_united(self.tools, other.tools), _united(self.calls, other.calls), cost)

    def rules(self, approvers: Approvers, escalated_s: float = 0.0) -> tuple[ApproverRule, ...]:
        """Return the rules on who decides, see `Approvers.rules`."""
        return approvers.rules(self.tools, self.cost_usd, escalated_s, calls=self.calls)

    def of_calls(self, approvers: Approvers, escalated_s: float = 0.0) -> tuple[ApproverRule, ...]:
        """Return the rules that single calls of these tools have to meet, none for tools that no rule is about."""
        return people_rules((rule for _, rule in self._ruled(approvers)), escalated_s)

    def reach(self, approvers: Approvers, escalated_s: float = 0.0) -> "Reach | None":
        """Return who decides about these calls by a value that they rest on, None if no rule says so."""
        if not (rules := self.of_calls(approvers, escalated_s)):
            return None
        return Reach(tuple(tool.name for tool in self.tools if approvers.of_call(tool, self.cost_usd)), tuple(rules))

    def met(self, approvers: Approvers, voters: Sequence[Approver], askers: Sequence[str], escalated_s: float) -> Met:
        """Return which rules on its calls these people meet together, an escalation included."""
        return self._by_tool(approvers, lambda rule: missing([rule.people(escalated_s)], voters, askers) is None)

    def in_force(self, approvers: Approvers) -> Met:
        """Return the rules on its calls."""
        return self._by_tool(approvers, lambda _: True)

    def _by_tool(self, approvers: Approvers, counts: Callable[[ApproverRule], bool]) -> Met:
        found: dict[str, list[ApproverRule]] = {}
        for name, rule in self._ruled(approvers):
            found.setdefault(name, []).append(rule)
        return {
            name: tuple(rule.people().to_json() for rule in dict.fromkeys(rules) if counts(rule))
            for name, rules in found.items()
        }

    def _ruled(self, approvers: Approvers) -> Iterator[tuple[str, ApproverRule]]:
        """Yield each tool whose calls somebody has to approve, with each rule on it."""
        ruled: tuple[tuple[Table, tuple[ToolSpec, ...]], ...] = (("plans", self.tools), ("calls", self.calls))
        for table, tools in ruled:
            yield from ((tool.name, rule) for tool in tools for rule in approvers.of_call(tool, self.cost_usd, table))


NOTHING_AT_STAKE = AtStake()


def under_four_eyes(
    plan: Plan, steps: Collection[str], tools: Mapping[str, ToolSpec], approvers: Approvers, cost_usd: float | None
) -> set[str]:
    """Return those of these steps of a plan that call a tool whose rules take four eyes."""
    return {
        step.id
        for step in plan.steps
        if step.id in steps
        for name in step.tool_names
        if name in tools
        if any(rule.four_eyes for table in TABLES for rule in approvers.of_call(tools[name], cost_usd, table))
    }


def _united(tools: Iterable[ToolSpec], others: Iterable[ToolSpec]) -> tuple[ToolSpec, ...]:
    return tuple({tool.name: tool for tool in (*tools, *others)}.values())
