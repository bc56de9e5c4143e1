"""The calls that a standing approval covers: within its constraints, of the same tool, under the same policy.

Decision 74 says why a changed tool or policy ends it.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic import JsonValue

from graph.plan.canonical import canonical_json
from graph.plan.catalog import ToolSpec
from graph.policy.constraint_table import constraint_table_faults, read_constraints
from graph.policy.constraints import Constraint
from graph.policy.policy import Policy
from graph.record.standing_approval import StandingApproval
from graph.record.trust_label import TrustLabel

FIELDS = ("args", "at_most", "until")
MOST_CALLS = 1_000
"""No standing approval covers more calls."""


def standing_fault(wish: Any, now: float) -> str | None:
    """Return what is wrong with a requested standing approval, None if nothing is: see `FIELDS`.

    Args:
        wish: `{"args": {argument: constraint}, "at_most": 5, "until": "2026-12-01T08:00:00Z"}`; without `until` it
            holds in this run.
        now: The time, in Unix seconds.
    """
    if not isinstance(wish, Mapping):
        return "standing must be an object such as {'at_most': 5}"
    if unknown := sorted(map(str, set(wish) - set(FIELDS))):
        return f"standing has no {', '.join(unknown)}; it has {', '.join(FIELDS)}"
    most = wish.get("at_most")
    if type(most) is not int or not 1 <= most <= MOST_CALLS:
        return f"standing.at_most must be an integer from 1 to {MOST_CALLS}"
    for path, why in constraint_table_faults(("standing", "args"), wish.get("args", {})):
        return f"{'.'.join(map(str, path))} {why}"
    if "until" not in wish:
        return None
    until = time_of(wish["until"])
    if until is None:
        return "standing.until must be a time with its zone, such as 2026-12-01T08:00:00Z"
    return "standing.until has passed" if until <= now else None


def time_of(text: Any) -> float | None:
    """Return an ISO time as Unix seconds, None if it is invalid, has no zone or is outside the years 1 to 9999 of UTC.

    >>> time_of("1970-01-01T01:00:00+01:00"), time_of("1970-01-01T00:00:00")
    (0.0, None)
    """
    try:
        found = datetime.fromisoformat(re.sub("[zZ]$", "+00:00", text))
        return found.astimezone(UTC).timestamp() if found.tzinfo is not None else None
    except (ValueError, TypeError, OverflowError):
        return None


def standing_args(wish: Mapping[str, Any], shown: Mapping[str, JsonValue]) -> dict[str, dict[str, Any]]:
    """Return the constraint of each argument: the one wished for, or the value of the call that was shown."""
    exact = {name: {"one_of": [value]} for name, value in shown.items()}
    return {**exact, **{name: dict(constraint) for name, constraint in wish.get("args", {}).items()}}


def covers(
    approval: StandingApproval,
    tool: ToolSpec,
    args: Mapping[str, JsonValue],
    untrusted: Mapping[str, TrustLabel],
    policy: Policy,
) -> bool:
    """Whether an approval covers a call that the policy allows, as far as tool, policy and arguments go.

    Args:
        approval: The approval.
        tool: The tool as it is now.
        args: The arguments of the call; each needs a constraint, and each constraint an argument or a default.
        untrusted: Argument -> label, for those that a person would have to review.
        policy: The policy as it is now.
    """
    if (approval.tool, approval.fingerprint, approval.policy) != (tool.name, tool.fingerprint, policy.digest):
        return False
    if any(constraint_table_faults(("args",), approval.args)):  # a redaction may have changed a bound
        return False
    constraints = read_constraints(approval.args)
    if any(name not in constraints or not constraints[name].admits(label.sources) for name, label in untrusted.items()):
        return False
    values = {**tool.defaults(constraints), **args}
    is_bound = all(name in constraints and _is_met(constraints[name], value) for name, value in values.items())
    return is_bound and all(name in values or constraint.optional for name, constraint in constraints.items())


def _is_met(constraint: Constraint, value: JsonValue) -> bool:
    """Whether a value meets a constraint, by each item of a list, or by the list itself if that is what was shown."""
    if constraint.fault(value) is None:
        return True
    is_alone = constraint == Constraint(one_of=constraint.one_of)
    return is_alone and canonical_json(value) in map(canonical_json, constraint.one_of)
