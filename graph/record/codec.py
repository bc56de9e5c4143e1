"""Values of events as JSON, in the way that the types of their fields say.

A field without a default is always written, and a payload without it is malformed. One with a default is left out while
it has the default, and a payload without it, or with null there, is read as having it. A number is checked, because the
record is read by it. The types below say what is otherwise.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from enum import Enum, auto
from functools import cache
from inspect import get_annotations
from types import NoneType, UnionType
from typing import Annotated, Any, Self, TypeVar, Union, get_args, get_origin

Json = Mapping[str, Any]
Value = TypeVar("Value")
Convert = Callable[[Any], Any]
Conversion = tuple[Convert, Convert]
"""How values are written, and how they are read."""


class _Says(Enum):
    WRITTEN = auto()
    NEEDED = auto()
    SHOWN = auto()
    INLINE = auto()


Written = Annotated[Value, _Says.WRITTEN]
"""A field that is written with its default too."""
Needed = Annotated[Value, _Says.WRITTEN, _Says.NEEDED]
"""A field that is written with its default too, and without which a payload is malformed."""
Shown = Annotated[Value, _Says.SHOWN]
"""A number that is only displayed: one that a redaction replaced is read as absent."""
Inline = Annotated[Value, _Says.INLINE]
"""A field whose own fields stand among those of the event."""


@dataclass(frozen=True, slots=True)
class As:
    """How values of a type are written and read, in `Annotated`, if the type does not say so itself."""

    write: Convert
    read: Convert


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Coded:
    """A dataclass that is written and read by its fields; its own come before those that it inherits.

    Those that extend it say `eq=False, repr=False` too: what a dataclass compiles for itself, each command waits for
    (decision 0174).
    """

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        told = zip(fields(self), self._values(), strict=True)
        return f"{type(self).__qualname__}({', '.join(f'{one.name}={value!r}' for one, value in told)})"

    def _values(self) -> tuple[Any, ...]:
        return tuple([getattr(self, one.name) for one in fields(self)])

    def to_json(self) -> dict[str, Any]:
        """Return it as the ledger keeps it."""
        raw: dict[str, Any] = {}
        for name, write, left_out, is_inline in self._codec().written:
            value = getattr(self, name)
            if is_inline:
                raw |= write(value)
            # By identity first: most fields have their default, and large values are slow to compare.
            elif value is not left_out and value != left_out:
                raw[name] = value if write is _plain else write(value)
        return raw

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """Read what `to_json` of this release or an earlier one returned; unknown fields are ignored.

        A redaction may have replaced texts, and numbers that are only displayed.

        Raises:
            KeyError, TypeError, ValueError, AttributeError: It is malformed.
        """
        codec = cls._codec()
        found = {name: raw[name] if read is _plain else read(raw[name]) for name, read in codec.needed}
        for name, read in codec.optional:
            if (value := raw.get(name)) is not None and (read is _plain or (value := read(value)) is not None):
                found[name] = value
        for name, read in codec.inline:
            found[name] = read(raw)
        return cls(**found)

    @classmethod
    @cache
    def _codec(cls) -> "_Codec":
        known = {field.name: field for field in fields(cls)}
        hints = {name: hint for base in cls.__mro__ for name, hint in get_annotations(base).items() if name in known}
        codec = _Codec()
        for name, hint in hints.items():
            codec.add(known[name], hint)
        return codec


@dataclass(frozen=True, slots=True)
class _Codec:
    """The fields of a class, in the order in which they are written, and apart by how they are read."""

    written: list[tuple[str, Convert, Any, bool]] = field(default_factory=list)
    needed: list[tuple[str, Convert]] = field(default_factory=list)
    optional: list[tuple[str, Convert]] = field(default_factory=list)
    inline: list[tuple[str, Convert]] = field(default_factory=list)

    def add(self, of: Field[Any], hint: Any) -> None:
        """Add a field with the type that its class gives it."""
        default = of.default if of.default_factory is MISSING else of.default_factory()
        says = get_args(hint)[1:]  # those of `Annotated`; of other types nothing in it is ours
        write, read = _conversion(hint)
        if _Says.SHOWN in says:
            read = _shown
        elif number := next((kind for kind in (int, float) if kind in _alternatives(hint)), None):
            read = _number(of.name, number)
        is_inline, is_needed = _Says.INLINE in says, default is MISSING or _Says.NEEDED in says
        self.written.append((of.name, write, MISSING if _Says.WRITTEN in says else default, is_inline))
        (self.inline if is_inline else self.needed if is_needed else self.optional).append((of.name, read))


def _alternatives(hint: Any) -> tuple[Any, ...]:
    if get_origin(hint) is Annotated:
        return _alternatives(get_args(hint)[0])
    return get_args(hint) if get_origin(hint) is UnionType else (hint,)


def _conversion(hint: Any) -> Conversion:
    origin, args = get_origin(hint), get_args(hint)
    # Marks of the field come before its type: a field says itself if it is written otherwise.
    if origin is Annotated:
        return next(((one.write, one.read) for one in args if isinstance(one, As)), None) or _conversion(args[0])
    if origin in (Union, UnionType):
        # None stands for a field that is left out; one more type may stand beside it.
        return _optional(*(_conversion(one) for one in args if one is not NoneType))
    if origin is tuple:
        return _each(*_conversion(args[0]))
    if origin is Mapping:
        return _by_name(*_conversion(args[1]))
    return (hint.to_json, hint.from_json) if hasattr(hint, "to_json") else (_plain, _plain)


def _optional(conversion: Conversion) -> Conversion:
    write, read = (one if one is _plain else _unless_none(one) for one in conversion)
    return write, read


def _unless_none(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)


def _each(write: Convert, read: Convert) -> Conversion:
    return (
        list if write is _plain else lambda value: [write(item) for item in value],
        tuple if read is _plain else lambda raw: tuple(map(read, raw)),
    )


def _by_name(write: Convert, read: Convert) -> Conversion:
    return (
        dict if write is _plain else lambda value: {name: write(item) for name, item in value.items()},
        _plain if read is _plain else lambda raw: {name: read(item) for name, item in raw.items()},
    )


def _plain(value: Any) -> Any:
    return value


def _number(name: str, kind: type[int] | type[float]) -> Convert:
    """Return how a number is read that the record is read by."""

    def read(raw: Any) -> float:
        # By the very type, as Python takes true for a number.
        if type(raw) is kind:
            return raw
        if type(raw) is not int:
            raise TypeError(f"{name} is not {'an integer' if kind is int else 'a number'}")
        return float(raw)

    return read


def _shown(raw: Any) -> Any:
    return raw if type(raw) in (int, float) else None
