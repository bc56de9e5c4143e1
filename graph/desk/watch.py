"""Looks at something for all streams that show it, as long as there is one."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

Look = Callable[[], Awaitable[Any]]


@dataclass
class _Watched:
    """What was seen last, and who waits for a change; `task` looks again and again."""

    seen: Any = None
    readers: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    task: "asyncio.Task[None] | None" = None


@dataclass
class Watches:
    """One look at a time for each subject, however many streams show it (decision 0079)."""

    every_s: float = 0.5
    _watched: dict[Hashable, _Watched] = field(default_factory=dict)

    async def follow(self, subject: Hashable, look: Look) -> AsyncIterator[Any]:
        """Yield what is seen, and then each change of it; changes between two looks come as one.

        Raises:
            AgentError: What `look` raises ends the stream.
        """
        watched = self._watched.setdefault(subject, _Watched())
        watched.readers += 1
        if watched.task is None:
            watched.task = asyncio.create_task(self._look(watched, look))
        try:
            last: Any = None
            while True:
                changed = watched.changed
                if watched.seen is not None and watched.seen != last:
                    last = watched.seen
                    yield last
                    continue
                if watched.task.done():
                    await watched.task
                    return
                await changed.wait()
        finally:
            watched.readers -= 1
            if not watched.readers:
                watched.task.cancel()
                if self._watched.get(subject) is watched:
                    del self._watched[subject]

    async def _look(self, watched: _Watched, look: Look) -> None:
        try:
            while True:
                seen = await look()
                if seen != watched.seen:
                    watched.seen = seen
                    before, watched.changed = watched.changed, asyncio.Event()
                    before.set()
                await asyncio.sleep(self.every_s)
        finally:
            watched.changed.set()
