"""A small cache of the values made last."""

from collections.abc import Awaitable, Callable, Hashable
from typing import Any, Generic, ParamSpec, TypeVar

from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.schema import Plan

Value = TypeVar("Value")
Given = ParamSpec("Given")
MOST = 64


class Recent(Generic[Value]):
    """Values by all that they are made of, at most `most` of them: a function gets what it is looked up by."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._values: dict[Hashable, Value] = {}

    def get(self, make: Callable[Given, Value], *given: Given.args, **named: Given.kwargs) -> Value:
        """Return what a function makes of just this; what is not at hand is made."""
        key = _key(given, named)
        found = self._values.get(key)
        return self._kept(key, make(*given, **named)) if found is None else found

    async def aget(self, make: Callable[Given, Awaitable[Value]], *given: Given.args, **named: Given.kwargs) -> Value:
        """Return what a function makes of just this, see `get`."""
        key = _key(given, named)
        found = self._values.get(key)
        return self._kept(key, await make(*given, **named)) if found is None else found

    def _kept(self, key: Hashable, value: Value) -> Value:
        if len(self._values) >= self._most:
            self._values.clear()
        self._values[key] = value
        return value


def _key(given: tuple[Any, ...], named: dict[str, Any]) -> Hashable:
    return (*map(_part, given), *((name, _part(value)) for name, value in named.items()))


def _part(value: Any) -> Hashable:
    """Return the whole of a value: by its own `key`, which a test holds to its fields, or by its JSON."""
    if isinstance(value, Plan):
        return value.digest
    key = getattr(value, "key", None)
    return key if key is not None else digest(value.to_json()) if hasattr(value, "to_json") else value
