"""What a plan may take in the ledger of its run: read when the plan is written, so that it stays as it was shown."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from planner_executor.graph.calls.meter import CHARACTERS_PER_TOKEN
from planner_executor.graph.large_work import done_aside
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.prompts.executor import executor_messages
from planner_executor.graph.record.expected import Expected
from planner_executor.graph.record.remaining import steps_left
from planner_executor.graph.record.sample import of_model, of_tool
from planner_executor.graph.record.values import to_text
from planner_executor.graph.review.expectation import Basis, expectation


async def expected_of(run: RunContext, plan: Plan) -> Expected | None:
    """Return what like steps took so far, None for a plan that nobody is shown."""
    terms = run.terms
    if not plan.steps or not terms.policy.needs_person(plan, terms.tools, terms.mode):
        return None
    basis = await done_aside(len(plan.steps), partial(basis_of, run, plan))
    samples = await run.ledger.step_history(list(dict.fromkeys(basis.likeness.values())))

    def expected() -> Expected:
        return Expected.of(samples, {step: _prompt_tokens(run, plan.by_id[step]) for step in basis.first})

    return await done_aside(len(plan.steps), expected)


def basis_of(run: RunContext, plan: Plan) -> Basis:
    """Return what the expectation of a plan rests on."""
    models, settings = run.services.models.executors, run.services.settings
    first = {step.id: models[step.executor].name for step in plan.steps if step.kind == "model"}
    alike = {step.id: of_tool(step.tool) for step in plan.steps if step.tool is not None}
    alike |= {step: of_model(model, plan.by_id[step].tools) for step, model in first.items()}
    return Basis(alike, first, run.terms.policy.prices, settings.max_concurrency)


def expectation_of(run: RunContext, plan: Plan) -> Mapping[str, Any] | None:
    """Return what the rest of a plan may take, None if that was not looked up when the plan was written."""
    revised = run.record.plan_state.revised
    if revised is None or revised.like_steps is None or plan.digest != revised.digest:
        return None
    return expectation(plan, steps_left(plan, run.record.steps.results), revised.like_steps, basis_of(run, plan))


def _prompt_tokens(run: RunContext, step: Step) -> int:
    """Return the tokens of a step's first prompt, by its length; results of other steps are not in it yet."""
    messages = executor_messages(run.record.assignment.started.goal, step, step.args, {})
    specs = run.services.toolbox.specs
    offered = sum(len(specs[name].description) + len(to_text(dict(specs[name].schema))) for name in step.tools)
    return (sum(len(str(message.content)) for message in messages) + offered) // CHARACTERS_PER_TOKEN
