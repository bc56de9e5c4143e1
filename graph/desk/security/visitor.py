"""Who looks at the desk."""

from dataclasses import dataclass
from enum import StrEnum

LOCAL = ""
"""Name of whoever opened the link of a desk on this machine: the record then names the user of the process."""


class Role(StrEnum):
    """What a visitor may do: a reader looks, a reviewer decides too."""

    READER = "reader"
    REVIEWER = "reviewer"


@dataclass(frozen=True)
class Visitor:
    """A person with a session; `session` is its random id, to which the tokens of its forms belong."""

    name: str
    role: Role
    session: str

    @property
    def decides(self) -> bool:
        """Whether the person may change anything."""
        return self.role is Role.REVIEWER

    @property
    def identity(self) -> str | None:
        """The name in the record, None for the user of this process."""
        return f"desk:{self.name}" if self.name != LOCAL else None
