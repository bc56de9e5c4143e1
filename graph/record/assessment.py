"""Whether the result of a step meets its criteria: results of its checks, and the opinion of a judge."""

from collections.abc import Sequence
from dataclasses import dataclass

from planner_executor.graph.record.check_result import CheckResult, Opinion
from planner_executor.graph.record.events import Draft, StepChecked

WHY_CHARACTERS = 500


@dataclass(frozen=True)
class Assessment:
    """The results of all criteria of one step; `opinion` is None if no judge was asked."""

    findings: Sequence[CheckResult] = ()
    opinion: Opinion | None = None

    @property
    def met(self) -> bool:
        """Whether the step may succeed."""
        return all(finding.met for finding in self.findings) and (self.opinion is None or self.opinion.met is True)

    @property
    def error(self) -> str:
        """The unmet criteria as text, untrusted because it may quote the result."""
        unmet = [str(finding) for finding in self.findings if not finding.met]
        unmet += [str(self.opinion)] if self.opinion is not None and self.opinion.met is not True else []
        return f"its result will not do: {'; '.join(unmet)}"

    def event(self, step: str, revision: int, again: bool) -> Draft:
        """Return the event; `again` means that the step is tried again."""
        checked = StepChecked(
            met=self.met,
            checks=tuple(self.findings),
            judged=self.opinion,
            error=None if self.met else self.error,
            revision=revision,
            again=again,
        )
        return Draft(checked, step)
