"""People who decide at the desk and people who only look, by name or by role."""

from collections.abc import Iterable
from dataclasses import dataclass

from planner_executor.graph.desk.security.visitor import Role
from planner_executor.graph.record.person import Person, exact_name

EVERYBODY = "*"


@dataclass(frozen=True)
class People:
    """People by name or by role; the name `*` means everybody who is signed in."""

    names: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()

    @classmethod
    def of(cls, names: Iterable[str], roles: Iterable[str] = ()) -> "People":
        """Return people by names, whatever their case, and roles.

        >>> People.of(["Ada@example.org"]).has(Person("ada@example.org"))
        True
        """
        return cls(frozenset(map(exact_name, names)), frozenset(roles))

    def has(self, person: Person) -> bool:
        """Whether the person is one of them."""
        return not self.names.isdisjoint({EVERYBODY, exact_name(person.name)}) or not self.roles.isdisjoint(
            person.roles
        )


ALL = People(frozenset({EVERYBODY}))


@dataclass(frozen=True)
class Permissions:
    """Those who decide, and those who only look; nobody else comes in."""

    reviewers: People = ALL
    readers: People = ALL

    def role_of(self, person: Person) -> Role | None:
        """Return what a person may do, None if they may not come in."""
        if self.reviewers.has(person):
            return Role.REVIEWER
        return Role.READER if self.readers.has(person) else None
