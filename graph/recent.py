"""A small cache of the values made last."""

from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")
MOST = 64


class Recent(Generic[Value]):
    """Values by their inputs, at most `most` of them."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._values: dict[Hashable, Value] = {}

    def get(self, rests_on: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value that rests on just this; one that is not at hand is made."""
        found = self._values.get(rests_on)
        return self._kept(rests_on, make()) if found is None else found

    async def aget(self, rests_on: Hashable, make: Callable[[], Awaitable[Value]]) -> Value:
        """Return the value that rests on just this, see `get`."""
        found = self._values.get(rests_on)
        return self._kept(rests_on, await make()) if found is None else found

    def _kept(self, rests_on: Hashable, value: Value) -> Value:
        if len(self._values) >= self._most:
            self._values.clear()
        self._values[rests_on] = value
        return value
