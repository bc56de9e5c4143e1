"""Where the values of a plan's calls come from, as far as its tools do not say that they may be trusted."""

from collections.abc import Iterator
from dataclasses import dataclass

from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.policy.policy_preview import PolicyPreview
from planner_executor.graph.record.trust_label import TrustLabel


@dataclass(frozen=True)
class CallSources:
    """The sources of the arguments of a step's calls with effects.

    `unseen` has the tools without declared trust whose results a call gets under the approval of the plan alone,
    `shown` the sources of a call that a person sees, with its values, before it is made.
    """

    unseen: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()


def call_sources(plan: Plan, terms: ExecutionTerms) -> dict[str, CallSources]:
    """Return step id -> sources of its calls with effects, at worst; `plan` is valid."""
    preview = PolicyPreview.of(plan, terms.tools)
    return {step.id: _of_step(step, preview, terms) for step in plan.steps}


def _of_step(step: Step, preview: PolicyPreview, terms: ExecutionTerms) -> CallSources:
    unseen: set[str] = set()
    shown: set[str] = set()
    for name in step.tool_names if kind_spec(step.kind).calls_tools else ():
        tool, labels = terms.tools[name], preview.of_call(step, name)
        held = terms.policy.arguments_to_review(tool, labels) if terms.mode != "never" else {}
        shown.update(source for label in held.values() for source in label.sources)
        if tool.acts and not held:
            unseen.update(source for label in labels.values() for source in _undeclared(label, terms))
    return CallSources(tuple(sorted(unseen)), tuple(sorted(shown)))


def _undeclared(label: TrustLabel, terms: ExecutionTerms) -> Iterator[str]:
    return (source for source in label.sources if source in terms.tools and terms.tools[source].trusted is None)
