"""The options that answer what a run asks."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from graph.cli import options
from graph.cli.budget_options import limits_of
from graph.cli.plan_file import read_plan_file
from graph.errors import InputError
from graph.review.response import ReviewResponse

Why = Annotated[
    str | None,
    typer.Argument(metavar="WHY", help="With --reject: what to change; plans again.", callback=options.text),
]
Approve = Annotated[bool, typer.Option("--approve", help="Run exactly the plan, calls and gates that wait.")]
Reject = Annotated[bool, typer.Option("--reject", help="End the run; with words behind it, plan again.")]
Digest = Annotated[
    str | None,
    typer.Option("--digest", metavar="DIGEST", help="Decide only if just this is asked.", callback=options.text),
]
EditFile = Annotated[Path | None, typer.Option("--edit", metavar="FILE", help="Run this plan (JSON) instead.")]
Feedback = Annotated[
    str | None, typer.Option("--feedback", metavar="TEXT", help="Plan again with these words.", callback=options.text)
]
Answers = Annotated[
    list[str] | None,
    typer.Option("--answer", metavar="STEP=TEXT", help="The answer to a question: JSON or text; once for each."),
]
Raise = Annotated[
    list[str] | None,
    typer.Option("--raise", metavar="NAME=VALUE", help="What the run may spend in all from now on; more than once."),
]
Finish = Annotated[bool, typer.Option("--finish", help="Where the budget is spent: end with what there is.")]
Happened = Annotated[
    list[bool] | None,
    typer.Option("--happened", metavar="true|false", help="Whether an uncertain call happened; once for each."),
]
Result = Annotated[
    list[str] | None,
    typer.Option("--result", metavar="JSON", help="What a call that happened returned: JSON or text."),
]


@dataclass(frozen=True)
class DecisionOptions:
    """What a person decides by options."""

    why: Why = None
    approve: Approve = False
    reject: Reject = False
    edit: EditFile = None
    feedback: Feedback = None
    answer: Answers = None
    raise_: Raise = None
    finish: Finish = False
    yes: options.Yes = False
    digest: Digest = None
    happened: Happened = None
    result: Result = None

    def response(self) -> ReviewResponse:
        """Return the response to a review request; it is empty if no option is given.

        Raises:
            InputError: Two options contradict each other, or one cannot be understood.
        """
        answers, results = options.texts(self.answer or []), options.texts(self.result or [])
        self._check()
        return ReviewResponse(
            approve=self.approve,
            plan=read_plan_file("--edit", self.edit) if self.edit is not None else None,
            answers=answers_of(answers),
            happened=tuple(self.happened or ()),
            results=tuple(results),
            limits=limits_of("--raise", self.raise_ or []),
            feedback=self.why if self.reject else self.feedback,
            finish=self.finish,
            stop=self.reject and self.why is None,
        )

    def _check(self) -> None:
        decisions = {
            "--approve": self.approve,
            "--reject": self.reject,
            "--edit": self.edit is not None,
            "--feedback": self.feedback is not None,
            "--finish": self.finish,
            "--yes": self.yes,
        }
        given = [option for option, is_given in decisions.items() if is_given]
        if len(given) > 1:
            raise InputError(given[1], f"give one decision, not {' and '.join(given)}")
        if self.why is not None and not self.reject:
            raise InputError("WHY", f"{self.why!r} belongs behind --reject; quote a text of several words")


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
