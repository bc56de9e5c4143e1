"""`dataclass` of the standard library, made in a third of its time.

That one writes and compiles six functions for each frozen class. Here the constructor alone is compiled; how values are
compared, shown and kept from changes is the same code for all classes (decision 173). Type checkers see the original.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, field, fields, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn

__all__ = ["dataclass", "field", "fields", "replace"]


def _decorator(
    cls: type | None = None, /, *, frozen: bool = False, eq: bool = True, kw_only: bool = False, slots: bool = False
) -> Any:
    def decorated(cls: type) -> type:
        own = vars(cls)
        cls.__doc__ = cls.__doc__ or cls.__name__  # or the standard library would look for a signature, and long
        made: type = dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only, slots=slots)(cls)
        compared = tuple(one.name for one in fields(made) if one.compare)
        methods: dict[str, Any] = {"__init__": _constructor(made, frozen=frozen), "__repr__": _text}
        if eq:
            methods["__eq__"], methods["__hash__"] = _comparison(attrgetter(*compared) if compared else _nothing)
            if not frozen:
                methods["__hash__"] = None
        if frozen:
            methods |= {"__setattr__": _refusal, "__delattr__": _refusal}
        if frozen and slots:
            methods["__setstate__"] = _restore
        for name, method in methods.items():
            if own.get(name) is None:  # Python sets `__hash__` to None beside an `__eq__`
                setattr(made, name, method)
        return made

    return decorated if cls is None else decorated(cls)


if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = _decorator


def _constructor(cls: type, *, frozen: bool) -> Callable[..., None]:
    scope: dict[str, Any] = {"_set": object.__setattr__, "_MISSING": MISSING}
    by_place, by_name, body = ["self"], ["*"], ["pass"]
    for one in fields(cls):
        default, value = _default(one, scope)
        if one.init:
            (by_name if one.kw_only else by_place).append(f"{one.name}{default}")
        if value:
            body.append(f"_set(self, {one.name!r}, {value})" if frozen else f"self.{one.name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    parameters = by_place + (by_name if len(by_name) > 1 else [])
    exec(f"def __init__({', '.join(parameters)}):\n " + "\n ".join(body), scope)  # of names of fields only
    made: Callable[..., None] = scope["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__annotations__ = {one.name: one.type for one in fields(cls) if one.init} | {"return": None}
    return made


def _default(one: Field[Any], scope: dict[str, Any]) -> tuple[str, str]:
    """Return what follows a parameter's name, and the value of its field, empty if the field is not set."""
    if one.default_factory is not MISSING:
        scope[made := f"_new_{one.name}"] = one.default_factory
        return "=_MISSING", f"{made}() if {one.name} is _MISSING else {one.name}" if one.init else f"{made}()"
    if one.default is not MISSING:
        scope[kept := f"_default_{one.name}"] = one.default
        return f"={kept}", one.name if one.init else kept
    return "", one.name if one.init else ""


def _comparison(values: Callable[[Any], Any]) -> tuple[Callable[..., Any], Callable[[Any], int]]:
    def equals(self: object, other: object) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def digest(self: object) -> int:
        return hash(values(self))

    return equals, digest


def _nothing(_: object) -> tuple[()]:
    return ()


def _text(self: Any) -> str:
    shown = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{self.__class__.__qualname__}({shown})"


def _refusal(_: object, name: str, *_value: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot change field {name!r}")


def _restore(self: object, state: Any) -> None:
    """Take the state of a copy or a pickle: a pair, in which fields with slots come second."""
    for name, value in state[1].items():
        object.__setattr__(self, name, value)
