"""Reading how long people have to decide, in a rule of the table `[approvers]`.

```toml
[approvers.tools.send_money]
roles = ["finance"]
decide_within = "24h"
remind_before = ["4h", "1h"]
escalate_after = "12h"
escalate_to = { roles = ["lead"] }
on_expire = "reject"                 # or "end"
```
"""

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from planner_executor.graph.policy.decision_deadline import TimeLimit
from planner_executor.graph.policy.duration import A_DURATION, fits_a_year, seconds_in
from planner_executor.graph.policy.entry_faults import are_texts
from planner_executor.graph.record.deadline import OnExpire

ENTRIES = ("decide_within", "remind_before", "escalate_after", "escalate_to", "on_expire")
PEOPLE = ("names", "roles")
Path = tuple[str, ...]


def time_limit_of(rule: Mapping[str, Any]) -> TimeLimit | None:
    """Return the time limit of a rule without faults, None if it has none of its own."""
    if "decide_within" not in rule:
        return None
    before = [seconds_in(text) or 0.0 for text in rule.get("remind_before", ())]
    to: Mapping[str, Any] = rule.get("escalate_to", {})
    return TimeLimit(
        within_s=seconds_in(rule["decide_within"]) or 0.0,
        remind_before_s=tuple(sorted(set(before), reverse=True)),
        escalate_after_s=seconds_in(rule.get("escalate_after")),
        to_names=tuple(to.get("names", ())),
        to_roles=tuple(to.get("roles", ())),
        on_expire=rule.get("on_expire", "reject"),
    )


def time_limit_faults(path: Path, rule: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Yield (path, fault) of the entries of a rule that are about time."""
    given = [name for name in ENTRIES if name in rule]
    if given and "decide_within" not in rule:
        yield (*path, given[0]), "needs decide_within beside it"
        return
    within = seconds_in(rule.get("decide_within"))
    if given and not fits_a_year(within):
        yield (*path, "decide_within"), A_DURATION
        return
    if "remind_before" in rule and not _are_before(rule["remind_before"], within):
        yield (*path, "remind_before"), 'must be a list of durations shorter than decide_within, such as ["4h", "1h"]'
    if "escalate_after" in rule and not _fits(seconds_in(rule["escalate_after"]), within):
        yield (*path, "escalate_after"), "must be a duration shorter than decide_within"
    if ("escalate_after" in rule) != ("escalate_to" in rule):
        yield (*path, "escalate_after"), "and escalate_to belong together: when others may decide too, and who"
    if "escalate_to" in rule and not _is_people(rule["escalate_to"]):
        yield (*path, "escalate_to"), 'must name people, such as { roles = ["lead"] }'
    if "on_expire" in rule and rule["on_expire"] not in get_args(OnExpire):
        yield (*path, "on_expire"), f"must be one of {', '.join(get_args(OnExpire))}"


def _fits(seconds: float | None, most: float | None) -> bool:
    return seconds is not None and most is not None and seconds < most


def _are_before(given: Any, within: float | None) -> bool:
    return isinstance(given, list) and bool(given) and all(_fits(seconds_in(text), within) for text in given)


def _is_people(given: Any) -> bool:
    if not isinstance(given, Mapping) or not given or set(given) - set(PEOPLE):
        return False
    return all(map(are_texts, given.values()))
