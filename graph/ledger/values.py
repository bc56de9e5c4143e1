"""Whole values of a run, inline or from artifacts."""

import json
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.ledger.protocol import Ledger
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.ending import answer_of
from planner_executor.graph.record.events import Arguments, Content
from planner_executor.graph.record.remaining import skipped_in
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.run_state import RunState


async def value_of(ledger: Ledger, result: StepResult) -> JsonValue:
    """Return a succeeded result's value."""
    if result.artifact is None:
        return result.value
    value: JsonValue = json.loads(await ledger.artifact(result.artifact["id"]))
    return value


async def content_value(ledger: Ledger, content: Content | None) -> Any:
    """Return the value that an event holds inline or as an artifact, None if it holds none."""
    if content is None or content.artifact is None:
        return content and content.value
    return json.loads(await ledger.artifact(content.artifact["id"]))


async def args_of(ledger: Ledger, args: Arguments) -> Any:
    """Return the arguments of a call, which an event holds inline or as an artifact."""
    return args.shown if args.digest_beside is None else await content_value(ledger, Content.from_json(args.shown))


async def tools_of(ledger: Ledger, record: RunState) -> dict[str, ToolSpec]:
    """Return the tools that the run was configured with, by name."""
    told = await content_value(ledger, record.assignment.configuration.tools)
    return {raw["name"]: ToolSpec.from_json(raw) for raw in told or ()}


async def values_of(ledger: Ledger, record: RunState, plan: Plan) -> dict[str, JsonValue]:
    """Return step id -> value, for each step of `plan` that succeeded."""
    done = [step.id for step in plan.steps if step.id in record.steps.succeeded]
    return {step: await value_of(ledger, record.steps.results[step]) for step in done}


async def answer_from_results(ledger: Ledger, record: RunState) -> JsonValue:
    """Return the answer of the run's plan with its references resolved, or None if there is no plan.

    Raises:
        UnresolvedReferenceError: The plan's answer refers to a value that the results do not hold.
    """
    if record.plan_state.plan is None:
        return None
    plan = Plan.model_validate(record.plan_state.plan)
    return answer_of(plan, await values_of(ledger, record, plan), skipped_in(plan, record.steps.results))[0]
