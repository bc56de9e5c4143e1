"""The terms of a run, as they were configured and recorded."""

from planner_executor.graph.ledger.protocol import Ledger
from planner_executor.graph.ledger.values import content_value, tools_of
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.policy.policy import Policy
from planner_executor.graph.policy.terms import Terms
from planner_executor.graph.record.assignment import Assignment
from planner_executor.graph.record.events import Configuration
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.settings.settings import current_settings


async def policy_of(ledger: Ledger, configured: Configuration) -> Policy:
    """Return the policy on record.

    Raises:
        PolicyError: A newer release wrote it, or a redaction changed it.
    """
    # Seldom needed: by a run with another model or tool.
    from planner_executor.graph.policy.policy_file import policy_from

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
