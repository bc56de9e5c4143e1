"""Whether one policy is at least as strict as another."""

import operator
from collections.abc import Iterator, Mapping
from typing import get_args

from planner_executor.graph.plan.canonical import canonical_json
from planner_executor.graph.plan.catalog import Effect, ToolSpec
from planner_executor.graph.policy.approvers import NO_APPROVERS
from planner_executor.graph.policy.constraints import Constraint
from planner_executor.graph.policy.modes import ApprovalMode
from planner_executor.graph.policy.policy import Policy, PolicyVerdict

MODES = get_args(ApprovalMode)[::-1]
VERDICTS: tuple[PolicyVerdict | None, ...] = ("allow", None, "review", "ask", "deny")
"""From the loosest to the strictest; without a verdict the approval mode decides."""
OTHER = ""
"""The name of a tool without a rule of its own."""
WIDER = {"minimum": operator.lt, "maximum": operator.gt, "above": operator.lt, "below": operator.gt}
UNCHANGED = ("domains", "within", "one_of", "pattern")


def looser_points(policy: Policy, than: Policy) -> list[str]:
    """Return the points in which a policy may allow more than another; empty if it is at least as strict.

    Tools need not be known: verdicts are compared for each effect that a tool may have. Constraints that cannot be
    compared count as looser.

    >>> looser_points(Policy(effects={"external": "allow"}), Policy())
    ['a tool with effect external is allow']
    >>> looser_points(Policy(effects={"external": "deny"}), Policy())
    []
    """
    rules = (_modes, _verdicts, _reasons, _conditions, _arguments, _numbers)
    return [point for rule in rules for point in rule(policy, than)]


def _modes(policy: Policy, than: Policy) -> Iterator[str]:
    least = than.approval or "always"
    mode = policy.approval or ("always" if than.approval is None else "never")  # unset: `build_graph` decides
    if MODES.index(mode) < MODES.index(least):
        yield f"approval is {policy.approval or 'not set'}"
    if (policy.new_effects, than.new_effects) == ("ask", "deny"):
        yield "new_effects is ask"
    if (policy.preview_changed, than.preview_changed) == ("go", "ask"):
        yield "preview_changed is go"
    if more := sorted({*policy.leaving_previews} - {*than.leaving_previews}):
        yield f"leaving_previews names {more[0]}"


def _verdicts(policy: Policy, than: Policy) -> Iterator[str]:
    effects: tuple[Effect, ...] = get_args(Effect)
    for effect in effects:
        if _is_looser(policy.effects.get(effect), than.effects.get(effect)):
            yield f"a tool with effect {effect} is {policy.effects.get(effect) or 'not mentioned'}"
    # For each effect, as the tool may declare another one when it is next started.
    for tool in dict.fromkeys((*policy.tools, *than.tools)):
        verdicts = ((_verdict(policy, tool, effect), _verdict(than, tool, effect)) for effect in effects)
        if looser := [ours for ours, theirs in verdicts if _is_looser(ours, theirs)]:
            yield f"{tool} is {looser[0] or 'not mentioned'}"


def _verdict(policy: Policy, tool: str, effect: Effect) -> PolicyVerdict | None:
    return policy.verdict(ToolSpec(tool, "", {}, effect))


def _is_looser(ours: PolicyVerdict | None, theirs: PolicyVerdict | None) -> bool:
    """Whether a verdict may let more pass; under `ask` calls are shown, and plans only as the mode says."""
    return VERDICTS.index(ours) < VERDICTS.index(theirs) or (ours, theirs) == ("ask", "review")


def _reasons(policy: Policy, than: Policy) -> Iterator[str]:
    yield from (f"{tool} needs no reason" for tool in than.tools if than.takes_reason(tool) > policy.takes_reason(tool))


def _conditions(policy: Policy, than: Policy) -> Iterator[str]:
    """Yield the tools whose calls may be shown less often: conditions on the same argument cannot be compared."""
    effects: tuple[Effect, ...] = get_args(Effect)
    for tool in dict.fromkeys((OTHER, *policy.tools, *than.tools)):
        for effect in effects:
            spec = ToolSpec(tool, "", {}, effect)
            theirs = than.conditions(spec)
            # Under these verdicts each call is shown or refused anyway; a looser verdict is a point of its own.
            is_covered = policy.verdict(spec) in ("ask", "deny") or than.verdict(spec) in ("ask", "deny")
            if theirs and not is_covered and not theirs.items() <= policy.conditions(spec).items():
                yield f"{tool or f'a tool with effect {effect}'} is shown under other conditions"


def _arguments(policy: Policy, than: Policy) -> Iterator[str]:
    ours, theirs = _constraints(policy), _constraints(than)
    for place in dict.fromkeys((*ours, *theirs)):
        if _admits_more(ours.get(place, Constraint()), theirs.get(place, Constraint())):
            yield f"{place} admits more values"


def _constraints(policy: Policy) -> Mapping[str, Constraint]:
    return {f"{tool}.{name}": bound for tool, rule in policy.tools.items() for name, bound in rule.args.items()}


def _admits_more(ours: Constraint, theirs: Constraint) -> bool:
    if set(ours.untrusted_from) - set(theirs.untrusted_from):
        return True
    for name, is_wider in WIDER.items():
        bound, other = getattr(theirs, name), getattr(ours, name)
        if bound is not None and (other is None or is_wider(other, bound)):
            return True
    set_there = [name for name in UNCHANGED if getattr(theirs, name)]
    return any(_plain(getattr(ours, name)) != _plain(getattr(theirs, name)) for name in set_there)


def _plain(value: object) -> bytes:
    return canonical_json(list(value) if isinstance(value, tuple) else value)  # type: ignore[arg-type]


def _numbers(policy: Policy, than: Policy) -> Iterator[str]:
    yield from (f"limits.{name} is higher or not set" for name in policy.limits.beyond(than.limits))
    yield from policy.per_day.looser(than.per_day)
    for name, rate in than.rates.items():
        # No rate is no bound, and so looser than any.
        if policy.rates.get(name, rate + 1) > rate:
            yield f"the rate of {name} is higher or not set"
    for name, limit in than.steps.to_json().items():
        if (ours := getattr(policy.steps, name)) is None or ours > limit:
            yield f"steps.{name} is higher or not set"
    if policy.standing_s > than.standing_s:
        yield "standing.longest is higher or not set"
    if than.approvers != NO_APPROVERS and policy.approvers != than.approvers:
        yield "approvers are others"
    yield from (
        f"the price of {name} differs" for name, price in than.prices.items() if policy.prices.get(name) != price
    )
