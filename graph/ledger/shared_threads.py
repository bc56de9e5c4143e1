"""Threads that the ledgers of one process share by database: they end with their last user, and no fork has them.

A user holds them by an ordinary reference, so a graph that is dropped without `close` releases them too.
"""

import os
import threading
from collections.abc import Callable, Iterator
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakSet, WeakValueDictionary, finalize

Pulse = TypeVar("Pulse")


class Thread(Protocol):
    """A thread that serves a database."""

    def stop(self) -> None:
        """Have it end."""

    async def ended(self) -> None:
        """Wait until it has ended, if it was stopped."""


class SharedThreads(Generic[Pulse]):
    """Threads that end when this object is collected, to which they must not refer.

    `pulses` holds one pulse per user, by `id`; `process` is the one that has the threads.
    """

    def __init__(self) -> None:
        self.process = os.getpid()
        self.pulses: dict[int, Pulse] = {}
        self.threads: tuple[Thread, ...] = ()

    def end(self, *threads: Thread) -> None:
        """End these threads with this object."""
        self.threads = threads
        for thread in threads:
            finalize(self, thread.stop).atexit = False


Found = TypeVar("Found", bound=SharedThreads[Any])


class ByDatabase(Generic[Found]):
    """What a process has of such threads, by database. A forked child forgets its parent's, which do not exist there.

    They are kept referenced in the child, so that no finalizer ends a session or drops a lock that the parent goes on
    with.
    """

    def __init__(self) -> None:
        self._all: WeakSet[Found] = WeakSet()
        self._by_name: WeakValueDictionary[str, Found] = WeakValueDictionary()
        self._choosing = threading.Lock()
        self._inherited: list[Found] = []
        os.register_at_fork(after_in_child=self._begin_anew)

    def __iter__(self) -> Iterator[Found]:
        return iter(tuple(self._all))

    def get(self, name: str, make: Callable[[], Found], is_stale: Callable[[Found], bool] = lambda _: False) -> Found:
        """Return this process's threads of a database; they are made if there are none, or if they are stale."""
        with self._choosing:
            found = self._by_name.get(name)
            if found is None or is_stale(found):
                found = self._by_name[name] = make()
                self._all.add(found)
            return found

    def _begin_anew(self) -> None:
        self._choosing = threading.Lock()
        self._inherited.extend(self._all)
        self._all.clear()
        self._by_name.clear()


class ThreadsUser(Generic[Found]):
    """Base of a database that uses such threads from its first call on."""

    _found: Found | None = None

    @property
    def _threads(self) -> Found | None:
        return self._found if self._found is not None and self._found.process == os.getpid() else None

    def _use(self, found: Found, pulse: Any) -> Found:
        self._found = found
        if id(self) not in found.pulses:
            found.pulses[id(self)] = pulse
            finalize(self, found.pulses.pop, id(self), None).atexit = False
        return found

    async def close(self) -> None:
        """Release the threads, which end with their last user; a later call uses them again."""
        found, self._found = self._threads, None
        if found is None:
            return
        found.pulses.pop(id(self), None)
        threads = found.threads
        del found  # the last reference stops them
        for thread in threads:
            await thread.ended()
