"""How long the people of a rule have to decide, and what happens before and after."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from planner_executor.graph.policy.duration import in_words, seconds_in, written
from planner_executor.graph.record.deadline import OnExpire

AFTERWARDS: Mapping[OnExpire, str] = {"reject": "it counts as rejected", "end": "the run ends as rejected"}
"""What follows if nobody decides, in words."""


class TimeLimit(NamedTuple):
    """The time to decide, in seconds.

    People are reminded `remind_before_s` before its end. Once `escalate_after_s` have passed, the people of the names
    and roles `to_names` and `to_roles` may decide too.
    """

    within_s: float
    remind_before_s: tuple[float, ...] = ()
    escalate_after_s: float | None = None
    to_names: tuple[str, ...] = ()
    to_roles: tuple[str, ...] = ()
    on_expire: OnExpire = "reject"

    @classmethod
    def of(cls, rule: Mapping[str, Any]) -> "TimeLimit | None":
        """Return the time limit in the entries of a rule, None if it has none; a redaction may have replaced texts."""
        if "decide_within" not in rule:
            return None
        before = [seconds_in(text) or 0.0 for text in rule.get("remind_before", ())]
        to: Mapping[str, Any] = rule.get("escalate_to", {})
        return cls(
            within_s=seconds_in(rule["decide_within"]) or 0.0,
            remind_before_s=tuple(sorted(set(before), reverse=True)),
            escalate_after_s=seconds_in(rule.get("escalate_after")),
            to_names=tuple(to.get("names", ())),
            to_roles=tuple(to.get("roles", ())),
            on_expire=rule.get("on_expire", "reject"),
        )

    def is_escalated(self, escalated_s: float) -> bool:
        """Whether others may decide too, if escalation took place so many seconds after the request."""
        return self.escalate_after_s is not None and self.escalate_after_s <= escalated_s

    def __str__(self) -> str:
        """Return what happens when, in words.

        >>> str(TimeLimit(86400.0, (3600.0,), 43200.0, to_roles=("lead",)))
        'within 1 day, or it counts as rejected; a reminder 1 hour before; after 12 hours the role lead decides too'
        """
        parts = [f"within {in_words(self.within_s)}, or {AFTERWARDS[self.on_expire]}"]
        if self.remind_before_s:
            parts.append(f"a reminder {' and '.join(map(in_words, self.remind_before_s))} before")
        return "; ".join([*parts, *([self.escalation] if self.escalation else [])])

    @property
    def escalation(self) -> str:
        """When others may decide too, in words; empty if nobody may."""
        after = self.escalate_after_s
        return f"after {in_words(after)} {self.others} decides too" if after is not None else ""

    @property
    def others(self) -> str:
        """The people who may decide later, in words."""
        return " or ".join([*self.to_names, *(f"the role {role}" for role in self.to_roles)])

    def to_json(self) -> dict[str, Any]:
        """Return it as entries of a policy's rule."""
        found: dict[str, Any] = {"decide_within": written(self.within_s)}
        if self.remind_before_s:
            found["remind_before"] = list(map(written, self.remind_before_s))
        if self.escalate_after_s is not None:
            people = {"names": list(self.to_names), "roles": list(self.to_roles)}
            found["escalate_after"] = written(self.escalate_after_s)
            found["escalate_to"] = {name: value for name, value in people.items() if value}
        return {**found, **({"on_expire": self.on_expire} if self.on_expire != "reject" else {})}
