"""The policy that a desk of the command line shows, kept until one of its files changes."""

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from graph.calls.threads import run_sync
from graph.cli.commands.policy import in_force, rule_sections
from graph.cli.run_options import RunOptions
from graph.configuration import policy_named
from graph.desk.desk import PolicyView
from graph.settings_file import settings_file
from graph.trust import store_path

KEPT_S = 60.0
"""How long a policy is shown that no file has changed: servers of tools may have others by then."""

Stamp = tuple[str, int, int, int]
"""A file's path, inode, size and time of its last change; zeros if it is not there."""


@dataclass
class DeskPolicy:
    """The policy of runs that are started with these options.

    To read it, the tools are made and their servers are started, so it is kept, and read by one caller at a time.
    """

    given: RunOptions
    _reading: threading.Lock = field(default_factory=threading.Lock)
    _kept: PolicyView | None = None
    _stamps: tuple[Stamp, ...] = ()
    _read_at_s: float = 0.0

    async def __call__(self) -> PolicyView:
        """Return the policy.

        Raises:
            ConfigError: It cannot be read.
        """
        return await run_sync(self._current)

    def _current(self) -> PolicyView:
        with self._reading:
            stamps = tuple(map(_stamp, self._files()))
            if self._kept is None or stamps != self._stamps or time.monotonic() - self._read_at_s > KEPT_S:
                self._kept, self._stamps, self._read_at_s = self._read(), stamps, time.monotonic()
            return self._kept

    def _files(self) -> Iterator[Path]:
        """Yield the files that say what the policy is."""
        given = self.given
        named = (settings_file(given.config).path, policy_named(given.policy, given.config), given.mcp, store_path())
        return (Path(file) for file in named if file is not None)

    def _read(self) -> PolicyView:
        given = self.given
        with in_force(given.policy, given, given.config, given.approval) as rules:
            source = rules.source or "none: only the approval mode applies"
            return PolicyView(source, rules.terms.policy.digest, rule_sections(rules))


def _stamp(file: Path) -> Stamp:
    try:
        found = file.stat()
    except OSError:
        return str(file), 0, 0, 0
    return str(file), found.st_ino, found.st_size, found.st_mtime_ns
