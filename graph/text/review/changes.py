"""What changed in a plan since a person saw it last."""

from collections.abc import Iterator, Sequence

from planner_executor.graph.plain_text.markdown import code
from planner_executor.graph.plain_text.sanitize import visible
from planner_executor.graph.plan.plan_diff import PlanDiff
from planner_executor.graph.record.values import to_text
from planner_executor.graph.review.content import Change, CommentContent, FieldChange, PlanContent, Shown, Whole
from planner_executor.graph.review.plan_changes import ANSWER
from planner_executor.graph.text.drawing.labels import plain
from planner_executor.graph.text.event_text import step_words
from planner_executor.graph.text.review.frame import Block, Data, Prose, name, words
from planner_executor.graph.text.review.layout import ITEM, entry
from planner_executor.graph.text.review.values import cut, plain_value, told, value_lines
from planner_executor.graph.text.word_diff import Piece, word_diff
from planner_executor.graph.words.name_list import counted, enumerated

MAX_CHANGES = 30
"""Number of changed or removed steps whose former work is shown."""
CHARACTERS = 400
ARGUMENT = "args."


def since_blocks(content: PlanContent) -> Iterator[Block]:
    """Yield what a revision changed since the plan before, and what became of the comments on that."""
    if content.since is None:
        yield Prose(f"Changes: {_summary(content.changes)}. No plan of this run was shown before.")
    else:
        yield from change_blocks(content.changes, content.since, was_seen=content.was_seen)
    if content.comments:
        yield Prose("Comments on the previous plan, and what became of their steps:")
    changed = {one.step: one.fields for one in content.changes if not _is_of_answer(one)}
    yield from (_comment(one, changed.get(one.step, ())) for one in content.comments)


def change_blocks(changes: Sequence[Change], since: int, *, was_seen: bool = True) -> Iterator[Block]:
    """Yield what changed since a revision, with what changed and removed steps were before.

    Args:
        changes: What became of the steps.
        since: The number of the revision that the changes begin with.
        was_seen: Whether a person saw it.
    """
    which = f"revision {since}, which {'was shown last' if was_seen else 'ran without a review'}"
    yield Prose(f"Changes since {which}: {_summary(changes)}.")
    shown = [one for one in changes if one.change != "added"]
    left = len(shown) - MAX_CHANGES
    if shown:
        more = [f"- and {left} more"] if left > 0 else []
        yield Data((*(line for one in shown[:MAX_CHANGES] for line in _change(one)), *more))


def _summary(changes: Sequence[Change]) -> PlanDiff:
    by_kind: dict[str, list[str]] = {"added": [], "changed": [], "removed": []}
    for one in changes:
        if not _is_of_answer(one):
            by_kind[one.change].append(one.step)
    return PlanDiff(**{kind: tuple(steps) for kind, steps in by_kind.items()}, answer=any(map(_is_of_answer, changes)))


def _is_of_answer(change: Change) -> bool:
    """Whether a change is of the plan's answer, and not of a step of that name."""
    return [one.field for one in change.fields] == [ANSWER]


def _comment(comment: CommentContent, fields: Sequence[FieldChange]) -> Prose:
    match comment.became:
        case "gone":
            now = "is gone"
        case "unchanged":
            now = "is unchanged"
        case "changed":
            now = f"has another {enumerated([code(one.field) for one in fields])}" if fields else "is new"
    says = f" The planner says: {words(comment.says)}" if comment.says is not None else ""
    return Prose(f"{ITEM}{words(comment.text)}: {name(comment.step)} {now}.{says}")


def _change(change: Change) -> list[str]:
    if change.change == "removed":
        return _removed(change)
    lines = entry(f"{change.step} (changed)")
    for one in change.fields:
        lines += entry(visible(plain(one.field)), "    ")
        was, now = _before_and_now(one)
        lines += [*entry(f"was {was}", "      "), *entry(f"now {now}", "      ")]
    return lines


def _before_and_now(field: FieldChange) -> tuple[str, str]:
    """Return a field before and now, on a line each; of long values what differs, and the words beside it."""
    was, now = field.was, field.now
    if isinstance(was, Whole) and isinstance(now, Whole):
        # Two long texts may be alike but for a word: their beginnings would show the same on both lines.
        before, after = (visible(to_text(one.value)) for one in (was, now))
        if max(len(before), len(after)) > CHARACTERS:
            old, new = word_diff(before, after)
            return cut(_folded(old), CHARACTERS), cut(_folded(new), CHARACTERS)
    return _value(was), _value(now)


def _folded(pieces: Sequence[Piece]) -> str:
    return "".join(
        f" ... {counted(len(one.text.split()), 'word is', 'words are')} the same ... "
        if one.kind == "folded"
        else one.text
        for one in pieces
    )


def _removed(change: Change) -> list[str]:
    """Return what a removed step was."""
    fields = {one.field: plain_value(one.was) for one in change.fields if one.was is not None}
    args = {field.removeprefix(ARGUMENT): value for field, value in fields.items() if field.startswith(ARGUMENT)}
    work = step_words({"id": change.step, **fields}).removeprefix(f"{change.step}: ")
    said = cut(plain(work), CHARACTERS)
    return [*entry(f"{change.step} (removed): {said}"), *value_lines(args)]


def _value(value: Shown | None) -> str:
    return told(value, CHARACTERS) if value is not None else "not given"
