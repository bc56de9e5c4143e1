"""Reading the table `[approvers]` of a policy.

```toml
[approvers]                          # who decides what no rule below is about
roles = ["ops"]
four_eyes = true                     # these two hold for all rules
quorum = 1

[approvers.tools.send_money]
names = ["ada@example.org"]
roles = ["finance"]
quorum = 2
decide_within = "24h"                # and more on time, see graph/policy/time_limit_file.py

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

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from planner_executor.graph.plan.catalog import Effect
from planner_executor.graph.policy.approvers import NO_APPROVERS, ApproverRule, Approvers
from planner_executor.graph.policy.entry_faults import are_texts, is_finite, unknown_entry
from planner_executor.graph.policy.time_limit_file import ENTRIES, time_limit_faults, time_limit_of
from planner_executor.graph.record.person import same_name

RULE = ("names", "roles", "four_eyes", "quorum", *ENTRIES)
TABLES = ("tools", "effects", "cost", "calls")
MOST = 20
"""The largest quorum."""
NO_SOURCES = ("server", "claimed")
"""Sources that a record writes before a name; in a rule only `os:` is one."""
Path = tuple[str, ...]


def approvers_of(raw: Mapping[str, Any]) -> Approvers:
    """Return the rules of a table without faults."""
    calls = approvers_of(raw["calls"]) if "calls" in raw else NO_APPROVERS
    return Approvers(
        _rule(raw),
        {tool: _rule(rule) for tool, rule in raw.get("tools", {}).items()},
        {effect: _rule(rule) for effect, rule in raw.get("effects", {}).items()},
        tuple((rule["above_usd"], _rule(rule)) for rule in raw.get("cost", ())),
        calls if calls != NO_APPROVERS else None,
    )


def approver_faults(raw: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Yield (path, fault) of the table."""
    least = raw.get("quorum", 1)
    yield from _rule_faults((), raw, (*RULE, *TABLES), least)
    yield from _table_faults(("tools",), raw.get("tools", {}), least)
    yield from _table_faults(("effects",), raw.get("effects", {}), least, get_args(Effect))
    yield from _call_faults(raw.get("calls", {}))
    costs = raw.get("cost", [])
    if not isinstance(costs, list):
        yield ("cost",), "must be a list of rules: [[approvers.cost]]"
        return
    for rule in costs:
        yield from _rule_faults(("cost",), rule, (*RULE, "above_usd"), least)
        above = rule.get("above_usd") if isinstance(rule, Mapping) else None
        if not is_finite(above) or above < 0:
            yield ("cost", "above_usd"), "must be a number of US dollars"


def _call_faults(raw: Any) -> Iterator[tuple[Path, str]]:
    yield from _rule_faults(("calls",), raw, (*RULE, "tools"), 1)
    if isinstance(raw, Mapping):
        yield from _table_faults(("calls", "tools"), raw.get("tools", {}), raw.get("quorum", 1))


def _table_faults(path: Path, rules: Any, least: Any, known: Sequence[str] = ()) -> Iterator[tuple[Path, str]]:
    """Yield the faults of a table of rules by name; `known` are the only names, if there are any."""
    if not isinstance(rules, Mapping):
        yield path, "must be a table of rules"
        return
    for name, rule in rules.items():
        if known and name not in known:
            yield (*path, name), unknown_entry(known, name)
        yield from _rule_faults((*path, name), rule, RULE, least)


def _rule_faults(path: Path, rule: Any, known: tuple[str, ...], least: Any) -> Iterator[tuple[Path, str]]:
    """Yield the faults of a rule; `least` is the quorum that holds for all rules."""
    if not isinstance(rule, Mapping):
        yield path, 'must be a table, such as { roles = ["finance"] }'
        return
    for key, value in rule.items():
        if key not in known:
            yield (*path, key), unknown_entry(known, key)
        elif key in ("names", "roles") and not are_texts(value):
            yield (*path, key), "must be a non-empty list of texts"
        elif key == "four_eyes" and not isinstance(value, bool):
            yield (*path, key), "must be true or false"
        elif key == "quorum" and (type(value) is not int or not 1 <= value <= MOST):
            yield (*path, key), f"must be an integer from 1 to {MOST}"
    yield from time_limit_faults(path, rule)
    if are_texts(names := rule.get("names", ())):
        yield from _name_faults(path, names, [rule.get("quorum", 1), least] if not rule.get("roles") else [])


def _name_faults(path: Path, names: Sequence[str], quorums: Sequence[Any]) -> Iterator[tuple[Path, str]]:
    for name in names:
        source, _, rest = name.partition(":")
        if source in NO_SOURCES and rest:
            yield (*path, "names"), f"has {name!r}; write {rest!r}, as a server or an adapter names the person"
    people = len({*map(same_name, names)})
    if any(type(quorum) is int and people < quorum for quorum in quorums):
        yield (*path, "quorum"), f"takes more people than the {people} named"


def _rule(raw: Mapping[str, Any]) -> ApproverRule:
    names, roles = tuple(raw.get("names", ())), tuple(raw.get("roles", ()))
    return ApproverRule(names, roles, raw.get("four_eyes", False), raw.get("quorum", 1), time_limit_of(raw))
