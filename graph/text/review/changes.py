"""What changed in a plan since a person saw it last."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.plain_text.markdown import code
from planner_executor.graph.plain_text.sanitize import visible
from planner_executor.graph.plan.revision import PlanDiff
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.comment import Comment
from planner_executor.graph.record.values import to_text
from planner_executor.graph.text.drawing.labels import plain
from planner_executor.graph.text.event_text import step_words
from planner_executor.graph.text.review.frame import Block, Data, Prose, name, words
from planner_executor.graph.text.review.layout import ITEM, entry
from planner_executor.graph.text.review.values import cut, value_lines
from planner_executor.graph.words.name_list import enumerated

MAX_CHANGES = 30
"""Number of changed or removed steps whose former work is shown."""
CHARACTERS = 400


def change_blocks(diff: PlanDiff, before: Plan | None, after: Plan, seen: tuple[int, bool]) -> Iterator[Block]:
    """Yield what changed, with what changed and removed steps were before.

    Args:
        diff: The difference from `before` to `after`.
        before: The plan that a person saw last, else the one that ran last.
        after: The plan to approve.
        seen: The number of the revision `before`, and whether a person saw it.
    """
    number, was_seen = seen
    if before is None:
        yield Prose(f"Changes: {diff}. No plan of this run was shown before.")
        return
    since = f"revision {number}, which {'was shown last' if was_seen else 'ran without a review'}"
    yield Prose(f"Changes since {since}: {diff}.")
    was, now = before.by_id, after.by_id
    told = [_changed(step, was[step].to_json(), now[step].to_json()) for step in diff.changed]
    told += [_removed(was[step].to_json()) for step in diff.removed]
    if diff.answer:
        told.append(_changed("answer", _answer(before), _answer(after)))
    left = len(told) - MAX_CHANGES
    if told:
        more = [f"- and {left} more"] if left > 0 else []
        yield Data((*(line for lines in told[:MAX_CHANGES] for line in lines), *more))


def comment_lines(comments: Sequence[Comment], before: Plan, after: Plan) -> Iterator[Prose]:
    """Yield what became of comments on the plan that was shown before, from the difference alone."""
    if comments:
        yield Prose("The comments on the plan before, and their steps in this one:")
    for one in comments:
        match one.became(before, after):
            case "gone":
                now = "is gone"
            case "unchanged":
                now = "is unchanged"
            case "changed":
                was = before.by_id.get(one.step)
                fields = differing(was.to_json() if was is not None else {}, after.by_id[one.step].to_json())
                now = f"has another {enumerated([code(field) for field in fields])}"
        yield Prose(f"{ITEM}{words(one.text)}: {name(one.step)} {now}.")


def _removed(step: Mapping[str, Any]) -> list[str]:
    told = step_words({**step, "args": {}}).removeprefix(f"{step['id']}: ")
    return [*entry(f"{step['id']} (removed): {cut(plain(told), CHARACTERS)}"), *value_lines(step.get("args", {}))]


def _changed(of: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return what differs between two versions of a step, field by field and argument by argument."""
    lines = entry(f"{of} (changed)")
    was, now = fields_of(before), fields_of(after)
    for field in differing(before, after):
        lines += entry(visible(plain(field)), "    ")
        lines += [*entry(f"was {_value(was, field)}", "      "), *entry(f"now {_value(now, field)}", "      ")]
    return lines


def differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return the fields and arguments that differ between two versions of a step."""
    was, now = fields_of(before), fields_of(after)
    return [
        field
        for field in dict.fromkeys((*was, *now))
        if was.get(field) != now.get(field) or to_text(was.get(field)) != to_text(now.get(field))
    ]


def fields_of(step: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Return the fields of a step, each argument as a field of its own."""
    fields = {name: value for name, value in step.items() if name != "args"}
    return {**fields, **{f"args.{name}": value for name, value in step.get("args", {}).items()}}


def _answer(plan: Plan) -> Mapping[str, JsonValue]:
    return {} if plan.answer is None else {"answer": plan.answer}


def _value(fields: Mapping[str, JsonValue], name: str) -> str:
    return cut(visible(to_text(fields[name])), CHARACTERS) if name in fields else "not given"
