"""What a review says in plain words, because some clients show nothing else."""

from collections.abc import Collection, Mapping, Sequence

from graph.plan.catalog import ToolSpec
from graph.plan.issues import Issue
from graph.plan.render.text import plan_text
from graph.plan.revision import Difference
from graph.plan.schema import Plan
from graph.run.record import Call
from graph.run.values import to_text

MAX_LINES = 300
"""How much of a plan's drawing stands in a message or a description."""


def plan_message(plan: Plan, revision: int) -> str:
    """Return the plan as an assistant's message."""
    return f"Plan, revision {revision}:\n\n{_drawing(plan)}"


def plan_description(
    plan: Plan,
    revision: int,
    diff: Difference,
    specs: Mapping[str, ToolSpec],
    repeats: Sequence[str] = (),
) -> str:
    """Return what approving the plan lets happen.

    Args:
        plan: What would run.
        revision: Its number.
        diff: What it changes in the revision before it.
        specs: The tools it names.
        repeats: Sentences about calls that failed and that the plan would make again.
    """
    lines = [f"Revision {revision} of the plan. Approve it, edit it, or reject it with a reason to plan again."]
    lines += [f"Changes: {diff}."] if revision > 1 else []
    lines += [_effects(plan, specs), *_acting(plan, specs), *repeats, "", _drawing(plan), "", f"Digest: {plan.digest}"]
    return "\n".join(lines)


def invalid_description(revision: int, issues: Sequence[Issue]) -> str:
    """Return why the plan in the state cannot be approved."""
    faults = "\n".join(f"- {issue}" for issue in issues)
    return f"The plan in the state (after revision {revision}) cannot run. Edit it, or reject it.\n{faults}"


def doubt_description(call: Call) -> str:
    """Return the question whether a call took effect."""
    error = call.result.error if call.result else "the process ended in the middle of it"
    return (
        f"{call.step} called {call.tool} with {to_text(dict(call.args))[:2000]}, "
        f"and nobody knows whether it took effect: {error}. "
        "Find out, then set happened to true (with its result) or to false (it will be called); "
        "reject to stop the run."
    )


def estimate(plan: Plan, finished: Collection[str]) -> dict[str, int]:
    """Return how many calls are left at most, model turns within a step not counted."""
    left = [step for step in plan.steps if step.id not in finished]
    calls = sum(1 if step.tool else len(step.tools) * (step.max_calls or 1) for step in left)
    return {"steps": len(left), "tool_calls": calls, "model_steps": sum(step.tool is None for step in left)}


def _drawing(plan: Plan) -> str:
    """Return the plan as text, of a very large one the beginning; all steps with effects are listed apart."""
    lines = plan_text(plan).split("\n")
    if len(lines) <= MAX_LINES:
        return "\n".join(lines)
    return "\n".join(
        [*lines[:MAX_LINES], f"... and {len(lines) - MAX_LINES} more lines; the whole plan is in the request"]
    )


def _effects(plan: Plan, specs: Mapping[str, ToolSpec]) -> str:
    acting = sorted({name for step in plan.steps for name in step.tool_names if specs[name].effect != "read"})
    named = ", ".join(f"{name} ({specs[name].effect})" for name in acting)
    return f"Tools with effects: {named}." if acting else "It only reads."


def _acting(plan: Plan, specs: Mapping[str, ToolSpec]) -> list[str]:
    """Return the steps with effects, with all of their arguments: the drawing of the plan cuts them."""
    steps = [step for step in plan.steps if any(specs[name].effect != "read" for name in step.tool_names)]
    return [f"- {step.id}: {', '.join(step.tool_names)} {to_text(dict(step.args))[:4000]}" for step in steps]
