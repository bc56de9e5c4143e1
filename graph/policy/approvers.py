"""Who decides: the rules of a policy on the people whose decisions count."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from graph.plan.catalog import Effect, ToolSpec
from graph.record.person import Approver, same_name


@dataclass(frozen=True)
class ApproverRule:
    """The people who decide, by name or by role (anybody verified if there is neither), and how many it takes.

    A name is that of a person whom a server or an adapter has verified; `os:ada` is the user of this machine. With
    `four_eyes` whoever asked for it does not count.
    """

    names: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    four_eyes: bool = False
    quorum: int = 1

    def admits(self, approver: Approver) -> bool:
        """Whether a person's decision counts, whatever the person asked for."""
        if not approver.is_verified:
            return False
        name = approver.person if approver.source == "server" else same_name(str(approver))
        is_named = name in map(same_name, self.names) or bool({*self.roles} & {*approver.roles})
        return is_named or not (self.names or self.roles)

    def __str__(self) -> str:
        """Return who decides, in words.

        >>> str(ApproverRule(names=("ada",), roles=("finance",), four_eyes=True, quorum=2))
        '2 of ada and the role finance, none of whom asked for it'
        """
        people = [*self.names, *(f"the role {role}" for role in self.roles)]
        who = f"{self.quorum} of {' and '.join(people)}" if people else f"{self.quorum} verified person(s)"
        return who + (", none of whom asked for it" if self.four_eyes else "")

    def to_json(self) -> dict[str, Any]:
        """Return the rule as JSON, unset fields left out."""
        found = {"names": list(self.names), "roles": list(self.roles), "four_eyes": self.four_eyes}
        quorum = {"quorum": self.quorum} if self.quorum > 1 else {}
        return {**{name: value for name, value in found.items() if value}, **quorum}


ANYBODY = ApproverRule()


@dataclass(frozen=True)
class Approvers:
    """The rules by tool, by effect and by cost, and `rule` for what none of these is about.

    The rule of a tool takes precedence over that of its effect; a tool with an effect and neither needs `rule`,
    whatever other tools the decision is about. Rules by cost (US dollars -> rule) are added to the others. `four_eyes`
    and `quorum` of `rule` hold for all.
    """

    rule: ApproverRule = ANYBODY
    tools: Mapping[str, ApproverRule] = field(default_factory=dict)
    effects: Mapping[Effect, ApproverRule] = field(default_factory=dict)
    costs: tuple[tuple[float, ApproverRule], ...] = ()

    def rules(self, tools: Iterable[ToolSpec], cost_usd: float | None) -> tuple[ApproverRule, ...]:
        """Return the rules on a decision, each of which has to be met; empty if anybody decides.

        Args:
            tools: The tools that the decision is about.
            cost_usd: What the run may cost by then; None, which is more than any bound, if nothing bounds it.
        """
        found = [rule for rule in map(self._of_tool, tools) if rule is not None] or [self.rule]
        found += self._by_cost(cost_usd)
        return tuple(dict.fromkeys(made for rule in found if (made := self._with_general(rule)) != ANYBODY))

    def has_cost_rule(self, cost_usd: float | None) -> bool:
        """Whether a rule by cost applies to a run that may cost this much, None if nothing bounds it."""
        return bool(self._by_cost(cost_usd))

    def _by_cost(self, cost_usd: float | None) -> list[ApproverRule]:
        return [rule for above, rule in self.costs if cost_usd is None or cost_usd > above]

    def _of_tool(self, tool: ToolSpec) -> ApproverRule | None:
        """Return the rule on one tool, None for a tool without an effect that no rule is about."""
        return self.tools.get(tool.name) or self.effects.get(tool.effect) or (self.rule if tool.acts else None)

    def _with_general(self, rule: ApproverRule) -> ApproverRule:
        quorum = max(rule.quorum, self.rule.quorum)
        return replace(rule, four_eyes=rule.four_eyes or self.rule.four_eyes, quorum=quorum)

    def to_json(self) -> dict[str, Any]:
        """Return the rules as JSON, unset fields left out."""
        found = {
            "tools": {name: rule.to_json() for name, rule in self.tools.items()},
            "effects": {effect: rule.to_json() for effect, rule in self.effects.items()},
            "cost": [{"above_usd": above, **rule.to_json()} for above, rule in self.costs],
        }
        return {**self.rule.to_json(), **{name: value for name, value in found.items() if value}}


NO_APPROVERS = Approvers()


def refusal(rules: Sequence[ApproverRule], approver: Approver, askers: Sequence[str]) -> str | None:
    """Return why a person may not decide, None if the decision counts for at least one of the rules."""
    if any(_counts(rule, approver, askers) for rule in rules):
        return None
    if not approver.is_verified:
        known = f"{approver} is only claimed" if approver.source == "claimed" else "nobody knows who answers"
        return f"{known}, and the policy takes a verified person: {_all(rules)}"
    asked = any(rule.admits(approver) for rule in rules)
    why = "asked for this, and may not decide it too" if asked else "may not decide this"
    return f"{approver} {why}; it takes {_all(rules)}"


def missing(rules: Sequence[ApproverRule], voters: Sequence[Approver], askers: Sequence[str]) -> str | None:
    """Return which approvals are missing yet, None if every rule is met; one person counts once."""
    left = []
    for rule in rules:
        people = {voter.person for voter in voters if _counts(rule, voter, askers)}
        needed = quorum_of(rule, askers)
        if len(people) < needed:
            left.append(f"{len(people)} of {needed} approvals by {replace(rule, quorum=needed)}")
    return "; ".join(left) or None


def alone_fault(rules: Sequence[ApproverRule], approver: Approver, askers: Sequence[str]) -> str | None:
    """Return why a person may not do without a review what a request is decided for, None if they may.

    Whoever does it asks for it too, so that under four eyes nobody may.
    """
    if missing(rules, [approver], [*askers, str(approver)]) is None:
        return None
    return f"{approver} may not do this alone; it takes {_all(rules)}"


def quorum_of(rule: ApproverRule, askers: Sequence[str]) -> int:
    """Return how many it takes: under four eyes two, if it is not verified who asked, since one of two did not."""
    is_known = all(Approver.of_label(label).is_verified for label in askers) and bool(askers)
    return max(rule.quorum, 1 if is_known or not rule.four_eyes else 2)


def givers_fault(rules: Sequence[ApproverRule], givers: Sequence[str], askers: Sequence[str]) -> str | None:
    """Return why those who gave a standing approval cannot have a call made for those who asked, None if they can.

    They met the names, roles and quorum of this policy when they gave it; who asks may have changed.
    """
    people = {Approver.of_label(label).person for label in givers}
    asked = {Approver.of_label(label).person for label in askers}
    if any(rule.four_eyes and len(people - asked) < quorum_of(rule, askers) for rule in rules):
        return "those who gave it asked for this call"
    return None


def is_proposed(rules: Sequence[ApproverRule]) -> bool:
    """Whether an edit is a proposal, which others have to approve."""
    return any(rule.four_eyes or rule.quorum > 1 for rule in rules)


def _counts(rule: ApproverRule, approver: Approver, askers: Sequence[str]) -> bool:
    asked = rule.four_eyes and approver.person in {Approver.of_label(label).person for label in askers}
    return rule.admits(approver) and not asked


def _all(rules: Sequence[ApproverRule]) -> str:
    return "; and ".join(map(str, rules))
