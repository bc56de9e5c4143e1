"""The text of the events of a plan: revisions, refusals and amendments."""

from collections.abc import Mapping
from typing import Any

from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.step_kind import kind_of
from planner_executor.graph.record.amendment import amendment_words
from planner_executor.graph.record.events import CallPreviewed, Executing, PlanRefused, PlanRevised, Steered
from planner_executor.graph.text.event_text.sections import Words
from planner_executor.graph.text.event_text.values import (
    content,
    issue_lines,
    normalization_notes,
    preview_text,
    value_text,
)


def plan_revised(data: PlanRevised) -> Words:
    """Say what the revision changes, and what a person should know of it."""
    yield f"revision {data.revision} of the plan by the {data.author}: {data.reason}"
    yield f"digest {data.digest}"
    # Events as they are read: a redaction may have left steps out that the difference still names.
    steps = {step.get("id"): step for step in data.plan.get("steps", ())}
    for word, ids in (("added", data.diff.added), ("changed", data.diff.changed)):
        yield from (f"{word} {step_words(steps[name])}" for name in ids if name in steps)
    if data.diff.removed:
        yield f"removed {', '.join(data.diff.removed)}"
    for one in data.replaced or ():
        words = {"open": "is not made up for", "asked": "is made up for if a person approves the plan"}
        by = f", with {', '.join(one.by)} in its place" if one.by else ""
        yield f"the failed {one.step}{by} {words.get(one.standing, 'is made up for')}"
    if data.tainted:
        yield f"written after untrusted results were read: {', '.join(data.tainted)}"
    for step, tools in data.new_effects.items():
        yield f"{step} adds {', '.join(tools)}, which no approved plan had in this way"
    yield from map(preview_text, data.previews)
    yield from (f"says of the comment on {step}: {value_text(words)}" for step, words in data.on_comments.items())
    yield from normalization_notes(data)
    if data.stalled:
        yield data.stalled
    if data.diff.answer:
        yield f"answer {value_text(data.plan.get('answer'))}"


def step_words(step: Mapping[str, Any]) -> str:
    """Return the work of a step and its success criteria."""
    does = kind_spec(kind_of(step)).work(step, value_text) + (
        f" for each of {value_text(step['for_each'])}" if "for_each" in step else ""
    )
    args = f" {value_text(step['args'])}" if step.get("args") else ""
    after = f", after {', '.join(step['depends_on'])}" if step.get("depends_on") else ""
    checked = f", if all of {value_text(step['checks'])}" if step.get("checks") else ""
    instead = f", instead of {step['replaces']}" if step.get("replaces") else ""
    return f"{step['id']}: {does}{args}{after}{instead} ({step.get('objective')}){checked}"


def plan_refused(data: PlanRefused) -> Words:
    """Say what is wrong with the plan."""
    yield f"no valid plan by the {data.author}"
    if data.stays is not None:
        yield f"so the plan stays as it was: {data.stays}"
    yield from issue_lines(data.issues)
    if data.brought is not None:
        yield f"the caller's plan: {content(data.brought)}"


def call_previewed(data: CallPreviewed) -> Words:
    """Say what the calls of the plan would do."""
    yield "a preview leaves this machine" if data.is_intent else "what tools say of the calls of the proposed plan"
    yield from map(preview_text, data.previews)


def steered(data: Steered) -> Words:
    """Say what a person added to the goal or withdrew."""
    yield amendment_words(data.added, data.withdrawn, data.feedback)
    yield f"by {data.approver}"
    yield from (f"constraint: {constraint}" for constraint in data.constraints)


def executing(data: Executing) -> Words:
    """Say which revision is carried out."""
    yield f"the executor took up revision {data.revision}"
