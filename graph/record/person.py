"""People: who acts, and how that is known."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from planner_executor.graph.plain_text.sanitize import visible

Source = Literal["server", "os", "schedule", "claimed", "unverified"]
"""How a person is known: to a server or an adapter of the settings, to the operating system, by what calling code says
alone, or not at all. A `schedule` of the settings asks for runs and is nobody: it decides nothing."""
VERIFIED: tuple[Source, ...] = ("server", "os")
MAX_CHARACTERS = 200


@dataclass(frozen=True)
class Person:
    """A person as calling code names them: a name, such as a mail address, and the roles that they have.

    `proof` is for the adapter that verifies people, such as a token; it is never recorded.

    Raises:
        ValueError: The name or a role is no short text.
    """

    name: str
    roles: Sequence[str] = ()
    proof: Any = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "roles", (self.roles,) if isinstance(self.roles, str) else tuple(self.roles))
        for text in (self.name, *self.roles):
            if not is_name(text):
                raise ValueError(
                    f"{text!r:.80} names nobody; give a text of 1 to {MAX_CHARACTERS} printable characters"
                )


class Approver(NamedTuple):
    """Who acts, as the ledger keeps it: name, roles, and how the person is known."""

    name: str
    source: Source
    roles: tuple[str, ...] = ()

    @classmethod
    def of(cls, person: Person, source: Source) -> "Approver":
        """Return a person who is known in this way."""
        return cls(person.name, source, tuple(person.roles))

    @classmethod
    def of_label(cls, label: str, roles: Sequence[str] = ()) -> "Approver":
        """Return the approver whom a record names; a name of an unknown form is unverified.

        >>> Approver.of_label("server:ada@example.org").name
        'ada@example.org'
        """
        source, _, name = label.partition(":")
        known: Source | None = next((one for one in ("server", "os", "schedule", "claimed") if one == source), None)
        return cls(name, known, tuple(roles)) if known is not None and name else NOBODY

    @property
    def is_verified(self) -> bool:
        """Whether somebody else than calling code knows the person."""
        return self.source in VERIFIED

    @property
    def is_known(self) -> bool:
        """Whether it is certain who asks: a verified person, or a schedule, which is no person."""
        return self.is_verified or self.source == "schedule"

    @property
    def person(self) -> str:
        """The name by which one person is told from another, however each is known; a schedule has nobody's."""
        return same_name(str(self) if self.source == "schedule" else self.name)

    @property
    def identity(self) -> str:
        """The name by which rules admit one person and nobody else, with how they are known."""
        return f"{self.source}:{exact_name(self.name)}"

    def __str__(self) -> str:
        """Return the label of the record: `server:ada`, `os:ada`, `schedule:nightly`, `claimed:ada` or `unverified`."""
        return "unverified" if self.source == "unverified" else f"{self.source}:{self.name}"


NOBODY = Approver("", "unverified")


def same_name(name: str) -> str:
    """Return a name without what may distinguish two spellings of one person, so that nobody counts as two.

    >>> same_name(" Ada@Example.org"), same_name("\uff21da") == "ada"
    ('ada@example.org', True)
    """
    # Folding case may give letters that are not in the normal form, hence a second time.
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return "".join(filter(str.isprintable, plain)).strip()


def exact_name(name: str) -> str:
    """Return a name as rules compare it: without case, and otherwise letter by letter, so that nobody is another.

    A letter stays as it is if its lower case is another letter's too, such as the sign of Kelvin (decision 108).

    >>> exact_name(" Ada@Example.org"), exact_name("\u212aate") == "kate", exact_name("Straße") == exact_name("STRASSE")
    ('ada@example.org', False, False)
    """
    return "".join(letter.lower() if letter.lower().upper() == letter else letter for letter in name.strip())


def is_name(text: Any) -> bool:
    """Whether a text can be the name of a person or of a role."""
    # A name with marks that nobody sees would look like another person's where people decide.
    is_short = isinstance(text, str) and len(text) <= MAX_CHARACTERS
    return is_short and bool(text.strip()) and text.isprintable() and visible(text) == text
