"""The revocation of a standing approval of a run that a process executes, as a message in the run's inbox."""

import json
from typing import NamedTuple

from planner_executor.graph.record.events import Draft, StandingRevoked

KEY = "revoke"


class Revocation(NamedTuple):
    """The name of the standing approval, and who revokes it."""

    approval: str
    by: str

    @classmethod
    def read(cls, text: str) -> "Revocation | None":
        """Parse the output of `to_text`; None if it is another message."""
        try:
            raw = json.loads(text)
        except ValueError:
            return None
        return cls(raw[KEY], raw["by"]) if KEY in raw else None

    def to_text(self) -> str:
        """Return it as a message."""
        return json.dumps({KEY: self.approval, "by": self.by})

    def draft(self) -> Draft:
        """Return the event."""
        return Draft(StandingRevoked(id=self.approval, approver=self.by))
