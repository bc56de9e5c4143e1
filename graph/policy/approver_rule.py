"""A rule on the people who decide: who they are, how many it takes, and whom it refuses."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from planner_executor.graph.policy.decision_deadline import TimeLimit
from planner_executor.graph.record.person import Approver, exact_name, same_name
from planner_executor.graph.words.name_list import counted, enumerated


class ApproverRule(NamedTuple):
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
        rule, limit = self._replace(time=None), self.time
        # A rule without names and roles admits anybody already: names of an escalation would close it.
        if limit is None or not limit.is_escalated(escalated_s) or not (self.names or self.roles):
            return rule
        return rule._replace(names=(*self.names, *limit.to_names), roles=(*self.roles, *limit.to_roles))

    def admits(self, approver: Approver) -> bool:
        """Whether a person's decision counts, four eyes aside."""
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
        # By the names as they are compared: one person under two spellings is one.
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
            left.append(f"{len(people)} of {counted(needed, 'approval')}: {rule._replace(quorum=needed)}")
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
