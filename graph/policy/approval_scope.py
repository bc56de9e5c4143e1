"""The terms under which a plan runs: tools, policy and budget. An approval covers the plan and its terms."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

from pydantic import JsonValue

from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.approver_rule import ApproverRule, is_proposed
from planner_executor.graph.policy.modes import ApprovalMode
from planner_executor.graph.policy.policy import NO_POLICY, Policy
from planner_executor.graph.record.budget import NO_BUDGET, Budget

REFERENCES = 2
"""The version of the rules by which references are found; in version 1 each began with the one result that it used."""


class ShownFor(NamedTuple):
    """The rule that has a plan shown to a person, None if there is none, and the tools that it is about."""

    rule: Literal["always", "policy", "effects"] | None = None
    tools: tuple[str, ...] = ()


@dataclass(frozen=True)
class ExecutionTerms:
    """The current terms of a run; `budget` is the run's own, as set or raised.

    `executors` are the model names that a step may choose from.
    """

    tools: Mapping[str, ToolSpec]
    mode: ApprovalMode = "always"
    policy: Policy = NO_POLICY
    budget: Budget = NO_BUDGET
    executors: tuple[str, ...] = ()
    _bindings: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def bounds(self) -> Budget:
        """The effective budget: the run's own within the policy's hard limits."""
        return self.budget.within(self.policy.limits)

    def binding(self, plan: Plan) -> str:
        """Return the digest of everything that an approval of `plan` covers, under the current tools and mode."""
        # Kept to save time: one decision about a plan asks for it several times.
        known = self._bindings.get(plan.digest)
        return known or self._bindings.setdefault(plan.digest, digest(self.bound(plan)))

    def bound(self, plan: Plan) -> dict[str, JsonValue]:
        """Return everything that an approval of `plan` covers, by part; a review shows or names each."""
        names = sorted({name for step in plan.steps for name in step.tool_names})
        fingerprints: dict[str, JsonValue] = {
            name: self.tools[name].fingerprint for name in names if name in self.tools
        }
        rules: dict[str, JsonValue] = {"policy": self.policy.digest, "budget": self.budget.to_json()}
        if plan.is_read_anew:  # so that an approval by the earlier rules of references does not cover it
            rules["references"] = REFERENCES
        return {"plan": plan.digest, "tools": fingerprints, "approval": self.mode, **rules}

    def issues(self, plan: Plan) -> list[Issue]:
        """Return the issues that forbid a plan, approved or not."""
        unknown = [step for step in plan.steps if step.executor is not None and step.executor not in self.executors]
        known = f"known executors: {', '.join(self.executors) or 'none'}"
        found = [Issue(step.id, "executor", f"unknown executor {step.executor!r}; {known}") for step in unknown]
        return [*found, *self.policy.issues(plan, self.tools)]

    def shown_for(self, plan: Plan) -> ShownFor:
        """Return the rule that has a plan shown, if nothing has been approved before."""
        if self.mode == "always":
            return ShownFor("always")
        named = {name: self.tools[name] for step in plan.steps for name in step.tool_names}
        # The policy's own word comes first, whatever the mode is.
        if reviewed := sorted(name for name, tool in named.items() if self.policy.verdict(tool) == "review"):
            return ShownFor("policy", tuple(reviewed))
        watched = sorted(name for name, tool in named.items() if self.policy.watches(tool))
        return ShownFor("effects", tuple(watched)) if watched and self.mode == "side_effects" else ShownFor()

    def are_changes_proposed(self, plan: Plan) -> bool:
        """Whether what one person changes of a plan has to be approved by others."""
        return is_proposed(self.rules_on(plan))

    def rules_on(self, plan: Plan) -> tuple[ApproverRule, ...]:
        """Return the rules on who decides about a plan, empty if anybody does."""
        named = dict.fromkeys(name for step in plan.steps for name in step.tool_names)
        return self.policy.approvers.rules((self.tools[name] for name in named), self.bounds.cost_usd)

    def needs_person(self, plan: Plan) -> bool:
        """Whether a person has to approve a plan if nothing has been approved before."""
        return self.policy.needs_person(plan, self.tools, self.mode)
