"""The form of a standing approval: which further calls, or runs, it lets through, as the wish that the review reads."""

import re
from collections.abc import Mapping
from typing import Any

from planner_executor.graph.errors import InputError
from planner_executor.graph.plan.depth import parse_json_or_text
from planner_executor.graph.policy.standing import Bounds

BOUNDS: Mapping[str, str] = {
    "": "as shown",
    "any": "anything",
    "maximum": "a number up to",
    "minimum": "a number from",
    "one_of": "one of",
    "domains": "at these hosts",
    "within": "in these folders",
    "pattern": "text that matches",
}
"""What an argument of a further call may be, with its words."""
LISTS = ("one_of", "domains", "within")


def standing_wish(fields: Mapping[str, str]) -> dict[str, Any]:
    """Return the wish of a form: `at_most`, `until`, and `bound:<argument>` with `value:<argument>`.

    >>> standing_wish({"at_most": "3", "until": "2026-12-01", "bound:to": "domains", "value:to": "example.org"})
    {'at_most': 3, 'until': '2026-12-01T23:59:59Z', 'args': {'to': {'domains': ['example.org']}}}

    Raises:
        InputError: A bound has no value, or the day is none.
    """
    return {"at_most": parse_json_or_text(fields.get("at_most", "")), **_end(fields), **_bounds(fields, "args")}


def ahead_wish(fields: Mapping[str, str]) -> dict[str, Any]:
    """Return the wish of the form for runs of a playbook, whose parameters are bounded; empty if it is left empty.

    >>> ahead_wish({"at_most": "", "until": "2026-12-01", "bound:to": "any", "bound:n": "", "value:n": ""})
    {'until': '2026-12-01T23:59:59Z', 'params': {'to': {}}}

    Raises:
        InputError: A bound has no value, or the day is none.
    """
    most = {"at_most": parse_json_or_text(text)} if (text := fields.get("at_most", "")) else {}
    return {**most, **_end(fields), **_bounds(fields, "params")}


def _end(fields: Mapping[str, str]) -> dict[str, Any]:
    if day := fields.get("until", ""):
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", day):
            raise InputError("until", f"{day!r} is no day; write for example 2026-12-01")
        return {"until": f"{day}T23:59:59Z"}
    return {}


def _bounds(fields: Mapping[str, str], of: Bounds) -> dict[str, Any]:
    bounds = {name.removeprefix("bound:"): bound for name, bound in fields.items() if name.startswith("bound:")}
    args = {name: _constraint(name, bound, fields.get(f"value:{name}", "")) for name, bound in bounds.items() if bound}
    return {of: args} if args else {}


def _constraint(name: str, bound: str, text: str) -> dict[str, Any]:
    if bound == "any":
        return {}
    # A bound left blank would be none, and the approval wider than whoever gives it thinks.
    if bound not in BOUNDS or not text:
        raise InputError(name, f"say what it may be: {BOUNDS.get(bound, 'a bound')} ...")
    if bound in LISTS:
        parts = [part.strip() for part in text.split(",") if part.strip()]
        # Items of `one_of` may be numbers; domains and folders are always text.
        return {bound: [parse_json_or_text(part) for part in parts] if bound == "one_of" else parts}
    return {bound: text if bound == "pattern" else parse_json_or_text(text)}
