"""A policy's consequences for the known tools, in sentences: denials, review triggers, and limits."""

from collections.abc import Iterable, Iterator

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.policy.approver_rule import ANYBODY, ApproverRule
from planner_executor.graph.policy.conditions import in_words
from planner_executor.graph.policy.day_limits import rate_cap
from planner_executor.graph.policy.duration import in_words as duration_in_words
from planner_executor.graph.policy.policy import Policy
from planner_executor.graph.record.budget import unit_in_words
from planner_executor.graph.record.trust_label import TrustLabel
from planner_executor.graph.settings.settings import SETTINGS, Settings
from planner_executor.graph.words.name_list import counted, enumerated

PLANS = {
    "always": "every plan, and every revision beyond what was approved",
    "side_effects": "a plan with a step that has an effect, and a revision that changes one or what comes before it",
    "never": "no plan because of its steps' effects",
}
ALWAYS = (
    "a question or a gate of the plan that is due",
    "a limit of the budget that is reached",
    "a call that may have had its effect, before it is made again",
    "a plan that makes no progress: the same failure, plan or revision again",
)
NEW_EFFECTS = "a call with an effect that a model adds to an approved plan after it has read untrusted results"
STRANGER = TrustLabel("untrusted", ("nobody that the policy knows",))


def rule_sections(settings: Settings, terms: ExecutionTerms) -> list[tuple[str, list[str]]]:
    """Return the rules in force as lines under headings."""
    counts = {name: told.counts for name, told in SETTINGS.items() if told.counts}
    bounds = [f"{counted(getattr(settings, name), one)} {words} ({name})" for name, (one, words) in counts.items()]
    return [
        ("needs a person", list(triggers(terms))),
        ("denied, even if approved", list(denials(terms)) or ["nothing"]),
        ("decides", [*(list(deciders(terms.policy)) or ["anybody who can answer"]), _ahead(terms.policy)]),
        ("stops or delays a run", [*stops(terms.policy), *bounds]),
    ]


def denials(terms: ExecutionTerms) -> Iterator[str]:
    """Yield the calls that no approval allows."""
    for tool in terms.tools.values():
        if terms.policy.verdict(tool) == "deny":
            yield f"{tool.name} ({tool.effect})"
            continue
        rule = terms.policy.tools.get(tool.name)
        for name, constraint in (rule.args if rule else {}).items():
            if bounds := in_words(constraint):
                yield f"{tool.name} unless {name} {bounds}"
    if terms.policy.new_effects == "deny":
        yield NEW_EFFECTS


def triggers(terms: ExecutionTerms) -> Iterator[str]:
    """Yield the conditions that need a person."""
    tools = [tool for tool in terms.tools.values() if terms.policy.verdict(tool) != "deny"]
    yield PLANS[terms.mode]
    if reviewed := [tool for tool in tools if terms.policy.verdict(tool) == "review"]:
        yield f"a plan that uses what the policy has reviewed: {_named(reviewed)}"
    watched = [tool for tool in tools if terms.policy.watches(tool) and tool not in reviewed]
    # In the other modes the first sentence has said it: every plan is shown, or none for its effects.
    if terms.mode == "side_effects" and watched:
        yield f"a plan that uses what has an effect: {_named(watched)}"
    if shown := [tool for tool in tools if terms.policy.verdict(tool) == "ask"]:
        yield f"each call of what the policy asks about: {_named(shown)}"
    for tool in tools:
        for argument, condition in terms.policy.conditions(tool).items():
            yield f"a call of {tool.name} if {argument} {in_words(condition)}"
    if terms.mode != "never":
        yield from (f"calls of {line}" for tool in tools for line in _untrusted(tool, terms.policy))
    if terms.mode != "never" and terms.policy.preview_changed == "ask":
        yield "a call whose preview is another one than people saw"
    yield from ALWAYS
    if terms.policy.new_effects == "ask":
        yield f"{NEW_EFFECTS}, by itself, whenever the plan is shown"


STEP_LIMITS = {
    "timeout_s": "{:g} s for a call, or for all turns of a model in a step",
    "backoff_s": "{:g} s of wait before the second attempt of a call",
}


def deciders(policy: Policy) -> Iterator[str]:
    """Yield who decides, rule by rule."""
    approvers = policy.approvers
    # Without a rule of its own everybody decides, which the heading says already; only what differs is told.
    if approvers.rule != ANYBODY:
        yield f"{_rule(approvers.rule)} (four eyes, quorum and time hold for all)"
    yield from (f"calls and plans with {name}: {_rule(rule)}" for name, rule in approvers.tools.items())
    yield from (f"calls and plans with effect {effect}: {_rule(rule)}" for effect, rule in approvers.effects.items())
    if approvers.calls is not None and approvers.calls.rule != ANYBODY:
        yield f"calls that are shown by themselves: {_rule(approvers.calls.rule)}"
    calls = approvers.calls.tools if approvers.calls is not None else {}
    yield from (f"calls of {name} that are shown by themselves: {_rule(rule)}" for name, rule in calls.items())
    yield from (f"runs that may cost more than {above:g} USD: {_rule(rule)}" for above, rule in approvers.costs)


def _rule(rule: ApproverRule) -> str:
    people = "anybody who can answer" if rule.people() == ANYBODY else str(rule)
    return f"{people}, {rule.time}" if rule.time is not None else people


def _ahead(policy: Policy) -> str:
    return f"calls of later runs, approved ahead: for {duration_in_words(policy.standing_s)} at most"


def stops(policy: Policy) -> Iterator[str]:
    """Yield the policy's hard limits and rates."""
    limits = policy.limits
    yield from (f"{unit_in_words(name, limits.of(name) or 0)} in a run" for name in limits.names)
    yield from (_step_limit(name, limit) for name, limit in policy.steps.to_json().items())
    yield from (f"{cap}, over all runs" for cap in policy.per_day.all_caps())
    if policy.per_day.is_set:
        yield f"a run over a limit of the day pauses until midnight ({policy.per_day.time_zone})"
    yield from (f"{rate_cap(name, rate)}, over all runs" for name, rate in policy.rates.items())


def _step_limit(name: str, limit: float) -> str:
    return f"{counted(int(limit), 'attempt')} of a call" if name == "attempts" else STEP_LIMITS[name].format(limit)


def _named(tools: Iterable[ToolSpec]) -> str:
    return ", ".join(f"{tool.name} ({tool.effect})" for tool in tools)


def _untrusted(tool: ToolSpec, policy: Policy) -> Iterator[str]:
    """Yield the arguments of a tool that may not contain untrusted values without review."""
    # The policy itself is asked what it would review from somebody whom it does not know.
    watched = policy.arguments_to_review(tool, dict.fromkeys(tool.parameters, STRANGER))
    if not watched:
        return
    rule = policy.tools.get(tool.name)
    let_in = {name: constraint.untrusted_from for name, constraint in (rule.args if rule else {}).items()}
    shown = [f"{name} (but from {', '.join(let_in[name])})" if let_in.get(name) else name for name in watched]
    yield f"{tool.name} whose {enumerated(shown, 'or')} comes from untrusted data"
