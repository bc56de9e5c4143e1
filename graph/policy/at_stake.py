"""What a decision is about: the calls that it covers, or brings into force, and the rules on the people who make it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph.plan.catalog import ToolSpec
from graph.policy.approvers import ApproverRule, Approvers, missing
from graph.record.person import Approver

Met = Mapping[str, tuple[Mapping[str, Any], ...]]
"""Tool -> the rules on people, as JSON, that those who decided met for its calls."""


@dataclass(frozen=True)
class AtStake:
    """The tools of plans, those of calls that are asked about by themselves, and what the run may cost by then.

    A cost of None is more than any bound.
    """

    tools: tuple[ToolSpec, ...] = ()
    calls: tuple[ToolSpec, ...] = ()
    cost_usd: float | None = 0.0

    def __or__(self, other: "AtStake") -> "AtStake":
        """Return what is at stake in either: what was shown, and what would hold afterwards."""
        costs = (self.cost_usd, other.cost_usd)
        cost = None if None in costs else max(cost for cost in costs if cost is not None)
        return AtStake(_united(self.tools, other.tools), _united(self.calls, other.calls), cost)

    def rules(self, approvers: Approvers, escalated_s: float = 0.0) -> tuple[ApproverRule, ...]:
        """Return the rules on who decides, see `Approvers.rules`."""
        return approvers.rules(self.tools, self.cost_usd, escalated_s, calls=self.calls)

    def met(self, approvers: Approvers, voters: Sequence[Approver], askers: Sequence[str], escalated_s: float) -> Met:
        """Return which rules on its calls these people meet together, an escalation included."""
        found: dict[str, list[ApproverRule]] = {}
        for tool in self.tools:
            found.setdefault(tool.name, []).extend(approvers.of_call(tool, self.cost_usd))
        for tool in self.calls:
            found.setdefault(tool.name, []).extend(approvers.of_call(tool, self.cost_usd, "calls"))
        return {
            name: tuple(
                rule.people().to_json()
                for rule in dict.fromkeys(rules)
                if missing([rule.people(escalated_s)], voters, askers) is None
            )
            for name, rules in found.items()
            if rules
        }


def _united(tools: Iterable[ToolSpec], others: Iterable[ToolSpec]) -> tuple[ToolSpec, ...]:
    return tuple({tool.name: tool for tool in (*tools, *others)}.values())
