"""Whole values of a run, inline or from artifacts."""

import json
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.ledger.protocol import Ledger
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.policy.policy import Policy
from planner_executor.graph.policy.policy_file import policy_from
from planner_executor.graph.policy.terms import Terms
from planner_executor.graph.record.assignment import Assignment
from planner_executor.graph.record.ending import answer_of
from planner_executor.graph.record.events import Configuration, Content
from planner_executor.graph.record.remaining import skipped_in
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.settings.settings import current_settings


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


async def tools_of(ledger: Ledger, record: RunState) -> dict[str, ToolSpec]:
    """Return the tools that the run was configured with, by name."""
    told = await content_value(ledger, record.assignment.configuration.tools)
    return {raw["name"]: ToolSpec.from_json(raw) for raw in told or ()}


async def policy_of(ledger: Ledger, configured: Configuration) -> Policy:
    """Return the policy on record.

    Raises:
        PolicyError: A newer release wrote it, or a redaction changed it.
    """
    raw = configured.settings.get("policy") if configured.policy is None else None
    found = await content_value(ledger, configured.policy) if raw is None else raw
    return policy_from(found or {}, "the policy on record")


async def terms_on_record(ledger: Ledger, record: RunState) -> ExecutionTerms:
    """Return the terms of a run as its record has them, by which a process that continues it reads a plan.

    Raises:
        PolicyError: The policy on record cannot be read.
    """
    configured = record.assignment.configuration
    mode = current_settings(configured.settings).get("approval", "always")
    policy, executors = await policy_of(ledger, configured), tuple(configured.executors)
    return ExecutionTerms(await tools_of(ledger, record), mode, policy, executors=executors)


async def terms_of(ledger: Ledger, run: Assignment) -> Terms:
    """Return the terms on record; a setting that an earlier release did not have is not known.

    Raises:
        PolicyError: The policy on record cannot be read.
    """
    configured = run.configuration
    tools = await content_value(ledger, configured.tools) or ()
    settings = current_settings(configured.settings)
    settings.pop("policy", None)
    return Terms(
        tools={tool["name"]: tool for tool in tools},
        models=configured.models,
        executors=configured.executors,
        settings=settings,
        policy=await policy_of(ledger, configured),
        budget=run.budget,
    )


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
