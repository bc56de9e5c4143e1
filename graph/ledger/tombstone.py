"""What remains of a thread that was removed: numbers and hashes, no words, in one chain per database.

A tombstone names the thread by the digest of its name, so that nobody reads the name, but whoever knows or guesses it
can find the tombstone. The last tombstone has the seal of the chain, so that a cut-off end can be detected with the
key. See `docs/decisions/0067-tombstones.md`.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, NamedTuple, Self

from planner_executor.graph.errors import LedgerSealError
from planner_executor.graph.ledger.seal import SealKey, seal_fault
from planner_executor.graph.ledger.transcript import Transcript
from planner_executor.graph.record.run_key import run_in
from planner_executor.graph.words.name_list import counted

LINK_BYTES = 32
FIRST_LINK = sha256(b"planner-executor tombstones 1").digest()
"""The hash that the first tombstone is chained to."""


class Tombstone(NamedTuple):
    """What remains of a thread's runs.

    `number` counts the tombstones of a database from 1, `thread` is the digest of the thread's name, `first` the number
    of its first run here. `heads` are the hashes of the last events of the runs, in order. `at` is in Unix seconds,
    `by` the person. `key` is the id of the key that seals the chain from here on, None if it is not sealed.
    """

    number: int
    thread: bytes
    first: int
    heads: tuple[str, ...]
    at: float
    by: str
    key: str | None
    link: bytes

    @property
    def last(self) -> int:
        """The number of the thread's last run that was removed."""
        return self.first + len(self.heads) - 1

    def stored(self) -> tuple[Any, ...]:
        """Return the columns of a row, up to the seal, in the order of the fields."""
        return (
            self.number,
            self.thread,
            self.first,
            b"".join(map(bytes.fromhex, self.heads)),
            self.at,
            self.by,
            self.key,
            self.link,
        )

    def link_after(self, before: bytes) -> bytes:
        """Return the hash of this tombstone, if the one before it has the hash `before`."""
        content = [self.number, self.thread.hex(), self.first, self.heads, self.at, self.by, self.key]
        # `default`: a cell of any type that was put there has to show as another hash, not as an exception.
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), default=repr)
        return sha256(before + text.encode("utf-8", "surrogateescape")).digest()


class Tombstones(NamedTuple):
    """The tombstones of a database, in order, and the seal of the last one."""

    rows: tuple[Tombstone, ...] = ()
    seal: bytes | None = None

    @classmethod
    def read(cls, rows: Iterable[Sequence[Any]]) -> Self:
        """Return the tombstones in rows as `Tombstone.stored` gave them, each with its seal behind it.

        A cell of another type makes the row one that was changed.
        """
        found = [(row[0], _cell(row[1]), row[2], _heads(_cell(row[3])), *row[4:]) for row in rows]
        return cls(tuple(Tombstone(*row[:8]) for row in found), found[-1][8] if found else None)

    @property
    def last(self) -> Tombstone | None:
        """The last tombstone, None if there is none."""
        return self.rows[-1] if self.rows else None

    def end(self, database: str, key: SealKey | None) -> Tombstone | None:
        """Return the last tombstone, which another one is to follow.

        Raises:
            LedgerSealError: None can follow it with this key, or without one.
        """
        if fault := end_fault(self.last, self.seal, key):
            raise LedgerSealError(database, "(any)", fault)
        return self.last

    @property
    def runs(self) -> int:
        """The number of runs that were removed."""
        return sum(len(row.heads) for row in self.rows)

    def named(self, name: str) -> Tombstone | None:
        """Return the tombstone of a run, by its id, or the last one of a thread, by its name; None if there is none."""
        run = run_in(name)
        of_run = [row for row in self.of(run.thread) if row.first <= run.n <= row.last] if run is not None else []
        return next(iter(of_run), None) or next(reversed(self.of(name)), None)

    def of(self, thread: str) -> list[Tombstone]:
        """Return the tombstones of a thread, in order."""
        digest = thread_digest(thread)
        return [row for row in self.rows if row.thread == digest]


