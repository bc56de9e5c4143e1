"""A property that is computed at its first use, and kept.

`functools.cached_property` does the same, but takes a lock before Python 3.12, which costs more than what is kept here.
"""

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

Value = TypeVar("Value")


class lazy(Generic[Value]):
    """A property whose value is put into the object's own attributes, which Python looks at before this descriptor.

    Two threads may compute it at the same time; it must not matter whose value stays.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: object | None, owner: type) -> Self | Value:
        if instance is None:
            return self
        value = self._compute(instance)
        object.__setattr__(instance, self._name, value)  # `vars` would make a dictionary of the attributes
        return value
