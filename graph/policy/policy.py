"""Policy: rules that allow calls, require a person's approval, or deny them regardless of approval."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from pydantic import JsonValue

from planner_executor.graph.plan.attempts import NO_LIMITS, AttemptLimits
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.catalog import Effect, ToolSpec
from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.approvers import NO_APPROVERS, Approvers
from planner_executor.graph.policy.conditions import met_condition
from planner_executor.graph.policy.constraints import (
    Conditions,
    Constraint,
    Constraints,
    constraint_faults,
    default_faults,
)
from planner_executor.graph.policy.day_limits import NO_DAY_LIMITS, DayLimits
from planner_executor.graph.policy.duration import written
from planner_executor.graph.policy.modes import ApprovalMode
from planner_executor.graph.record.budget import NO_BUDGET, Budget, Price
from planner_executor.graph.record.standing_approval import LONGEST_S
from planner_executor.graph.record.trust_label import TrustLabel
from planner_executor.graph.words.tables import YesNo

PolicyVerdict = Literal["allow", "review", "ask", "deny"]
NewEffectsRule = Literal["ask", "deny"]
PreviewChangedRule = Literal["ask", "go"]


@dataclass(frozen=True)
class ToolRule:
    """The rule of one tool; without a verdict that of its effect applies, or else the approval mode.

    A call is shown if an argument meets a condition of `ask_when`. With `reason` whoever approves has to say why.
    """

    verdict: PolicyVerdict | None = None
    args: Constraints = field(default_factory=dict)
    ask_when: Conditions = field(default_factory=dict)
    reason: YesNo = False

    def to_json(self) -> dict[str, Any]:
        """Return the rule as JSON, unset fields left out."""
        bounds = {"args": _as_json(self.args), "ask_when": _as_json(self.ask_when)}
        found: dict[str, Any] = {"verdict": self.verdict, **bounds, "reason": self.reason}
        return {name: value for name, value in found.items() if value}


@dataclass(frozen=True)
class Policy:
    """Rules per effect and tool, the approval mode, and hard limits of every budget.

    `ask_when` are conditions per effect, for tools whose rules have neither a verdict nor conditions. `rates` bounds
    calls per minute, by name of a tool or model, and `per_day` what is spent in a day, both over all runs of a
    database; `prices` are those of a model's tokens. `steps` limits how long and how often a step is tried. `approvers`
    are the people whose decisions count, and `standing_s` is how long a standing approval may hold beyond its run.
    `new_effects` says whether a call that a revision adds after untrusted results were read is decided by itself or
    denied. `preview_changed` says whether a person sees a call whose preview differs from the one that was shown, and
    `leaving_previews` names the tools whose previews may leave the machine.
    """

    approval: ApprovalMode | None = None
    effects: Mapping[Effect, PolicyVerdict] = field(default_factory=dict)
    tools: Mapping[str, ToolRule] = field(default_factory=dict)
    limits: Budget = NO_BUDGET
    rates: Mapping[str, float] = field(default_factory=dict)
    prices: Mapping[str, Price] = field(default_factory=dict)
    steps: AttemptLimits = NO_LIMITS
    ask_when: Mapping[Effect, Conditions] = field(default_factory=dict)
    approvers: Approvers = NO_APPROVERS
    per_day: DayLimits = NO_DAY_LIMITS
    standing_s: float = LONGEST_S
    new_effects: NewEffectsRule = "ask"
    preview_changed: PreviewChangedRule = "ask"
    leaving_previews: tuple[str, ...] = ()

    @cached_property
    def digest(self) -> str:
        """Digest of the whole policy, which an approval covers."""
        return digest(self.to_json())

    def verdict(self, tool: ToolSpec) -> PolicyVerdict | None:
        """Return the verdict on a tool, None if there is no rule for it."""
        rule = self.tools.get(tool.name)
        found = (rule.verdict if rule else None) or self.effects.get(tool.effect)
        return "review" if found in (None, "allow") and self.takes_reason(tool.name) else found

    def takes_reason(self, tool: str) -> bool:
        """Whether an approval that lets this tool be called needs a reason; the plan is then shown in any mode."""
        return tool in self.tools and self.tools[tool].reason

    def asks(self, tool: ToolSpec, args: Mapping[str, JsonValue]) -> str | None:
        """Return why a person has to see a call before it is made, whatever the mode is; None if nobody has to."""
        if self.verdict(tool) == "ask":
            return f"the policy asks about every call of {tool.name}"
        conditions = self.conditions(tool)
        met = met_condition(conditions, tool, args) if conditions else None
        return f"the policy asks if {met}" if met else None

    def conditions(self, tool: ToolSpec) -> Conditions:
        """Return the conditions under which a call of a tool is shown: its own, or those of its effect."""
        rule = self.tools.get(tool.name)
        if rule is not None and (rule.verdict or rule.ask_when):
            return rule.ask_when
        return self.ask_when.get(tool.effect, NO_CONDITIONS)

    def faults(
        self, tool: ToolSpec, args: Mapping[str, JsonValue], given: Collection[str] | None = None
    ) -> list[tuple[str, str]]:
        """Return (field, reason) for each rule that forbids a call, approved or not.

        Args:
            tool: The tool to call.
            args: Its arguments, as far as they are known.
            given: Names of the arguments that are or may still be given; the others have defaults. Default: `args`.
        """
        if self.verdict(tool) == "deny":
            return [("tool", f"the policy denies {tool.name}")]
        rules = self.tools[tool.name].args if tool.name in self.tools else {}
        there = args if given is None else given
        left_out = [name for name, rule in rules.items() if rule.optional and name in args and args[name] is None]
        # Null stands for leaving out only where the tool itself has it as the default.
        left_out = [name for name, default in tool.defaults(left_out).items() if default is None]
        defaults = tool.defaults(name for name in rules if name not in there)
        given_values = {name: value for name, value in args.items() if name not in left_out}
        found = [*constraint_faults(rules, given_values), *default_faults(rules, defaults)]
        return [(f"args.{name}", f"the policy forbids this value to {tool.name}: it {why}") for name, why in found]

    def issues(self, plan: Plan, tools: Mapping[str, ToolSpec]) -> list[Issue]:
        """Return the issues that forbid a plan: denied tools, and literals out of bounds."""
        found = []
        for step in plan.steps:
            literals = step.fixed_args()
            for name in step.tool_names:
                fitting = {arg: value for arg, value in literals.items() if step.tool or tools[name].takes(arg)}
                given = step.args if step.tool else tools[name].parameters  # a model may give the others later
                found += [
                    Issue(step.id, field, why, by_policy=True)
                    for field, why in self.faults(tools[name], fitting, given)
                ]
        return found

    def watches(self, tool: ToolSpec) -> bool:
        """Whether a person has to approve calls of a tool, unless the mode is `never`."""
        verdict = self.verdict(tool)
        return verdict == "review" or (tool.acts and verdict != "allow")

    def needs_person(self, plan: Plan, tools: Mapping[str, ToolSpec], mode: ApprovalMode) -> bool:
        """Whether a person has to approve the plan before it runs, because of the mode or of a tool."""
        named = {name: tools[name] for step in plan.steps for name in step.tool_names}.values()
        if mode == "always" or any(self.verdict(tool) == "review" for tool in named):
            return True
        return mode == "side_effects" and any(map(self.watches, named))

    def admits(self, tool: str, argument: str, sources: tuple[str, ...]) -> bool:
        """Whether an argument accepts untrusted values from these sources without review."""
        rule = self.tools.get(tool)
        return rule is not None and argument in rule.args and rule.args[argument].admits(sources)

    def arguments_to_review(self, tool: ToolSpec, labels: Mapping[str, TrustLabel]) -> dict[str, TrustLabel]:
        """Return the arguments of a call that a person has to review: untrusted ones of a call with an effect.

        Args:
            tool: The tool to call.
            labels: Argument -> trust label of its value.
        """
        return {
            name: label
            for name, label in labels.items()
            if tool.acts
            and label.untrusted
            and name not in tool.free_args
            and not self.admits(tool.name, name, label.sources)
        }

    def to_json(self) -> dict[str, Any]:
        """Return the policy as JSON, unset fields left out; `policy_from` reads it."""
        found = {
            "approval": self.approval,
            "effects": self._effects_json(),
            "tools": {name: rule.to_json() for name, rule in self.tools.items()},
            "limits": {**self.limits.to_json(), **({"per_day": self.per_day.to_json()} if self.per_day.is_set else {})},
            "rates": dict(self.rates),
            "prices": {name: price.to_json() for name, price in self.prices.items()},
            "steps": self.steps.to_json(),
            "approvers": self.approvers.to_json(),
            "standing": {"longest": written(self.standing_s)} if self.standing_s != LONGEST_S else {},
            "new_effects": self.new_effects if self.new_effects != "ask" else None,
            "preview_changed": self.preview_changed if self.preview_changed != "ask" else None,
            "leaving_previews": list(self.leaving_previews),
        }
        return {name: value for name, value in found.items() if value}

    def _effects_json(self) -> dict[str, Any]:
        verdicts: dict[str, Any] = {str(effect): verdict for effect, verdict in self.effects.items()}
        for effect, conditions in self.ask_when.items():
            own = {"verdict": verdicts[effect]} if effect in verdicts else {}
            verdicts[effect] = {**own, "ask_when": _as_json(conditions)}
        return verdicts


def _as_json(constraints: Mapping[str, Constraint]) -> dict[str, Any]:
    return {name: constraint.to_json() for name, constraint in constraints.items()}


NO_CONDITIONS: Conditions = {}
NO_POLICY = Policy()