def _cell(value: Any) -> bytes:
    """Return the bytes of a cell, or those of its text: SQLite stores any type in any column."""
    return value if isinstance(value, bytes) else repr(value).encode()


def _heads(joined: bytes) -> tuple[str, ...]:
    return tuple(joined[at : at + LINK_BYTES].hex() for at in range(0, len(joined), LINK_BYTES))


def digests_of(name: str) -> tuple[bytes, bytes]:
    """Return the digests of the threads that a name may mean: that of a run's id, and that of the name itself."""
    return thread_digest(name.rpartition(".")[0]), thread_digest(name)


def thread_digest(thread: str) -> bytes:
    """Return the digest by which tombstones name a thread."""
    return sha256(b"planner-executor thread 1\0" + thread.encode("utf-8", "surrogateescape")).digest()


def tombstone_after(
    last: Tombstone | None, runs: Sequence[Transcript], at: float, by: str, key: SealKey | None
) -> Tombstone:
    """Return the tombstone of a thread.

    Args:
        last: The last tombstone of the database.
        runs: All runs of the thread, in order, at least one.
        at: The time, in Unix seconds.
        by: The person who removes them.
        key: The ledger's key.
    """
    heads = tuple(run.head.hex() for run in runs)
    number, before = (last.number + 1, last.link) if last else (1, FIRST_LINK)
    digest, key_id = thread_digest(runs[0].thread), key.id if key else None
    bare = Tombstone(number, digest, runs[0].n, heads, at, by, key_id, b"")
    return bare._replace(link=bare.link_after(before))


def end_fault(last: Tombstone | None, seal: bytes | None, key: SealKey | None) -> str | None:
    """Return the reason why no tombstone can follow the last one with this key, or without one; None if it can.

    The first sealed tombstone may follow those that were made without a key.
    """
    if last is None or (last.key is None and seal is None):
        return None
    fault = seal_fault(key, last.key, seal, last.link)
    return f"the chain of tombstones {fault}" if fault else None


def chain_faults(found: Tombstones, key: SealKey | None) -> Iterator[str]:
    """Yield the faults of the chain: the first changed or missing tombstone, and a seal that does not fit.

    Args:
        found: The tombstones.
        key: The key to check the seal with; without one the seal is not checked.
    """
    # One fault is told, not each that follows from it: all later links differ too.
    before = FIRST_LINK
    for place, row in enumerate(found.rows, 1):
        if row.number != place:
            yield f"tombstone {place} is missing"
            return
        if row.link != row.link_after(before):
            yield f"tombstone {place} was changed"
            return
        before = row.link
    if key is not None and (fault := end_fault(found.last, found.seal, key)):
        yield fault


def gaps(runs: Iterable[tuple[str, int]], found: Tombstones, started: int) -> Iterator[str]:
    """Yield what shows that runs were removed without a tombstone.

    Args:
        runs: Thread and number of all runs that are there.
        found: The tombstones.
        started: The number of runs that were ever started, as the counters have it.
    """
    by_thread: dict[str, set[int]] = {}
    for thread, n in runs:
        by_thread.setdefault(thread, set()).add(n)
    removed: dict[bytes, int] = {}
    for row in found.rows:
        if row.first != removed.get(row.thread, row.first - 1) + 1:
            yield f"runs between tombstone {row.number} and the one before it of the same thread have none"
        removed[row.thread] = row.last
    for thread, numbers in by_thread.items():
        last = removed.get(thread_digest(thread), min(numbers) - 1)  # a copied thread may begin with a later run
        yield from (f"run {thread}.{n} is there, and a tombstone of it" for n in sorted(numbers) if n <= last)
        missing = [n for n in range(last + 1, max(numbers)) if n not in numbers]
        yield from (f"run {thread}.{n} was removed without a tombstone" for n in missing)
    there = sum(map(len, by_thread.values()))
    if (lost := started - there - found.runs) > 0:
        have = counted(lost, "run has", "runs have")
        yield f"{have} neither a record nor a tombstone; {started} were started"
