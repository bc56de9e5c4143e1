"""What is wrong with a plan, said so that its author can mend it."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Issue:
    """One fault: the step it is in (None for the plan itself), the field, and what to do about it."""

    step: str | None
    field: str
    message: str

    def __str__(self) -> str:
        """Return the issue as one line."""
        where = f"{self.step}.{self.field}" if self.step else self.field
        return f"{where}: {self.message}"

    def to_json(self) -> dict[str, str | None]:
        """Return the issue as the state and the review show it."""
        return asdict(self)
