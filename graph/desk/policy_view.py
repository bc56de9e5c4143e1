"""The policy in force, as a page shows it: kept until one of its files changes (decision 94)."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from planner_executor.graph.calls.threads import run_sync
from planner_executor.graph.context import Services
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.text.policy import rule_sections

KEPT_S = 60.0
"""How long a policy is kept if no file changes: the tools of MCP servers change without one."""
NO_POLICY = "none: only the approval mode applies"

Stamp = tuple[str, int, int, int]
"""A file's path, inode, size and time of its last change; zeros if it is not there."""


@dataclass(frozen=True)
class PolicyView:
    """The policy of runs started here: its source, its digest, and lines under headings, with all their terms."""

    source: str
    digest: str
    sections: Sequence[tuple[str, Sequence[str]]]
    terms: ExecutionTerms


PolicyInForce = Callable[[], Awaitable[PolicyView]]


@dataclass
class KeptPolicy:
    """Keeps the policy that `read` returns until one of `files` changes.

    Reading creates the tools and starts their servers, so one caller reads at a time.
    """

    read: PolicyInForce
    files: Callable[[], Iterable[Path]]
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock)
    _kept: PolicyView | None = None
    _stamps: tuple[Stamp, ...] = ()
    _read_at_s: float = 0.0

    async def __call__(self) -> PolicyView:
        """Return the policy.

        Raises:
            ConfigError: It cannot be read.
        """
        async with self._reading:
            stamps = await run_sync(lambda: tuple(map(_stamp, self.files())))
            if self._kept is None or stamps != self._stamps or time.monotonic() - self._read_at_s > KEPT_S:
                self._kept, self._stamps, self._read_at_s = await self.read(), stamps, time.monotonic()
            return self._kept


def policy_of(services: Services, source: str) -> PolicyView:
    """Return the policy that a graph has."""
    settings = services.settings
    terms = ExecutionTerms(
        services.toolbox.specs, settings.approval, settings.policy, executors=tuple(services.models.named)
    )
    return PolicyView(source, settings.policy.digest, rule_sections(settings, terms), terms)


def _stamp(file: Path) -> Stamp:
    try:
        found = file.stat()
    except OSError:
        return str(file), 0, 0, 0
    return str(file), found.st_ino, found.st_size, found.st_mtime_ns
