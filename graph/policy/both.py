"""The policy under which two policies hold at once, as far as one policy can say it."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TypeVar, get_args

from planner_executor.graph.plan.catalog import Effect, ToolSpec
from planner_executor.graph.policy.approvers import NO_APPROVERS
from planner_executor.graph.policy.constraints import Conditions, Constraint
from planner_executor.graph.policy.day_limits import DayLimits
from planner_executor.graph.policy.policy import Policy, PolicyVerdict, ToolRule
from planner_executor.graph.policy.strictness import MODES, VERDICTS

EFFECTS: tuple[Effect, ...] = get_args(Effect)
HIGHEST, LOWEST = ("minimum", "above"), ("maximum", "below")
Value = TypeVar("Value")


def both(first: Policy, second: Policy, effects: Mapping[str, Effect]) -> Policy:
    """Return a policy under which what either denies, limits or shows is denied, limited or shown.

    What one policy cannot say, such as two lists of approvers, is left as in `first`: ask `looser_points` whether the
    result is at least as strict as each of the two.

    Args:
        first: A policy.
        second: Another one.
        effects: Tool -> its effect, for the tools that are known.

    >>> both(Policy(effects={"write": "deny"}), Policy(effects={"write": "allow", "read": "review"}), {}).effects
    {'read': 'review', 'write': 'deny'}
    """
    verdicts = {effect: _stricter(first.effects.get(effect), second.effects.get(effect)) for effect in EFFECTS}
    shown = {effect: _either(first.ask_when.get(effect, {}), second.ask_when.get(effect, {})) for effect in EFFECTS}
    modes = [mode for mode in (first.approval, second.approval) if mode is not None]
    general = Policy(
        approval=max(modes, key=MODES.index) if modes else None,
        effects={effect: verdict for effect, verdict in verdicts.items() if verdict is not None},
        limits=first.limits.within(second.limits),
        rates={name: min(rates) for name, rates in _values(first.rates, second.rates).items()},
        prices={**second.prices, **first.prices},
        steps=first.steps.lowest(second.steps),
        ask_when={effect: conditions for effect, conditions in shown.items() if conditions},
        # Two lists of approvers cannot be joined: whoever decides would have to be on both.
        approvers=second.approvers if first.approvers == NO_APPROVERS else first.approvers,
        per_day=_per_day(first.per_day, second.per_day),
        new_effects="deny" if "deny" in (first.new_effects, second.new_effects) else "ask",
        preview_changed="ask" if "ask" in (first.preview_changed, second.preview_changed) else "go",
        leaving_previews=tuple(name for name in first.leaving_previews if name in second.leaving_previews),
        standing_s=min(first.standing_s, second.standing_s),
    )
    # Rules on tools are joined by what each policy says of the whole tool: one may speak of its effect alone.
    tools = (ToolSpec(name, "", {}, effects.get(name, "external")) for name in (*first.tools, *second.tools))
    return replace(general, tools={tool.name: _rule(first, second, general, tool) for tool in tools})


def _rule(first: Policy, second: Policy, general: Policy, tool: ToolSpec) -> ToolRule:
    verdict = _stricter(first.verdict(tool), second.verdict(tool))
    ruled = [policy.tools[tool.name] for policy in (first, second) if tool.name in policy.tools]
    if verdict is None and tool.effect in general.effects:
        verdict = "review"  # the weakest verdict that does not fall back to that of the effect, and allows nothing
    elif verdict == general.effects.get(tool.effect) and (
        verdict == "allow" or not any(rule.verdict for rule in ruled)
    ):
        verdict = None  # said of the effect: it would be too much for a tool of that name with another one
    args = _values(*(rule.args for rule in ruled))
    return ToolRule(
        verdict=verdict,
        args={name: _narrower(*bounds) for name, bounds in args.items()},
        ask_when=_either(first.conditions(tool), second.conditions(tool)),
        reason=any(rule.reason for rule in ruled),
    )


def _stricter(first: PolicyVerdict | None, second: PolicyVerdict | None) -> PolicyVerdict | None:
    return max(first, second, key=VERDICTS.index)


def _either(first: Conditions, second: Conditions) -> Conditions:
    return {**second, **first}


def _values(*tables: Mapping[str, Value]) -> dict[str, list[Value]]:
    """Return name -> its values, for all names in the tables."""
    names = dict.fromkeys(name for table in tables for name in table)
    return {name: [table[name] for table in tables if name in table] for name in names}


def _narrower(*bounds: Constraint) -> Constraint:
    """Return the bounds of all of these; of two patterns or lists only the first."""
    if len(bounds) == 1:  # what nothing else is said of accepts no untrusted value there
        return replace(bounds[0], untrusted_from=())
    found = {each.name: [getattr(one, each.name) for one in bounds] for each in fields(Constraint)}
    given = {name: [value for value in values if value not in (None, ())] for name, values in found.items()}
    joined = {name: values[0] for name, values in given.items() if values}
    joined |= {name: max(given[name]) for name in HIGHEST if given[name]}
    joined |= {name: min(given[name]) for name in LOWEST if given[name]}
    untrusted = [source for source in bounds[0].untrusted_from if all(source in one.untrusted_from for one in bounds)]
    return Constraint(**{**joined, "untrusted_from": tuple(untrusted), "optional": all(found["optional"]) or None})


def _per_day(first: DayLimits, second: DayLimits) -> DayLimits:
    if not (first.is_set and second.is_set):
        return first if first.is_set else second
    together, per_user = first.together.within(second.together), first.per_user.within(second.per_user)
    return DayLimits(together, per_user, first.time_zone)
