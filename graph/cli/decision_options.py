"""The options that respond to a review request."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.budget_options import parse_limits
from planner_executor.graph.cli.plan_file import read_plan_file
from planner_executor.graph.errors import InputError
from planner_executor.graph.review.response import ReviewResponse


@dataclass(frozen=True)
class DecisionOptions:
    """A decision given as command-line options."""

    why: Annotated[
        str | None,
        typer.Argument(
            metavar="WHY", help="With --reject: the change to make; the run replans.", callback=options.text
        ),
    ] = None
    approve: Annotated[
        bool, typer.Option("--approve", help="Approve the plan, calls and gates under review, exactly as shown.")
    ] = False
    reject: Annotated[bool, typer.Option("--reject", help="End the run; with WHY, replan instead.")] = False
    edit: Annotated[
        Path | None,
        typer.Option(
            "--edit",
            parser=options.path_of,
            metavar="FILE",
            help="Run the plan in this JSON file instead; for a paused run it is reviewed.",
        ),
    ] = None
    feedback: Annotated[
        str | None, typer.Option("--feedback", metavar="TEXT", help="Replan with this feedback.", callback=options.text)
    ] = None
    comment: Annotated[
        list[str] | None,
        typer.Option("--comment", metavar="STEP=TEXT", help="Replan with this comment on a step; may be repeated."),
    ] = None
    reason: Annotated[
        str | None,
        typer.Option(
            "--reason", metavar="TEXT", help="With --approve, or an edit: why, for the record.", callback=options.text
        ),
    ] = None
    ask_later: Annotated[
        list[str] | None,
        typer.Option("--ask-later", metavar="STEP", help="With --approve: ask about the calls of this step when due."),
    ] = None
    answer: Annotated[
        list[str] | None,
        typer.Option("--answer", metavar="STEP=TEXT", help="Answer a question, as JSON or text; once per question."),
    ] = None
    args: Annotated[
        list[str] | None,
        typer.Option("--args", metavar="STEP=JSON", help="Make the call of this step with these arguments instead."),
    ] = None
    approve_call: Annotated[
        list[str] | None,
        typer.Option("--approve-call", metavar="STEP", help="Approve the call of this step, which the plan adds."),
    ] = None
    reject_call: Annotated[
        list[str] | None,
        typer.Option("--reject-call", metavar="STEP=WHY", help="Do not make the call of this step; the run goes on."),
    ] = None
    standing: Annotated[
        list[str] | None,
        typer.Option(
            "--standing", metavar="STEP=JSON", help='Approve the call and further ones: {"at_most": 5, "args": ...}.'
        ),
    ] = None
    standing_runs: Annotated[
        str | None,
        typer.Option(
            "--standing-runs", metavar="JSON", help='With --approve: further runs of the playbook: {"at_most": 5, ...}.'
        ),
    ] = None
    raise_: Annotated[
        list[str] | None,
        typer.Option("--raise", metavar="NAME=VALUE", help="New limit for the whole run; may be repeated."),
    ] = None
    finish: Annotated[bool, typer.Option("--finish", help="If the budget is spent: end with the results so far.")] = (
        False
    )
    yes: options.Yes = False
    digest: Annotated[
        str | None,
        typer.Option(
            "--digest", metavar="DIGEST", help="Decide only if the open request has this digest.", callback=options.text
        ),
    ] = None
    happened: Annotated[
        list[bool] | None,
        typer.Option("--happened", metavar="true|false", help="Whether an uncertain call happened; once per call."),
    ] = None
    result: Annotated[
        list[str] | None,
        typer.Option("--result", metavar="JSON", help="Result of a call that happened, as JSON or text."),
    ] = None

    def response(self) -> ReviewResponse:
        """Return the response to a review request, empty if no option was given.

        Raises:
            InputError: Two options contradict each other, or one cannot be parsed.
        """
        answers, results = options.texts(self.answer or []), options.texts(self.result or [])
        self._check()
        return ReviewResponse(
            approve=self.approve,
            approved=tuple(options.texts(self.approve_call or [])),
            plan=read_plan_file("--edit", self.edit) if self.edit is not None else None,
            answers=parse_answers(answers),
            args=parse_objects(options.texts(self.args or []), "--args"),
            standing=parse_objects(options.texts(self.standing or []), "--standing"),
            standing_runs=_object(self.standing_runs, "--standing-runs", "it") if self.standing_runs else {},
            rejected=parse_answers(options.texts(self.reject_call or []), "--reject-call", "WHY"),
            happened=tuple(self.happened or ()),
            results=tuple(results),
            limits=parse_limits("--raise", self.raise_ or []),
            feedback=self.why if self.reject else self.feedback,
            comments=tuple(split_entry(one, "--comment") for one in options.texts(self.comment or [])),
            reason=self.reason,
            ask_later=tuple(options.texts(self.ask_later or [])),
            finish=self.finish,
            # A rejection that says what to change, in words or in comments, is feedback.
            stop=self.reject and self.why is None and not self.comment,
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
            raise InputError(given[1], f"{' and '.join(given)} cannot be combined; give one decision")
        # An approval with comments would run the plan that they object to.
        if self.comment and given and given != ["--reject"] and given != ["--feedback"]:
            raise InputError("--comment", f"a comment has the run planned again; leave out {given[0]}")
        if self.reason is not None and not (
            self.approve or self.edit or self.approve_call or self.args or self.standing
        ):
            raise InputError("--reason", "a reason goes with --approve, or with an edit")
        if self.ask_later and not self.approve:
            raise InputError("--ask-later", "it names calls that --approve leaves out; give both")
        if self.standing_runs and not self.approve:
            raise InputError("--standing-runs", "it goes with the approval of a plan; give --approve too")
        if self.why is not None and not self.reject:
            raise InputError("WHY", f"{self.why!r} needs --reject; quote text of several words")


def parse_objects(entries: Iterable[str], option: str) -> dict[str, Any]:
    """Return JSON objects by step id.

    Raises:
        InputError: An entry is not STEP=JSON with an object, or a step is named twice.
    """
    given = parse_answers(entries, option, "JSON").items()
    return {step: _object(text, option, f"the value for {step}") for step, text in given}


def _object(text: str, option: str, what: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(option, f"{what} is not valid JSON: {error}") from error
    if not isinstance(found, dict):
        raise InputError(option, f"{what} must be a JSON object")
    return found


def parse_answers(entries: Iterable[str], option: str = "--answer", value: str = "TEXT") -> dict[str, Any]:
    """Return texts by step id.

    Raises:
        InputError: An entry is not STEP=TEXT, or a step is named twice.
    """
    answers: dict[str, Any] = {}
    for entry in entries:
        step, answer = split_entry(entry, option, value)
        if step in answers:
            raise InputError(option, f"{step} is named twice; give one {value.lower()} per step")
        answers[step] = answer
    return answers


def split_entry(entry: str, option: str, value: str = "TEXT") -> tuple[str, str]:
    """Return the step and the text of an entry STEP=TEXT.

    Raises:
        InputError: It is none.
    """
    step, equals, text = entry.partition("=")
    if not equals or not text.strip():
        raise InputError(option, f"{entry!r} is not STEP={value}; give the step and its {value.lower()}")
    return step, text
