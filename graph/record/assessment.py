"""Whether the result of a step will do: what its checks found, and what a judge says of its criterion in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph.record.check_results import CheckResult
from graph.record.events import Draft

WHY_CHARACTERS = 500


@dataclass(frozen=True)
class Opinion:
    """What a judge said; `met` is None where it said nothing that could be used, which never counts as met."""

    criterion: str
    met: bool | None
    why: str

    def __str__(self) -> str:
        """Return the opinion as people read it."""
        word = {True: "is met", False: "is not met", None: "was not judged"}[self.met]
        return f"criterion {self.criterion!r} {word}: {self.why}"

    def to_json(self) -> dict[str, Any]:
        """Return the opinion as the ledger has it."""
        return {"criterion": self.criterion, "met": self.met, "why": self.why}


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
        opinion: Mapping[str, Any] = {"judged": self.opinion.to_json()} if self.opinion is not None else {}
        error = {} if self.met else {"error": self.error}
        found = {"met": self.met, "checks": [finding.to_json() for finding in self.findings], **opinion, **error}
        return Draft("step_checked", {**found, "revision": revision, **({"again": True} if again else {})}, step)
