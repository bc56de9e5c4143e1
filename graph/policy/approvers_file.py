"""The table `[approvers]` of a policy, as it is written.

```toml
[approvers]                          # who decides what no rule below is about
roles = ["ops"]
four_eyes = true                     # these two hold for all rules
quorum = 1

[approvers.tools.send_money]
names = ["ada@example.org"]
roles = ["finance"]
quorum = 2
decide_within = "24h"                # how long they have, and what happens before and after
remind_before = ["4h", "1h"]
escalate_after = "12h"
escalate_to = { roles = ["lead"] }
on_expire = "reject"                 # or "end"

[approvers.effects.external]
roles = ["ops"]

[approvers.calls]                    # a call that is asked about by itself, in the place of the rules above
roles = ["staff"]

[approvers.calls.tools.send_money]
names = ["ada@example.org"]

[[approvers.cost]]                   # runs that may cost more than this
above_usd = 10
roles = ["lead"]
```
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, Strict, model_validator

from planner_executor.graph.plan.catalog import Effect
from planner_executor.graph.policy.approver_rule import ApproverRule
from planner_executor.graph.policy.approvers import NO_APPROVERS, Approvers
from planner_executor.graph.policy.duration import A_DURATION, fits_a_year, seconds_in
from planner_executor.graph.record.deadline import OnExpire
from planner_executor.graph.record.person import same_name
from planner_executor.graph.words.tables import List, Number, OpenTable, Path, Says, Shape, Texts, YesNo, fault

MOST = 20
"""The largest quorum."""
NO_SOURCES = ("server", "claimed")
"""Sources that a record writes before a name; in a rule only `os:` is one."""
SOMEONE = 'must name people, such as { roles = ["lead"] }'
EARLIER = 'must be a list of durations shorter than decide_within, such as ["4h", "1h"]'


def _duration(given: str) -> str:
    if not fits_a_year(seconds_in(given)):
        raise fault(A_DURATION)
    return given


def _names(given: tuple[str, ...]) -> tuple[str, ...]:
    for name in given:
        source, _, rest = name.partition(":")
        if source in NO_SOURCES and rest:
            raise fault(f"has {name!r}; write {rest!r}, as a server or an adapter names the person")
    return given


def _rules(given: Any) -> Any:
    if not isinstance(given, list | tuple):
        raise fault("must be a list of rules: [[approvers.cost]]")
    return given


def _someone(given: "People") -> "People":
    if not (given.names or given.roles):
        raise fault(SOMEONE)
    return given


Duration = Annotated[str, Strict(), AfterValidator(_duration), Says(A_DURATION)]
Quorum = Annotated[int, Strict(), Field(ge=1, le=MOST), Says(f"must be an integer from 1 to {MOST}")]


class People(OpenTable):
    """People whom a request may be escalated to."""

    names: Texts = ()
    roles: Texts = ()


class Rule(People):
    """Who decides, and how long they have."""

    names: Annotated[Texts, AfterValidator(_names)] = ()
    four_eyes: YesNo = False
    quorum: Quorum = 1
    decide_within: Duration | None = None
    remind_before: Annotated[tuple[Duration, ...], Field(min_length=1), List, Says(EARLIER)] = ()
    escalate_after: Duration | None = None
    escalate_to: Annotated[People, AfterValidator(_someone), Shape(), Says(SOMEONE)] | None = None
    on_expire: OnExpire = "reject"

    @model_validator(mode="after")
    def _check(self) -> "Rule":
        self._check_time()
        self.check_people(self.quorum)
        return self

    def _check_time(self) -> None:
        timed = [name for name in Rule.model_fields if name in self.model_fields_set and name not in UNTIMED]
        # Without an end nothing can come before it, after it, or instead of it.
        if timed and self.decide_within is None:
            raise fault("needs decide_within beside it", timed[0])
        within = seconds_in(self.decide_within) or 0.0
        if any((seconds_in(text) or 0.0) >= within for text in self.remind_before):
            raise fault(EARLIER, "remind_before")
        if self.escalate_after is not None and (seconds_in(self.escalate_after) or 0.0) >= within:
            raise fault("must be a duration shorter than decide_within", "escalate_after")
        if (self.escalate_after is None) != (self.escalate_to is None):
            raise fault("and escalate_to belong together: when others may decide too, and who", "escalate_after")

    def check_people(self, quorum: int, *at: str) -> None:
        """Refuse a quorum that takes more people than are named; a role has any number."""
        # Two spellings of a name are one person, who has one vote.
        people = len({*map(same_name, self.names)})
        if self.names and not self.roles and people < quorum:
            raise fault(f"takes more people than the {people} named", *at, "quorum")

    @property
    def rule(self) -> ApproverRule:
        """The rule as a value."""
        return ApproverRule.from_json(self.model_dump(exclude_unset=True))


UNTIMED = ("names", "roles", "four_eyes", "quorum")
A_RULE = 'must be a table, such as { roles = ["finance"] }'
RuleTable = Annotated[Rule, Shape(A_RULE)]
RuleTables = Annotated[Mapping[str, RuleTable], Shape("must be a table of rules")]


class CostRule(Rule):
    """A rule on runs that may cost more than a number of US dollars."""

    above_usd: Annotated[Number, Field(ge=0), Says("must be a number of US dollars")]


class Calls(Rule):
    """The rules on calls that are asked about by themselves: for all of them, and by tool."""

    tools: RuleTables = Field(default_factory=dict)

    @property
    def others(self) -> Iterator[tuple[Path, Rule]]:
        """The rules besides the general one, whose quorum holds for them, by place."""
        yield from ((("tools", name), rule) for name, rule in self.tools.items())

    @model_validator(mode="after")
    def _check_quorum(self) -> "Calls":
        for place, rule in self.others:
            rule.check_people(self.quorum, *place)
        return self

    @property
    def approvers(self) -> Approvers:
        """The rules as a value."""
        return Approvers(self.rule, {tool: rule.rule for tool, rule in self.tools.items()})


class ApproversTable(Calls):
    """All rules."""

    effects: Annotated[Mapping[Effect, RuleTable], Shape("must be a table of rules")] = Field(default_factory=dict)
    cost: Annotated[tuple[Annotated[CostRule, Shape(A_RULE)], ...], BeforeValidator(_rules)] = ()
    calls: Annotated[Calls, Shape(A_RULE)] = Calls()

    @property
    def others(self) -> Iterator[tuple[Path, Rule]]:
        """The rules besides the general one, whose quorum holds for them, by place."""
        yield from super().others
        yield from ((("effects", effect), rule) for effect, rule in self.effects.items())
        yield from ((("cost",), rule) for rule in self.cost)

    @property
    def approvers(self) -> Approvers:
        """The rules as a value."""
        return replace(
            super().approvers,
            effects={effect: rule.rule for effect, rule in self.effects.items()},
            costs=tuple((rule.above_usd, rule.rule) for rule in self.cost),
            calls=calls if (calls := self.calls.approvers) != NO_APPROVERS else None,
        )
