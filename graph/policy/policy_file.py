"""Reading a policy from TOML, or from the same data in Python; unknown or invalid entries are refused by line.

```toml
approval = "side_effects"            # always, side_effects, never
new_effects = "deny"                 # ask, deny: what a revision adds after untrusted results were read

[effects]
external = "review"                  # allow, review, ask, deny
write = { ask_when = { path = { within = ["contracts"] } } }

[tools.send_mail]
verdict = "review"
args.to = { domains = ["example.com"], untrusted_from = ["read_contacts"] }
ask_when = { copies = { above = 10 } }

[limits]                             # no budget goes beyond these
tool_calls = 200
cost_usd = 2.5
calls = { send_mail = 5 }

[limits.per_day]                     # nor do all runs of a day, see graph.policy.day_limits
tokens = 5_000_000

[steps]                              # no step is tried longer, or more often
timeout_s = 60
attempts = 3

[standing]                           # approvals of further calls, beyond their run
longest = "30d"                      # 90 days if it is left out

[rates]                              # calls per minute, or "5/second", of a tool or a model
web_search = 30

[prices."gpt-5-mini"]                # US dollars per million tokens
input = 0.25
output = 2.0
```
"""

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from planner_executor.graph.errors import PolicyError
from planner_executor.graph.plan.attempts import ATTEMPT_FIELDS, AttemptLimits, limit_fault
from planner_executor.graph.plan.catalog import Effect
from planner_executor.graph.policy.approvers_file import approver_faults, approvers_of
from planner_executor.graph.policy.constraint_table import (
    CONDITIONS,
    CONSTRAINTS,
    constraint_table_faults,
    read_constraints,
)
from planner_executor.graph.policy.day_limits import RATE_EXPECTED, day_limit_faults, day_limits_of, rate_of
from planner_executor.graph.policy.duration import A_DURATION, fits_a_year, seconds_in
from planner_executor.graph.policy.entry_faults import is_finite, not_one_of, unknown_entry
from planner_executor.graph.policy.policy import ApprovalMode, NewEffectsRule, Policy, PolicyVerdict, ToolRule
from planner_executor.graph.policy.toml_lines import line_of
from planner_executor.graph.record.budget import Budget, Price, limits_of_a_run, read_budget
from planner_executor.graph.record.standing_approval import LONGEST_S

TABLES = ("effects", "tools", "limits", "rates", "prices", "steps", "approvers", "standing")
WORDS: Mapping[str, tuple[str, ...]] = {"approval": get_args(ApprovalMode), "new_effects": get_args(NewEffectsRule)}
"""The entries that are no tables, with their values."""
Path = tuple[str, ...]


def policy_from_toml(text: str, name: str = "policy") -> Policy:
    """Parse a policy in TOML.

    Raises:
        PolicyError: It is invalid; the message names `name` and the line.
    """
    try:
        raw = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise PolicyError(
            name, f"not valid TOML: {'nested too deeply' if isinstance(error, RecursionError) else error}"
        ) from error
    return policy_from(raw, name, text)


def policy_from(raw: Mapping[str, Any], name: str = "policy", text: str = "") -> Policy:
    """Return the policy of plain data; `text` is its source, used to name lines.

    Raises:
        PolicyError: It is invalid.
    """
    for path, why in _faults(raw):
        raise PolicyError(name, f"{'.'.join(map(str, path))} {why}", line_of(text, path))
    effects: Any = {effect: _effect_rule(rule) for effect, rule in raw.get("effects", {}).items()}
    return Policy(
        approval=raw.get("approval"),
        effects={effect: verdict for effect, rule in effects.items() if (verdict := rule.get("verdict"))},
        tools={tool: _rule(rule) for tool, rule in raw.get("tools", {}).items()},
        limits=_limits(raw)[0],
        rates={name: rate_of(rate) or 0.0 for name, rate in raw.get("rates", {}).items()},
        prices={model: Price(**price) for model, price in raw.get("prices", {}).items()},
        steps=AttemptLimits(**raw.get("steps", {})),
        ask_when={effect: read_constraints(rule["ask_when"]) for effect, rule in effects.items() if "ask_when" in rule},
        approvers=approvers_of(raw.get("approvers", {})),
        per_day=day_limits_of(raw.get("limits", {}).get("per_day", {})),
        standing_s=seconds_in(raw.get("standing", {}).get("longest")) or LONGEST_S,
        new_effects=raw.get("new_effects", "ask"),
    )


