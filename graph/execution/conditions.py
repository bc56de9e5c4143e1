"""The condition of a step, evaluated once when everything that the step waits for has ended."""

from planner_executor.graph.calls.threads import run_sync
from planner_executor.graph.errors import ExpressionError
from planner_executor.graph.execution.step_work import StepWork
from planner_executor.graph.plan.expressions import evaluate
from planner_executor.graph.plan.json_values import json_kind
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.plan.when import CONDITION, When, of_when
from planner_executor.graph.policy.grants import Refused
from planner_executor.graph.record.events import ConditionEvaluated, Draft


async def is_met(work: StepWork, step: Step, when: When) -> bool:
    """Return whether a step's condition holds; what was evaluated before holds until a result that it reads is another.

    Raises:
        Refused: The condition gives neither true nor false, or cannot be evaluated.
        UnresolvedReferenceError: A reference has no value.
    """
    known = work.record.steps.conditions.get(step.id)
    if known is not None:
        return known
    condition, values = str(when[CONDITION]), work.values_for(step)
    try:
        met = await run_sync(lambda: evaluate(condition, step.resolved(of_when(when), values)))
    except ExpressionError as error:
        raise Refused(f"when.{CONDITION} {condition!r} {error}") from error
    if not isinstance(met, bool):
        raise Refused(f"when.{CONDITION} {condition!r} gives {json_kind(met)}; it has to give true or false")
    evaluated = ConditionEvaluated(met=met, condition=condition, revision=work.record.plan_state.revision)
    work.evaluated.append(Draft(evaluated, step.id))
    return met
