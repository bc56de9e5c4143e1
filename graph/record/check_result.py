"""What became of a check of a step, or of its criterion."""

from dataclasses import dataclass

from planner_executor.graph.plan.check import Check, describe_check
from planner_executor.graph.record.codec import Coded


@dataclass(frozen=True, eq=False, repr=False)
class CheckResult(Coded):
    """Whether a check is met, and the evidence; `seen` may quote the result and is untrusted."""

    check: Check
    met: bool
    seen: str

    def __str__(self) -> str:
        """Return the result of the check as text for people."""
        return f"{describe_check(self.check)}: {self.seen}"


@dataclass(frozen=True, eq=False, repr=False)
class Opinion(Coded):
    """The opinion of a judge; `met` is None if its answer was unusable, which never counts as met."""

    criterion: str
    met: bool | None
    why: str

    def __str__(self) -> str:
        """Return the opinion as text for people."""
        word = {True: "is met", False: "is not met", None: "was not judged"}[self.met]
        return f"criterion {self.criterion!r} {word}: {self.why}"
