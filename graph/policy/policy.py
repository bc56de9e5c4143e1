"""Policy: what is allowed, what needs a person, and what is denied whatever anybody says."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from pydantic import JsonValue

from graph.plan.canonical import digest
from graph.plan.catalog import Effect, ToolSpec
from graph.plan.issues import Issue
from graph.plan.schema import Plan
from graph.policy.constraints import Constraint, faults_of, faults_of_defaults
from graph.record.budget import NO_BUDGET, Budget, Price
from graph.record.trust_label import TrustLabel

ApprovalMode = Literal["always", "side_effects", "never"]
PolicyVerdict = Literal["allow", "review", "deny"]


@dataclass(frozen=True)
class ToolRule:
    """What holds for one tool; without a verdict the one of its effect holds, or else the approval mode decides."""

    verdict: PolicyVerdict | None = None
    args: Mapping[str, Constraint] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return what is set."""
        args = {name: constraint.to_json() for name, constraint in self.args.items()}
        return {**({"verdict": self.verdict} if self.verdict else {}), **({"args": args} if args else {})}


@dataclass(frozen=True)
class Policy:
    """Rules per effect and tool, the approval mode, and hard limits that no budget is raised beyond.

    `rates` bounds calls per minute, by the name of a tool or of a model; `prices` says what a model's tokens cost.
    """

    approval: ApprovalMode | None = None
    effects: Mapping[Effect, PolicyVerdict] = field(default_factory=dict)
    tools: Mapping[str, ToolRule] = field(default_factory=dict)
    limits: Budget = NO_BUDGET
    rates: Mapping[str, float] = field(default_factory=dict)
    prices: Mapping[str, Price] = field(default_factory=dict)

    @cached_property
    def digest(self) -> str:
        """Digest of all that it says, which an approval covers."""
        return digest(self.to_json())

    def verdict(self, tool: ToolSpec) -> PolicyVerdict | None:
        """Return what is said of a tool, None where nothing is."""
        rule = self.tools.get(tool.name)
        return (rule.verdict if rule else None) or self.effects.get(tool.effect)

    def faults(
        self, tool: ToolSpec, args: Mapping[str, JsonValue], given: Collection[str] | None = None
    ) -> list[tuple[str, str]]:
        """Return (field, why) for what forbids a call with these arguments, whoever asks for it.

        Args:
            tool: What is to be called.
            args: Its arguments, as far as they are known.
            given: The names of those that are there, or may yet be; for any other its default holds. `args` by default.
        """
        if self.verdict(tool) == "deny":
            return [("tool", f"the policy denies {tool.name}")]
        rules = self.tools[tool.name].args if tool.name in self.tools else {}
        there = args if given is None else given
        defaults = tool.defaults(name for name in rules if name not in there)
        found = [*faults_of(rules, args), *faults_of_defaults(rules, defaults)]
        return [(f"args.{name}", f"the policy does not allow {tool.name} this value: it {why}") for name, why in found]

    def issues(self, plan: Plan, tools: Mapping[str, ToolSpec]) -> list[Issue]:
        """Return what forbids a plan: tools that are denied, and literals out of bounds."""
        found = []
        for step in plan.steps:
            literals = step.fixed_args()
            for name in step.tool_names:
                fitting = {arg: value for arg, value in literals.items() if step.tool or tools[name].takes(arg)}
                given = step.args if step.tool else tools[name].parameters  # a model gives the others later
                found += [Issue(step.id, where, why) for where, why in self.faults(tools[name], fitting, given)]
        return found

    def watches(self, tool: ToolSpec) -> bool:
        """Whether calls of a tool are for a person to approve, where not everything runs unseen."""
        verdict = self.verdict(tool)
        return verdict == "review" or (tool.acts and verdict != "allow")

    def needs_person(self, plan: Plan, tools: Mapping[str, ToolSpec], mode: ApprovalMode) -> bool:
        """Whether a person has to approve the plan before it runs: by the mode, or because a tool is to be reviewed."""
        named = {name: tools[name] for step in plan.steps for name in step.tool_names}.values()
        if mode == "always" or any(self.verdict(tool) == "review" for tool in named):
            return True
        return mode == "side_effects" and any(map(self.watches, named))

    def lets_in(self, tool: str, argument: str, sources: tuple[str, ...]) -> bool:
        """Whether untrusted values of these sources may stand in an argument unseen."""
        rule = self.tools.get(tool)
        return rule is not None and argument in rule.args and rule.args[argument].lets_in(sources)

    def to_be_seen(self, tool: ToolSpec, labels: Mapping[str, TrustLabel]) -> dict[str, TrustLabel]:
        """Return the arguments of a call that a person has to see first: untrusted ones of a call with an effect.

        Args:
            tool: What is to be called.
            labels: Argument -> label of its value.
        """
        return {
            name: label
            for name, label in labels.items()
            if tool.acts
            and label.untrusted
            and name not in tool.free_args
            and not self.lets_in(tool.name, name, label.sources)
        }

    def to_json(self) -> dict[str, Any]:
        """Return the policy as plain data, what is not set left out; `read_policy` takes it back."""
        found = {
            "approval": self.approval,
            "effects": dict(self.effects),
            "tools": {name: rule.to_json() for name, rule in self.tools.items()},
            "limits": self.limits.to_json(),
            "rates": dict(self.rates),
            "prices": {name: price.to_json() for name, price in self.prices.items()},
        }
        return {name: value for name, value in found.items() if value}


NO_POLICY = Policy()
