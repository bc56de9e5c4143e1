"""The one line of a chat that says how far a run is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from planner_executor.graph.plain_text.markdown import text_markdown
from planner_executor.graph.record.results import SETTLED

NAMED = 3
"""Steps named in one part of the line, at most."""
WORDS_CHARACTERS = 80
"""Length of a tool's own words in the line, at most."""


@dataclass(frozen=True)
class PassProgress:
    """How far a pass over a plan of `steps` steps is.

    `statuses` are those of the steps that have one, `reported` is what tools of running steps say of their progress,
    `waits` are the steps that will need a person.
    """

    steps: int
    statuses: Mapping[str, str] = field(default_factory=dict)
    reported: Mapping[str, str] = field(default_factory=dict)
    waits: Sequence[str] = ()

    def line(self) -> str:
        """Return one line of Markdown.

        >>> PassProgress(6, {"a": "succeeded", "b": "running", "c": "failed"}, {"b": "3 of 10"}).line()
        '1 of 6 steps done. Running: b (3 of 10). Failed: c.'
        """
        done = sum(status in SETTLED for status in self.statuses.values())
        parts = [f"{done} of {self.steps} {'step' if self.steps == 1 else 'steps'} done"]
        parts += self._part("Running", [self._running(step) for step in self._with("running")])
        parts += self._part("Failed", self._with("failed"))
        parts += self._part("A person will be needed for", self.waits)
        return f"{'. '.join(parts)}."

    def _with(self, status: str) -> list[str]:
        return [step for step, found in self.statuses.items() if found == status]

    def _running(self, step: str) -> str:
        words = self.reported.get(step)
        return f"{step} ({text_markdown(words)})" if words else step

    def _part(self, what: str, named: Sequence[str]) -> list[str]:
        more = len(named) - NAMED
        rest = f" and {more} more" if more > 0 else ""
        return [f"{what}: {', '.join(named[:NAMED])}{rest}"] if named else []
