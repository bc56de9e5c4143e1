"""Whether the result of a step will do: what its checks found, and what a judge says of its criterion in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from graph.record.check_results import CheckResult, Opinion
from graph.record.events import Draft, StepChecked

WHY_CHARACTERS = 500


@dataclass(frozen=True)
class Assessment:
    """What came of all criteria of one step; `opinion` is None where no judge was asked."""

    findings: Sequence[CheckResult] = ()
    opinion: Opinion | None = None

    @property
    def met(self) -> bool:
        """Whether the step may succeed."""
        return all(finding.met for finding in self.findings) and (self.opinion is None or self.opinion.met is True)

    @property
    def error(self) -> str:
        """What is unmet, in words; it may quote the result, and is not to be trusted."""
        unmet = [str(finding) for finding in self.findings if not finding.met]
        unmet += [str(self.opinion)] if self.opinion is not None and self.opinion.met is not True else []
        return f"its result will not do: {'; '.join(unmet)}"

    def told(self, step: str, revision: int, again: bool) -> Draft:
        """Return the event; `again` says that the step is tried once more."""
        checked = StepChecked(
            met=self.met,
            checks=tuple(self.findings),
            judged=self.opinion,
            error=None if self.met else self.error,
            revision=revision,
            again=again,
        )
        return Draft(checked, step)
