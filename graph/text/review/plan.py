"""The review of a plan: why it is asked, what changed, what will happen, and the plan."""

from collections.abc import Iterator, Mapping
from typing import Any

from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.review.content import ParameterContent, PlanContent
from planner_executor.graph.text.drawing.labels import plain
from planner_executor.graph.text.expectation import estimate_text, takes_in_words
from planner_executor.graph.text.literal_text import literal_lines
from planner_executor.graph.text.review.asked_calls import asked_blocks
from planner_executor.graph.text.review.bound import BOUND
from planner_executor.graph.text.review.changes import since_blocks
from planner_executor.graph.text.review.criteria import Judged, criteria_blocks, listed_blocks
from planner_executor.graph.text.review.drawing import PASSED_LINES, plan_data
from planner_executor.graph.text.review.effects import effect_blocks, outcome
from planner_executor.graph.text.review.frame import Block, Data, Prose, name, sentences, to_markdown, words
from planner_executor.graph.text.review.layout import entry
from planner_executor.graph.text.review.previews import preview_blocks
from planner_executor.graph.text.review.values import MAX_CHARACTERS
from planner_executor.graph.text.review.values import told as value_told
from planner_executor.graph.text.review.why import why_blocks

LEFT_OUT = "Constraints of the goal that the model of a step is not told:"


def plan_description(content: PlanContent, plan: Plan, goal: str = "") -> str:
    """Return the description of a plan and of the effects that its approval permits."""
    return to_markdown(_blocks(content, plan, goal))


def plan_message(plan: Plan, revision: int, done: Mapping[str, str]) -> str:
    """Return the plan as an assistant's message."""
    data = plan_data(plan, done, PASSED_LINES, "state")
    return to_markdown([Prose(f"Plan, revision {revision}:"), data])


def invalid_description(content: PlanContent) -> str:
    """Return the reasons that the plan in the state cannot be approved."""
    told = f"The plan in the state (after revision {content.revision}) cannot run. Edit it, or reject it."
    return to_markdown([Prose(told), *(Prose(f"- {words(fault)}") for fault in content.faults)])


def _blocks(content: PlanContent, plan: Plan, goal: str) -> Iterator[Block]:
    yield Prose(f"Plan, revision {content.revision}{f', for the goal {words(goal)}' if goal else ''}:")
    yield plan_data(plan, {step.id: step.status for step in content.steps if step.status != "pending"})
    if content.why is not None:
        yield from why_blocks(content.revision, content.why)
    if content.revision > 1:
        yield from since_blocks(content)
    if content.params:
        yield Prose("Its parameters, of which `{param.<name>}` in the plan is made:")
        yield Data(tuple(line for name, one in content.params.items() for line in _parameter(name, one)))
    # What an approval lets happen stands before the details: a reader may stop there.
    yield outcome(content)
    if content.notes:
        yield Prose("Before you decide:")
        yield from sentences(content.notes)
    yield from effect_blocks(content, plan)
    yield from preview_blocks(content.previews, content.unpreviewed)
    yield from asked_blocks(content, plan)
    left = [(step, plan.by_id[step.id]) for step in content.left]
    # Text that looks like a reference is named here: a reader of the drawing would take it for a value filled in.
    if notes := literal_lines([step for _, step in left], plan):
        yield Data(tuple(line for note in notes for line in entry(note.removeprefix("- "))))
    yield from criteria_blocks(
        [
            Judged(one.id, step.success_criteria, one.judged_by, kind_spec(step.kind).is_judged, one.checks)
            for one, step in left
        ]
    )
    yield from listed_blocks(LEFT_OUT, [f"{step.id}: {plain(one)}" for step in content.left for one in step.left_out])
    if content.work:
        work: Any = content.work
        yield Prose(estimate_text(work))
        if told := takes_in_words(work.get("takes", {}), name):
            yield Prose(told)
    yield Prose(BOUND)


def _parameter(name: str, param: ParameterContent) -> list[str]:
    """Return the lines on a parameter."""
    by = "" if param.trust == "user" else f", from a source that is {param.trust}"
    return entry(f"{name}: {value_told(param.value, MAX_CHARACTERS)}{by}")
