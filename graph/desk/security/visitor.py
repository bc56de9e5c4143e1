"""The person at the browser, and what they may do."""

from dataclasses import dataclass
from enum import StrEnum

from planner_executor.graph.record.person import Person

LOCAL = ""
"""Name of whoever opened the link of a desk on this machine: the record then names the user of the process."""


class Role(StrEnum):
    """What a visitor may do: a reader looks, a reviewer decides too."""

    READER = "reader"
    REVIEWER = "reviewer"


@dataclass(frozen=True)
class Visitor:
    """A person with a session; `session` is its random id, to which the tokens of its forms belong.

    `person` is None for the user of this process. Without `has_session`, each request names its sender, and there is
    nothing to sign out of here; else the session ends at `ends_at`, in Unix seconds. Unless it `is_apart`, other
    servers get its cookie, since browsers send one to every port of a host: then no page holds the token of its forms.
    """

    person: Person | None
    role: Role
    session: str
    has_session: bool = True
    ends_at: float | None = None
    is_apart: bool = True

    @property
    def name(self) -> str:
        """The person's name, `LOCAL` for the user of this process."""
        return self.person.name if self.person is not None else LOCAL

    @property
    def decides(self) -> bool:
        """Whether the person may change anything."""
        return self.role is Role.REVIEWER


def verified(person: Person | None) -> Person | None:
    """Return a person whom the desk names: it has signed them in; see `graph.settings.identity.Adapter`."""
    return person
