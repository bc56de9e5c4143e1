"""Amendments of a run in progress: constraints added or withdrawn by a user, and feedback."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from planner_executor.graph.plain_text.sanitize import text_fault
from planner_executor.graph.record.events import Draft, Steered


class Amendment(NamedTuple):
    """Constraints to add, constraints to withdraw, and feedback for the planner; `by` names the user."""

    add: tuple[str, ...] = ()
    withdraw: tuple[str, ...] = ()
    feedback: str | None = None
    by: str = "unverified"

    @property
    def fault(self) -> str | None:
        """The error in the amendment, if it is empty or cannot be stored.

        >>> Amendment(add=(" ",)).fault
        'say what changes: a constraint that comes or goes, or words for the planner'
        """
        texts = (*self.add, *self.withdraw, *([] if self.feedback is None else [self.feedback]))
        if not texts or not all(text.strip() for text in texts):
            return "say what changes: a constraint that comes or goes, or words for the planner"
        return next(filter(None, map(text_fault, texts)), None)

    @classmethod
    def read(cls, text: str) -> "Amendment":
        """Parse the output of `to_text`."""
        raw = json.loads(text)
        return cls(tuple(raw["add"]), tuple(raw["withdraw"]), raw["feedback"], raw["by"])

    def to_text(self) -> str:
        """Return it as a message for the run's inbox."""
        return json.dumps(self._asdict())

    def applied(self, constraints: Sequence[str]) -> tuple[str, ...]:
        """Return the constraints after the amendment.

        >>> Amendment(add=("be quick",), withdraw=("be cheap",)).applied(["be cheap", "be kind"])
        ('be kind', 'be quick')
        """
        return tuple(dict.fromkeys([*(one for one in constraints if one not in self.withdraw), *self.add]))

    def draft(self, constraints: Sequence[str]) -> Draft:
        """Return the event of the amendment; `constraints` are those before it."""
        steered = Steered(
            constraints=self.applied(constraints),
            added=self.add,
            withdrawn=self.withdraw,
            feedback=self.feedback,
            approver=self.by,
        )
        return Draft(steered)


def amendment_words(added: Sequence[str], withdrawn: Sequence[str], feedback: str | None) -> str:
    """Describe the changes, for the replanner and for people.

    >>> amendment_words(["spend at most 200"], [], None)
    'the user added: spend at most 200'
    """
    parts = [f"added: {'; '.join(added)}"] if added else []
    parts += [f"withdrew: {'; '.join(withdrawn)}"] if withdrawn else []
    parts += [f"said: {feedback}"] if feedback else []
    return f"the user {', '.join(parts)}"
