"""Answers, and what the options of `resume` say of everything that is asked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph.cli.budgets import limits_of
from graph.cli.commands.plan_file import read_plan_file
from graph.errors import InputError
from graph.review.response import ReviewResponse


@dataclass(frozen=True)
class Answer:
    """The answer to a review request; `unseen` where nobody looked at it."""

    decisions: dict[str, Any]
    unseen: bool = False


def said_by_options(
    *,
    approve: bool,
    reject: bool,
    why: str | None,
    edit: Path | None,
    feedback: str | None,
    finish: bool,
    answers: Iterable[str],
    limits: Iterable[str],
    happened: Sequence[bool],
    results: Sequence[str],
    yes: bool,
) -> ReviewResponse:
    """Return what is said; nothing where no option says anything.

    Raises:
        InputError: Two options contradict each other, or one cannot be understood.
    """
    decisions = {
        "--approve": approve,
        "--reject": reject,
        "--edit": edit is not None,
        "--feedback": feedback is not None,
        "--finish": finish,
        "--yes": yes,
    }
    given = [option for option, is_given in decisions.items() if is_given]
    if len(given) > 1:
        raise InputError(given[1], f"give one decision, not {' and '.join(given)}")
    if why is not None and not reject:
        raise InputError("WHY", f"{why!r} belongs behind --reject; quote a text of several words")
    return ReviewResponse(
        approve=approve,
        plan=read_plan_file("--edit", edit) if edit is not None else None,
        answers=answers_of(answers),
        happened=tuple(happened),
        results=tuple(results),
        limits=limits_of("--raise", limits),
        feedback=why if reject else feedback,
        finish=finish,
        stop=reject and why is None,
    )


def answers_of(entries: Iterable[str]) -> dict[str, Any]:
    """Return step -> answer.

    Raises:
        InputError: An entry is not written as STEP=TEXT, or answers a step for the second time.
    """
    found: dict[str, Any] = {}
    for entry in entries:
        step, equals, answer = entry.partition("=")
        if not equals or not answer.strip():
            raise InputError("--answer", f"write STEP=TEXT, not {entry!r}")
        if step in found:
            raise InputError("--answer", f"{step} is answered twice")
        found[step] = answer
    return found
