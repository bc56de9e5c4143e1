"""The calls that a standing approval covers: within its constraints, of the same tool, under the same policy.

Decision 74 says why a changed tool or policy ends it.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import JsonValue

from planner_executor.graph.plan.canonical import canonical_json
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.policy.approver_rule import ApproverRule, givers_fault, missing
from planner_executor.graph.policy.constraints import Constraint, Constraints
from planner_executor.graph.policy.duration import in_words
from planner_executor.graph.policy.policy import Policy
from planner_executor.graph.record.person import Approver
from planner_executor.graph.record.standing_approval import LONGEST_S, StandingApproval
from planner_executor.graph.record.trust_label import TrustLabel
from planner_executor.graph.words.tables import read

MOST_CALLS = 1_000
"""No standing approval covers more calls, or runs of a playbook."""
Bounds = Literal["args", "params"]
"""What is bounded: the arguments of calls, or the parameters of a playbook."""


def standing_fault(wish: Any, now: float, longest_s: float = LONGEST_S, *, bounds: Bounds = "args") -> str | None:
    """Return what is wrong with a requested standing approval, None if nothing is.

    Args:
        wish: `{"args": {argument: constraint}, "at_most": 5, "until": "2026-12-01T08:00:00Z"}`; without `until` it
            holds in this run. That of a playbook has `params` for `args`, and needs one of the two others.
        now: The time, in Unix seconds.
        longest_s: How long one may hold beyond its run.
        bounds: What it bounds.
    """
    fields = (bounds, "at_most", "until")
    if not isinstance(wish, Mapping):
        return "standing must be an object such as {'at_most': 5}"
    if unknown := sorted(map(str, set(wish) - set(fields))):
        return f"standing has no {', '.join(unknown)}; it has {', '.join(fields)}"
    # A playbook may be approved by time alone, a call never without a number.
    most = wish.get("at_most", MOST_CALLS if bounds == "params" and "until" in wish else None)
    # By its very type: `True` is an integer in Python, and would count as one call.
    if type(most) is not int or not 1 <= most <= MOST_CALLS:
        return f"standing.at_most must be an integer from 1 to {MOST_CALLS}"
    # The first fault alone: a person corrects one at a time.
    for path, why in read(Constraints, wish.get(bounds, {}))[1]:
        return f"{'.'.join(('standing', bounds, *path))} {why}"
    if "until" not in wish:
        return None
    until = time_of(wish["until"])
    if until is None:
        return "standing.until must be a time with its zone, such as 2026-12-01T08:00:00Z"
    if until > now + longest_s:
        last = datetime.fromtimestamp(now + longest_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return f"standing.until may be {in_words(longest_s)} from now at most: {last}"
    # Compared last, when it is known to be a time and within bounds.
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
    # What the wish does not speak of stays as it was shown.
    exact = {name: {"one_of": [value]} for name, value in shown.items()}
    return {**exact, **{name: dict(constraint) for name, constraint in wish.get("args", {}).items()}}


def wide_fault(rules: Sequence[ApproverRule], givers: Sequence[Approver], askers: Sequence[str]) -> str | None:
    """Return why people may not approve calls of other runs, or such runs, ahead; None if they may.

    Args:
        rules: The rules on the call in a run, without those to whom a request is escalated.
        givers: All whose approvals of the call that was shown counted.
        askers: The labels of those who asked for it.
    """
    if unknown := next((giver for giver in givers if not giver.is_verified), None):
        known = f"{unknown} is only claimed" if unknown.source == "claimed" else "it is not known who answers"
        return f"it is for runs of a verified person, and {known}"
    if why := missing(rules, givers, askers):
        return f"it is for other runs too, and takes {why}"
    return None


def consent_fault(approval: StandingApproval, rules: Sequence[ApproverRule], askers: Sequence[str]) -> str | None:
    """Return why those who gave an approval do not consent to a call in a run, None if they do: nobody does for others.

    Args:
        approval: The approval.
        rules: The rules on the call, in the run as it is now.
        askers: The labels of those who asked for the call.
    """
    if approval.run is None and (approval.of_givers or not rules):
        givers = {giver.identity for giver in approval.givers if giver.is_verified}
        is_own = bool(askers) and all(Approver.of_label(label).identity in givers for label in askers)
        return None if is_own else "it covers runs that those who gave it ask for"
    if approval.roles is None:  # they met the rules when they gave it; who asks may have changed
        return givers_fault(rules, approval.given_by, askers)
    return missing(rules, approval.givers, askers)


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
    if approval.playbook is not None or lasts_too_long(approval, policy.standing_s) or not is_whole(approval):
        return False
    constraints, _ = read(Constraints, approval.args)
    if any(name not in constraints or not constraints[name].admits(label.sources) for name, label in untrusted.items()):
        return False
    return admits_all(approval, {**tool.defaults(constraints), **args})


def is_whole(approval: StandingApproval) -> bool:
    """Whether all bounds can be read; a redaction may have changed one."""
    return not read(Constraints, approval.args)[1]


def admits_all(approval: StandingApproval, values: Mapping[str, JsonValue]) -> bool:
    """Whether values are within the bounds of an approval, which are whole: each needs one, and each bound a value."""
    constraints, _ = read(Constraints, approval.args)
    is_bound = all(name in constraints and _is_met(constraints[name], value) for name, value in values.items())
    return is_bound and all(name in values or constraint.optional for name, constraint in constraints.items())


def lasts_too_long(approval: StandingApproval, longest_s: float) -> bool:
    """Whether an approval has a later end than it could be given; a migration has shortened those of before."""
    if approval.run is not None or approval.roles is None:
        return False
    return approval.until is None or approval.until > approval.given_at + longest_s


def _is_met(constraint: Constraint, value: JsonValue) -> bool:
    """Whether a value meets a constraint, by each item of a list, or by the list itself if that is what was shown."""
    if constraint.fault(value) is None:
        return True
    # Without a wish, the bound is the value that was shown, which may be a list as a whole.
    is_alone = constraint == Constraint(one_of=constraint.one_of)
    return is_alone and canonical_json(value) in map(canonical_json, constraint.one_of)
