"""Conditions of `ask_when`: whether the value of an argument is one that a person has to see before the call.

They are written like constraints. A value that a condition cannot judge meets it, so that no spelling of a value keeps
a call from being shown.
"""

from collections.abc import Mapping

from pydantic import JsonValue

from planner_executor.graph.plan.canonical import canonical_json
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.json_values import is_number
from planner_executor.graph.plan.patterns import full_match, is_searchable
from planner_executor.graph.policy.constraints import Conditions, Constraint, is_within, may_be_within
from planner_executor.graph.policy.hosts import host_of, is_below, is_odd_address


def met_condition(conditions: Conditions, tool: ToolSpec, args: Mapping[str, JsonValue]) -> str | None:
    """Return the first condition that a call meets, in words; an omitted argument has the schema's default."""
    values = {**tool.defaults(name for name in conditions if name not in args), **args}
    met = (name for name, condition in conditions.items() if name in values and may_meet(condition, values[name]))
    return next((f"{name} {in_words(conditions[name])}" for name in met), None)


def may_meet(condition: Constraint, value: JsonValue) -> bool:
    """Whether a value, or an item of a list, meets every bound that is set, or cannot be judged.

    >>> may_meet(Constraint(above=100), 100), may_meet(Constraint(above=100), [5, 101])
    (False, True)
    >>> may_meet(Constraint(above=100), "a hundred")
    True
    """
    if isinstance(value, list):
        # Of a list any item is enough: one that meets the condition has the whole call asked about.
        return any(may_meet(condition, item) for item in value)
    return all(
        (
            not condition.domains or _may_be_at(value, condition.domains),
            not condition.within or any(_may_be_within(value, folder) for folder in condition.within),
            # What cannot be judged counts as met: this decides what a person is asked, so doubt asks.
            not is_number(value) or condition.number_fault(value) is None,
            not condition.one_of or canonical_json(value) in map(canonical_json, condition.one_of),
            condition.pattern is None or _may_match(value, condition.pattern),
        )
    )


def in_words(condition: Constraint) -> str:
    """Return a condition in words, to be read after the argument's name.

    >>> in_words(Constraint(above=100, pattern="[0-9]+"))
    'is above 100 and matches [0-9]+'
    """
    words = [f"is {word}" for word in condition.bounds_in_words]
    words += [f"is at {' or '.join(condition.domains)}"] if condition.domains else []
    words += [f"is within {' or '.join(condition.within)}"] if condition.within else []
    words += [f"is one of {', '.join(map(str, condition.one_of))}"] if condition.one_of else []
    words += [f"matches {condition.pattern}"] if condition.pattern is not None else []
    return " and ".join(words)


def _may_match(value: JsonValue, pattern: str) -> bool:
    return not isinstance(value, str) or not is_searchable(value) or full_match(pattern, value)


def _may_be_at(value: JsonValue, domains: tuple[str, ...]) -> bool:
    host = host_of(value)
    return not host or is_odd_address(host) or any(is_below(host, domain) for domain in domains)


def _may_be_within(value: JsonValue, folder: str) -> bool:
    """Whether a path is in a folder, or cannot be compared with it."""
    if not isinstance(value, str) or not is_within(value, "/" if value.startswith("/") else "."):
        return True
    return may_be_within(value, folder) or value.startswith("/") != folder.startswith("/")
