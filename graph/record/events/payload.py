"""The common part of all kinds of events: a name, a version, and a payload that is written and read as JSON."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

Json = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Payload:
    """The data of an event; each kind of event is a subclass.

    Not an ABC, because instance checks of ABCs are slow; mypy reports a subclass that lacks a method.

    `is_control`: the event changes what is allowed, so an intent by an author who has not seen it is refused.
    `is_aside`: the event does not change the status of the run. `must_last`: it has to survive a power cut.
    `checkpoint` is that of the node that wrote the event; other writers have none.
    """

    kind: ClassVar[str]
    version: ClassVar[int] = 1
    is_control: ClassVar[bool] = False
    is_aside: ClassVar[bool] = False
    must_last: ClassVar[bool] = False

    checkpoint: str | None = None

    @property
    def safe(self) -> bool:
        """Whether the event may be lost in a power cut without harm."""
        return not self.must_last

    @abstractmethod
    def own_json(self) -> dict[str, Any]:
        """Return the fields of this kind, as the ledger keeps them."""

    @classmethod
    @abstractmethod
    def from_json(cls, raw: Json) -> Self:
        """Read a payload; a field that an earlier release did not write gets its default.

        A redaction may have replaced texts, and numbers that are only displayed.

        Raises:
            KeyError, TypeError, ValueError, AttributeError: The payload is malformed.
        """

    def to_json(self) -> dict[str, Any]:
        """Return the payload as the ledger keeps it; version 1 is not written (decision record 0035)."""
        raw = self.own_json()
        if self.checkpoint is not None:
            raw["checkpoint"] = self.checkpoint
        if self.version > 1:
            raw["version"] = self.version
        return raw


def given(**fields: Any) -> dict[str, Any]:
    """Return the fields that are not None, false or an empty list.

    >>> given(item=0, unchecked=False, notes=[], error=None, checkpoint="")
    {'item': 0, 'checkpoint': ''}
    """
    return {name: value for name, value in fields.items() if value is not None and value is not False and value != []}


def integer(raw: Json, name: str) -> int:
    """Return an integer that the projection depends on.

    Raises:
        KeyError, TypeError: It is missing, or not an integer.
    """
    value = raw[name]
    if type(value) is not int:
        raise TypeError(f"{name} is not an integer")
    return value


def real(raw: Json, name: str) -> float:
    """Return a number that reading the record depends on.

    Raises:
        KeyError, TypeError: It is missing, or not a number.
    """
    value = number(raw[name])
    if value is None:
        raise TypeError(f"{name} is not a number")
    return float(value)


def optional_integer(raw: Json, name: str) -> int | None:
    """Return an integer of a payload, None if it is absent.

    Raises:
        TypeError: It is not an integer.
    """
    return integer(raw, name) if name in raw else None


def number(value: Any) -> Any:
    """Return a number that is only displayed; None if a redaction replaced it.

    >>> number(2.5), number("[redacted]")
    (2.5, None)
    """
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def numbers(raw: Json) -> dict[str, Any]:
    """Return the numbers of an object, without redacted ones."""
    return {name: value for name, value in raw.items() if number(value) is not None}
