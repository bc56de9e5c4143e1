"""Who decides: the rules of a policy on the people whose decisions count."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from planner_executor.graph.plan.catalog import Effect, ToolSpec
from planner_executor.graph.policy.decision_deadline import TimeLimit
from planner_executor.graph.record.deadline import Deadline
from planner_executor.graph.record.person import Approver, exact_name, same_name
from planner_executor.graph.words.name_list import counted, enumerated

Table = Literal["plans", "calls"]
"""Under which rules a call falls: as a part of the plan that is approved, or as one that is asked about by itself."""
TABLES: tuple[Table, ...] = get_args(Table)


@dataclass(frozen=True)
class ApproverRule:
    """The people who decide, by name or by role (anybody verified if there is neither), and how many it takes.

    A name is that of a person whom a server or an adapter has verified; `os:ada` is the user of this machine. With
    `four_eyes` whoever asked for it does not count. `time` limits how long they have.
    """

    names: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    four_eyes: bool = False
    quorum: int = 1
    time: TimeLimit | None = None

    def people(self, escalated_s: float = 0.0) -> "ApproverRule":
        """Return the rule on people alone, with those it was escalated to so many seconds after the request."""
        rule, limit = replace(self, time=None), self.time
        # A rule without names and roles admits anybody already: names of an escalation would close it.
        if limit is None or not limit.is_escalated(escalated_s) or not (self.names or self.roles):
            return rule
        return replace(rule, names=(*self.names, *limit.to_names), roles=(*self.roles, *limit.to_roles))

    def admits(self, approver: Approver) -> bool:
        """Whether a person's decision counts, whatever the person asked for."""
        if not approver.is_verified:
            return False
        is_named = approver.identity in map(_label, self.names) or bool({*self.roles} & {*approver.roles})
        return is_named or not (self.names or self.roles)

    @property
    def needed(self) -> tuple[str, ...]:
        """The people none of whom may ask, since too few are left under four eyes; empty if others may decide too."""
        is_open = bool(self.roles) or (self.time is not None and self.time.escalate_after_s is not None)
        if is_open or not self.four_eyes or len({*map(same_name, self.names)}) > self.quorum:
            return ()
        return self.names

    def in_words(self, name: Callable[[str], str] = str) -> str:
        """Return who decides; `name` writes the name of a person or of a role.

        >>> ApproverRule(names=("Ada", "Ben")).in_words(), ApproverRule(names=("Ada", "Ben"), quorum=2).in_words()
        ('Ada or Ben', 'Ada and Ben')
        >>> ApproverRule(names=("Ada",), roles=("finance",), four_eyes=True, quorum=2).in_words()
        '2 of Ada and the role finance (but nobody who asked for it)'
        """
        people = [*map(name, self.names), *(f"the role {name(role)}" for role in self.roles)]
        are_all = not self.roles and self.quorum == len({*map(same_name, self.names)})
        but = " (but nobody who asked for it)" if self.four_eyes else ""
        if not people:
            return (f"{self.quorum} verified people" if self.quorum > 1 else "a verified person") + but
        who = enumerated(people, "or" if self.quorum == 1 else "and")
        return (who if self.quorum == 1 or are_all else f"{self.quorum} of {who}") + but

    def __str__(self) -> str:
        """Return who decides, see `in_words`."""
        return self.in_words()

    def to_json(self) -> dict[str, Any]:
        """Return the rule as JSON, unset fields left out."""
        found = {"names": list(self.names), "roles": list(self.roles), "four_eyes": self.four_eyes}
        quorum = {"quorum": self.quorum} if self.quorum > 1 else {}
        time = self.time.to_json() if self.time is not None else {}
        return {**{name: value for name, value in found.items() if value}, **quorum, **time}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> "ApproverRule":
        """Read a rule as `to_json` returns it; a redaction may have replaced texts and numbers."""
        names, roles = (tuple(map(str, raw.get(name, ()))) for name in ("names", "roles"))
        quorum = raw.get("quorum", 1)
        return cls(names, roles, bool(raw.get("four_eyes")), quorum if type(quorum) is int else 1, TimeLimit.of(raw))


def _label(name: str) -> str:
    """Return the label of the person whom a rule names: of a server or an adapter, or of this machine as `os:ada`."""
    exact = exact_name(name)
    return exact if exact.startswith("os:") else f"server:{exact}"


