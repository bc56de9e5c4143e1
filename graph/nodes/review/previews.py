"""The previews that a request shows, from the record alone: no tool is asked here."""

from dataclasses import replace

from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.call_preview import BEYOND, MOST, CallPreview
from planner_executor.graph.record.known_calls import known_calls
from planner_executor.graph.record.remaining import steps_left
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.review.content import PreviewContent


def previews_of(record: RunState, plan: Plan) -> tuple[tuple[PreviewContent, ...], tuple[str, ...]]:
    """Return the previews of a plan's calls that are left to do, and the other calls of tools that have previews.

    Those of calls that are held count first: a request shows `MOST` of both together.
    """
    known = record.review_state.previews
    if not known.by_key:
        return (), ()
    tools, found, others = known.tools, list[PreviewContent](), list[str]()
    most = MOST - len(held_keys(record))
    steps = (step for step in steps_left(plan, record.steps.results) if step.tool in tools)
    for call in known_calls(record.id, steps):
        one = known.by_key.get(call.key)
        if one is not None and not one.is_beyond and len(found) < most:
            found.append(_content(one, None))
        else:
            others.append(call.place)
    return tuple(found), tuple(others)


def preview_of(record: RunState, key: str) -> PreviewContent | None:
    """Return the preview of a call that is held, and what people saw of it before if that differs."""
    known = record.review_state.previews
    found = known.by_key.get(key)
    if found is None:
        return None
    if key not in held_keys(record):
        found = replace(found, text=None, length=None, whole=None, none=BEYOND)
    return _content(found, known.before.get(key))


def held_keys(record: RunState) -> list[str]:
    """Return the keys of the held calls whose previews a request shows."""
    return record.review_state.previews.counted(held.event.key for held in record.waiting_calls)


def _content(found: CallPreview, was: CallPreview | None) -> PreviewContent:
    return PreviewContent(
        place=found.place,
        tool=found.tool,
        text=found.text,
        length=found.length,
        none=found.none,
        was=(was.text or was.none) if was is not None else None,
    )
