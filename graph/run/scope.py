"""Whether a plan stays within what was approved, and which calls it might repeat."""

from collections.abc import Mapping

from graph.plan.catalog import ToolSpec
from graph.plan.schema import Plan
from graph.run.policy import binding_of
from graph.run.record import RunRecord


def in_force(record: RunRecord, plan: Plan, tools: Mapping[str, ToolSpec]) -> bool:
    """Whether the last approval is of exactly this plan, with its tools as they were when it was given."""
    approval = record.approval
    return approval is not None and approval.digest == plan.digest and approval.binding == binding_of(plan, tools)


def within_approved(record: RunRecord, plan: Plan, tools: Mapping[str, ToolSpec]) -> bool:
    """Whether the plan only drops or reorders steps of the plan that was approved."""
    if record.approval is None or record.approved_plan is None:
        return False
    approved = Plan.model_validate(record.approved_plan)
    same_tools = binding_of(approved, tools) == record.approval.binding
    return same_tools and all(step.same_as(approved.by_id.get(step.id)) for step in plan.steps)


def repeats(record: RunRecord, plan: Plan) -> list[str]:
    """Return sentences on calls that failed, may have taken effect, and that the plan may make again."""
    left = [step for step in plan.steps if step.id not in record.succeeded]
    sentences = []
    for call in record.calls.values():
        again = [step.id for step in left if call.tool in step.tool_names]
        if call.doubtful and again:
            error = call.result.error if call.result else "the process ended in the middle of it"
            sentences.append(
                f"{call.step} called {call.tool}, which may have taken effect although it failed ({error}); "
                f"{', '.join(again)} may call it again."
            )
    return sentences