def _faults(raw: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Yield (path, fault); only the first is reported."""
    yield from _table_faults(raw)
    for effect, verdict in raw.get("effects", {}).items():
        if effect not in get_args(Effect):
            yield ("effects", effect), unknown_entry(get_args(Effect), effect)
        elif isinstance(verdict, Mapping):
            yield from _rule_faults(("effects", effect), verdict, ("verdict", "ask_when"))
        elif verdict not in get_args(PolicyVerdict):
            yield ("effects", effect), not_one_of(get_args(PolicyVerdict), verdict)
    for tool, rule in raw.get("tools", {}).items():
        yield from _rule_faults(("tools", tool), rule)
    for limit, why in _limits(raw)[1]:
        yield ("limits", *limit.split(".", 1)), why
    per_day = raw.get("limits", {}).get("per_day", {})
    yield from ((("limits", "per_day", *path), why) for path, why in day_limit_faults(per_day))
    yield from ((("rates", name), RATE_EXPECTED) for name, rate in raw.get("rates", {}).items() if not rate_of(rate))
    yield from _step_limit_faults(raw.get("steps", {}))
    yield from ((("approvers", *path), why) for path, why in approver_faults(raw.get("approvers", {})))
    yield from _standing_faults(raw.get("standing", {}))
    for model, price in raw.get("prices", {}).items():
        yield from _price_faults(("prices", model), price)


def _step_limit_faults(limits: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    for name, limit in limits.items():
        if name not in ATTEMPT_FIELDS:
            yield ("steps", name), unknown_entry(ATTEMPT_FIELDS, name)
        elif fault := limit_fault(name, limit):
            yield ("steps", name), fault


def _standing_faults(table: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    for name, given in table.items():
        if name != "longest":
            yield ("standing", name), unknown_entry(("longest",), name)
        elif not fits_a_year(seconds_in(given)):
            yield ("standing", name), A_DURATION


def _table_faults(raw: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    for key, value in raw.items():
        if key not in WORDS and key not in TABLES:
            yield (key,), unknown_entry((*TABLES, *WORDS), key)
        elif key in WORDS and value not in WORDS[key]:
            yield (key,), not_one_of(WORDS[key], value)
        elif key in TABLES and not isinstance(value, Mapping):
            yield (key,), "must be a table"


def _rule_faults(
    path: Path, rule: Any, known: tuple[str, ...] = ("verdict", "args", "ask_when")
) -> Iterator[tuple[Path, str]]:
    if not isinstance(rule, Mapping):
        yield path, 'must be a table, such as { verdict = "review" }'
        return
    for key, value in rule.items():
        if key not in known:
            yield (*path, key), unknown_entry(known, key)
        elif key == "verdict" and value not in get_args(PolicyVerdict):
            yield (*path, key), not_one_of(get_args(PolicyVerdict), value)
        elif key != "verdict":
            yield from constraint_table_faults((*path, key), value, CONDITIONS if key == "ask_when" else CONSTRAINTS)


def _price_faults(path: Path, price: Any) -> Iterator[tuple[Path, str]]:
    if not isinstance(price, Mapping) or set(price) != {"input", "output"}:
        yield path, "must have input and output, in US dollars per million tokens"
        return
    for key, value in price.items():
        if not is_finite(value) or value < 0:
            yield (*path, key), "is not a price; write US dollars per million tokens"


def _rule(rule: Mapping[str, Any]) -> ToolRule:
    return ToolRule(
        rule.get("verdict"), read_constraints(rule.get("args", {})), read_constraints(rule.get("ask_when", {}))
    )


def _effect_rule(rule: Any) -> Mapping[str, Any]:
    return rule if isinstance(rule, Mapping) else {"verdict": rule}


def _limits(raw: Mapping[str, Any]) -> tuple[Budget, list[tuple[str, str]]]:
    """Return the limits of each run, and their faults; those of a day stand in a table of their own."""
    return read_budget(limits_of_a_run(raw))
