"""Wishes for arithmetic: there is one way to do it, but its results can be checked."""

import json
import re
from typing import Any

_WHOLE = re.compile(r"^(?:please |use |only |in )*(?:whole numbers?|integers?)(?: only)?[.!]?$", re.I)
_JSON = re.compile(
    r"^answer (?:with|in|as) json(?: only)?(?:, without any other words)?\.?"
    r"(?: it fits this json schema: (?P<schema>.+))?$",
    re.I | re.S,
)

JsonObject = dict[str, Any]


def checked(plan: JsonObject, wish: str) -> JsonObject | None:
    """Return the plan of a calculation with the checks that a wish asks for, or None if it cannot be met."""
    wish = wish.strip()
    if _WHOLE.match(wish):
        return _with_check(plan, {"type": "integer"}, every=True)
    match = _JSON.match(wish)
    if match is None or match["schema"] is None:
        return plan if match else None
    try:
        schema = json.loads(match["schema"])
    except (ValueError, RecursionError):
        return None
    return _with_check(plan, schema, every=False) if isinstance(schema, dict) else None


def _with_check(plan: JsonObject, schema: JsonObject, *, every: bool) -> JsonObject | None:
    """Return the plan with a check of the results, or of the last; a mere number is nothing to check but itself."""
    steps = plan["steps"]
    if not steps:
        return plan if schema == {"type": "integer"} and float(plan["answer"]).is_integer() else None
    of = {step["id"] for step in (steps if every else steps[-1:])}
    check = {"schema": schema}
    return {**plan, "steps": [_added(step, check) if step["id"] in of else step for step in steps]}


def _added(step: JsonObject, check: JsonObject) -> JsonObject:
    return {**step, "checks": [*step.get("checks", ()), check]}