ANYBODY = ApproverRule()
SIGNED_IN = "signed in on the desk or in a chat, or with `planner-executor inbox --mine`"
"""How the people answer whom a rule names."""


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
            return rule if own.time is None else replace(rule or ANYBODY, time=own.time)
        return replace(own, time=own.time or (rule or self.rule).time)

    def _with_general(self, rule: ApproverRule) -> ApproverRule:
        quorum, time = max(rule.quorum, self.rule.quorum), rule.time or self.rule.time
        return replace(rule, four_eyes=rule.four_eyes or self.rule.four_eyes, quorum=quorum, time=time)

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


def people_rules(rules: Iterable[ApproverRule], escalated_s: float = 0.0) -> tuple[ApproverRule, ...]:
    """Return the rules on people alone, empty if anybody decides; for `escalated_s` see `Approvers.rules`."""
    found = (rule.people(escalated_s) for rule in rules)
    return tuple(dict.fromkeys(rule for rule in found if rule != ANYBODY))


def approver_refusal(rules: Sequence[ApproverRule], approver: Approver, askers: Sequence[str]) -> str | None:
    """Return why a person may not decide, None if the decision counts for at least one of the rules."""
    if any(_counts(rule, approver, askers) for rule in rules):
        return None
    if not approver.is_verified:
        known = f"{approver} is only claimed" if approver.source == "claimed" else "nobody knows who answers"
        return f"{known}, and the policy takes a verified person: {have_to_approve(rules)}, {SIGNED_IN}"
    asked = any(rule.admits(approver) for rule in rules)
    why = "asked for this, and may not decide it too" if asked else "may not decide this"
    return f"{approver} {why}; {have_to_approve(rules)}, {SIGNED_IN}"


def missing(rules: Sequence[ApproverRule], voters: Sequence[Approver], askers: Sequence[str]) -> str | None:
    """Return which approvals are missing yet, None if every rule is met; one person counts once."""
    left = []
    for rule in rules:
        people = {voter.person for voter in voters if _counts(rule, voter, askers)}
        needed = quorum_of(rule, askers)
        if len(people) < needed:
            left.append(f"{len(people)} of {counted(needed, 'approval')}: {replace(rule, quorum=needed)}")
    return "; ".join(left) or None


def alone_fault(rules: Sequence[ApproverRule], approver: Approver, askers: Sequence[str]) -> str | None:
    """Return why a person may not do without a review what a request is decided for, None if they may.

    Whoever does it asks for it too, so that under four eyes nobody may.
    """
    if missing(rules, [approver], [*askers, str(approver)]) is None:
        return None
    return f"{approver} may not do this alone; {have_to_approve(rules)}"


def quorum_of(rule: ApproverRule, askers: Sequence[str]) -> int:
    """Return how many it takes: under four eyes two, if it is not verified who asked, since one of two did not."""
    is_known = all(Approver.of_label(label).is_known for label in askers) and bool(askers)
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


def nobody_left(rules: Iterable[ApproverRule], askers: Sequence[str]) -> tuple[str, ...]:
    """Return whom a rule names if too few of them are left under four eyes, since they asked; else nothing.

    A rule that admits roles, or is escalated later, leaves others.
    """
    asked = {Approver.of_label(label).person for label in askers}
    for rule in rules:
        people = {same_name(name.removeprefix("os:")) for name in rule.names}
        is_closed = rule.four_eyes and not rule.roles and (rule.time is None or rule.time.escalate_after_s is None)
        if people and is_closed and len(people - asked) < quorum_of(rule, askers):
            return rule.names
    return ()


def is_proposed(rules: Sequence[ApproverRule]) -> bool:
    """Whether an edit is a proposal, which others have to approve."""
    return any(rule.four_eyes or rule.quorum > 1 for rule in rules)


def _counts(rule: ApproverRule, approver: Approver, askers: Sequence[str]) -> bool:
    asked = rule.four_eyes and approver.person in {Approver.of_label(label).person for label in askers}
    return rule.admits(approver) and not asked


def have_to_approve(rules: Sequence[ApproverRule], name: Callable[[str], str] = str) -> str:
    """Return who has to approve by all of these rules, in words; `name` writes the name of a person or of a role.

    >>> have_to_approve([ApproverRule(names=("Ada", "Ben")), ApproverRule(roles=("lead",))])
    'Ada or Ben, and also the role lead have to approve'
    """
    who = ", and also ".join(rule.in_words(name) for rule in rules)
    return f"{who} {'has' if len(rules) == 1 and rules[0].quorum == 1 else 'have'} to approve"
