"""Reading a policy from TOML, or from the same data in Python; unknown or invalid entries are refused by line.

```toml
approval = "side_effects"            # always, side_effects, never

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

[rates]                              # calls per minute, or "5/second", of a tool or a model
web_search = 30

[prices."gpt-5-mini"]                # US dollars per million tokens
input = 0.25
output = 2.0
```
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, get_args

from graph.errors import PolicyError
from graph.plan.attempts import ATTEMPT_FIELDS, AttemptLimits, limit_fault
from graph.plan.catalog import Effect
from graph.plan.json_values import json_faults
from graph.plan.patterns import dotall, pattern_fault
from graph.policy.approvers_file import approver_faults, approvers_of
from graph.policy.constraints import Constraint, is_within
from graph.policy.day_limits import RATE_EXPECTED, day_limit_faults, day_limits_of, rate_of
from graph.policy.hosts import plain_host
from graph.policy.policy import ApprovalMode, Policy, PolicyVerdict, ToolRule
from graph.record.budget import Budget, Price, limits_of_a_run, read_budget

TABLES = ("effects", "tools", "limits", "rates", "prices", "steps", "approvers")
NUMBERS = ("minimum", "maximum", "above", "below")
CONDITIONS = ("domains", "within", *NUMBERS, "one_of", "pattern")
CONSTRAINTS = (*CONDITIONS, "untrusted_from", "optional")
MAX_LINE_LENGTH = 1_000
"""Number of characters of a line that are searched for the name of an entry."""
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
        ask_when={effect: _constraints(rule["ask_when"]) for effect, rule in effects.items() if "ask_when" in rule},
        approvers=approvers_of(raw.get("approvers", {})),
        per_day=day_limits_of(raw.get("limits", {}).get("per_day", {})),
    )


def line_of(text: str, path: Path) -> int | None:
    r"""Return the line (from 1) of an entry in a TOML text, None if it is not found.

    >>> line_of("[tools.a]\nverdict = 'no'", ("tools", "a", "verdict"))
    2
    """
    table: Path = ()
    best: tuple[int, int] | None = None
    for number, line in enumerate((line[:MAX_LINE_LENGTH] for line in text.splitlines()), 1):
        if header := re.match(r"""\s*\[\[?((?:[^\[\]"']|"[^"]*"|'[^']*')+)\]""", line):
            table = _keys(header[1])
            here = table
        elif entry := re.match(r"""\s*((?:[A-Za-z0-9_\-. \t]|"[^"]*"|'[^']*')+?)\s*=""", line):
            here = (*table, *_keys(entry[1]))
        else:
            continue
        if here == path[: len(here)] and (best is None or len(here) > best[0]):
            best = (len(here), number)
    return best[1] if best else None


def _keys(dotted: str) -> Path:
    found = re.findall(r"""\s*(?:"([^"]*)"|'([^']*)'|([^.\s"']+))\s*\.?""", dotted)
    return tuple(one or two or three for one, two, three in found)


def _faults(raw: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Yield (path, fault); only the first is reported."""
    yield from _table_faults(raw)
    for effect, verdict in raw.get("effects", {}).items():
        if effect not in get_args(Effect):
            yield ("effects", effect), _unknown(get_args(Effect), effect)
        elif isinstance(verdict, Mapping):
            yield from _rule_faults(("effects", effect), verdict, ("verdict", "ask_when"))
        elif verdict not in get_args(PolicyVerdict):
            yield ("effects", effect), _not_one_of(verdict, get_args(PolicyVerdict))
    for tool, rule in raw.get("tools", {}).items():
        yield from _rule_faults(("tools", tool), rule)
    for limit, why in _limits(raw)[1]:
        yield ("limits", *limit.split(".", 1)), why
    per_day = raw.get("limits", {}).get("per_day", {})
    yield from ((("limits", "per_day", *path), why) for path, why in day_limit_faults(per_day))
    yield from ((("rates", name), RATE_EXPECTED) for name, rate in raw.get("rates", {}).items() if not rate_of(rate))
    yield from _step_limit_faults(raw.get("steps", {}))
    yield from ((("approvers", *path), why) for path, why in approver_faults(raw.get("approvers", {})))
    for model, price in raw.get("prices", {}).items():
        yield from _price_faults(("prices", model), price)


def _step_limit_faults(limits: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    for name, limit in limits.items():
        if name not in ATTEMPT_FIELDS:
            yield ("steps", name), _unknown(ATTEMPT_FIELDS, name)
        elif fault := limit_fault(name, limit):
            yield ("steps", name), fault


def _table_faults(raw: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    for key, value in raw.items():
        if key != "approval" and key not in TABLES:
            yield (key,), _unknown((*TABLES, "approval"), key)
        elif key == "approval" and value not in get_args(ApprovalMode):
            yield (key,), _not_one_of(value, get_args(ApprovalMode))
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
            yield (*path, key), _unknown(known, key)
        elif key == "verdict" and value not in get_args(PolicyVerdict):
            yield (*path, key), _not_one_of(value, get_args(PolicyVerdict))
        elif key != "verdict":
            yield from constraints_faults((*path, key), value, CONDITIONS if key == "ask_when" else CONSTRAINTS)


def constraints_faults(
    path: Path, constraints: Any, known: tuple[str, ...] = CONSTRAINTS
) -> Iterator[tuple[Path, str]]:
    """Yield (path, fault) of a table of constraints by argument, which may have these entries."""
    if not isinstance(constraints, Mapping):
        yield path, "must be a table of arguments"
        return
    for name, constraint in constraints.items():
        yield from _constraint_faults((*path, name), constraint, known)


def _constraint_faults(path: Path, constraint: Any, known: tuple[str, ...]) -> Iterator[tuple[Path, str]]:
    if not isinstance(constraint, Mapping):
        yield path, f"must be a table with some of {', '.join(known)}"
        return
    if not constraint and known is CONDITIONS:
        yield path, f"is empty; give some of {', '.join(known)}"
    for key, value in constraint.items():
        if why := _constraint_fault(key, value) if key in known else _unknown(known, key):
            yield (*path, key), why


def _constraint_fault(key: str, value: Any) -> str | None:
    """Return the fault of one entry of a constraint, None if there is no fault."""
    if key in ("domains", "within", "untrusted_from"):
        return _list_fault(key, value)
    if key == "one_of":
        return _values_fault(value)
    if key in NUMBERS:
        return None if _is_number(value) else "must be a number"
    if key == "optional":
        return None if isinstance(value, bool) else "must be true or false"
    if not isinstance(value, str):
        return "must be a regular expression, as text"
    fault = pattern_fault(dotall(value))
    return f"cannot be used: {fault}" if fault else None


def _values_fault(values: Any) -> str | None:
    if not isinstance(values, list) or not values:
        return "must be a non-empty list"
    return next((f"has a value that no argument can have: {why}" for _, why in json_faults(values)), None)


def _list_fault(key: str, value: Any) -> str | None:
    if not _is_texts(value):
        return "must be a non-empty list of texts"
    if key == "domains" and (odd := [text for text in value if not plain_host(text)]):
        return f"contains {odd[0]!r}, which is not a plain host; write one such as example.com"
    if key == "within" and (odd := [text for text in value if not is_within(text, text)]):
        return f"contains {odd[0]!r}, which cannot contain a path; write a folder without `..`"
    return None


def _price_faults(path: Path, price: Any) -> Iterator[tuple[Path, str]]:
    if not isinstance(price, Mapping) or set(price) != {"input", "output"}:
        yield path, "must have input and output, in US dollars per million tokens"
        return
    for key, value in price.items():
        if not _is_number(value) or value < 0:
            yield (*path, key), "is not a price; write US dollars per million tokens"


def _rule(rule: Mapping[str, Any]) -> ToolRule:
    return ToolRule(rule.get("verdict"), _constraints(rule.get("args", {})), _constraints(rule.get("ask_when", {})))


def _effect_rule(rule: Any) -> Mapping[str, Any]:
    return rule if isinstance(rule, Mapping) else {"verdict": rule}


def _constraints(given: Mapping[str, Mapping[str, Any]]) -> dict[str, Constraint]:
    return {name: constraint_of(constraint) for name, constraint in given.items()}


def constraint_of(given: Mapping[str, Any]) -> Constraint:
    """Return a constraint of plain data without faults."""
    fields: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in given.items()}
    return Constraint(**fields)


def _limits(raw: Mapping[str, Any]) -> tuple[Budget, list[tuple[str, str]]]:
    """Return the limits of each run, and their faults; those of a day stand in a table of their own."""
    return read_budget(limits_of_a_run(raw))


def _unknown(known: tuple[str, ...], key: str) -> str:
    meant = get_close_matches(str(key)[:100], known, 1)
    return f"is unknown; did you mean {meant[0]}?" if meant else f"is unknown; use one of {', '.join(known)}"


def _not_one_of(value: Any, allowed: tuple[str, ...]) -> str:
    return f"is {value!r}; it must be one of {', '.join(allowed)}"


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) and item for item in value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value and abs(value) < 1e300
