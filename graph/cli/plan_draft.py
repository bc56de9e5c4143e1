"""A plan that a person edits at the prompt: its text lives on while the review asks about the same plan."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from planner_executor.graph.cli.editor import edited
from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.review.plan_changes import changes_between
from planner_executor.graph.runs.run import Run
from planner_executor.graph.text.plan_yaml import YamlFault, plan_from_yaml, plan_to_yaml, with_faults, without_faults
from planner_executor.graph.text.review.changes import change_blocks
from planner_executor.graph.text.review.frame import to_text, widened

NAME = "plan.yaml"


class NotEdited(Exception):
    """There is no changed plan; the message gives the reason."""


class PlanDraft:
    """The text of one request's plan as a person last left it, and the faults found in it."""

    def __init__(self, run: Run, shown: Mapping[str, Any]) -> None:
        """Begin with the plan that is shown."""
        self._shown = shown
        self._digest, self._revision = _subject(run), run.revision
        self._text = plan_to_yaml(shown, run.id, run.revision, run.goal, run.step_status if run.results else {})
        self._faults: list[tuple[int, str]] = []

    def is_about(self, run: Run) -> bool:
        """Whether the open request is about the plan that this draft began with."""
        return _subject(run) == self._digest

    def refused(self, issues: Sequence[Issue]) -> None:
        """Keep what the review found wrong with the text, for the next edit."""
        read = plan_from_yaml(self._text)
        self._faults = [(read.line_of(issue), str(issue)) for issue in issues]

    def changes(self, plan: Any, columns: int) -> str:
        """Return how an edited plan differs from the one that is shown; empty if it cannot be read yet."""
        try:
            before, after = Plan.model_validate(self._shown), Plan.model_validate(plan)
        except ValidationError:
            return ""
        blocks = change_blocks(changes_between(before, after), self._revision)
        return to_text(widened(blocks, columns), columns)

    def edit(self) -> Any:
        """Return the plan after the person has edited it.

        Raises:
            NotEdited: It is unchanged, empty, or not readable; its fault then stands in the text of the next edit.
            InputError: There is no editor, or it failed.
        """
        shown = with_faults(self._text, self._faults)
        text = without_faults(edited(shown, NAME), shown)
        if not text.strip():
            raise NotEdited("the file is empty; nothing is decided")
        # Kept before it is read: with a fault in it, the person goes on from there.
        self._text = text
        try:
            plan = _read(text)
        except YamlFault as fault:
            self._faults = [(fault.line, str(fault))]
            raise NotEdited(f"line {fault.line + 1} of the edited plan: {fault}; e: edit it again") from None
        if plan == self._shown:
            raise NotEdited("the plan is unchanged; nothing is decided")
        return plan


def _read(text: str) -> Any:
    plan = plan_from_yaml(text).plan
    if not isinstance(plan, dict | list) or not plan:
        raise YamlFault("a plan begins with steps:")
    return plan


def _subject(run: Run) -> str:
    return str((run.request or {}).get("digest"))
