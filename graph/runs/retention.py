"""Threads that are no longer needed: exported if asked for, removed, and checked for what is missing without a word."""

import asyncio
import os
import re
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from planner_executor.graph.calls.threads import run_sync
from planner_executor.graph.errors import MissingRunError, RunOwnedError, UnknownEventError
from planner_executor.graph.errors.file_faults import file_faults
from planner_executor.graph.ledger.disk import sync
from planner_executor.graph.ledger.export import to_bytes
from planner_executor.graph.ledger.run_store import Removal, RunStore
from planner_executor.graph.ledger.seal import SealKey, key_from_environment
from planner_executor.graph.ledger.tombstone import Tombstone, Tombstones, chain_faults, gaps
from planner_executor.graph.ledger.transcript import Transcript
from planner_executor.graph.ledger.verification import verify
from planner_executor.graph.policy.retention import KeptThread, Retention, obstacle_of, slices_of, threads_of
from planner_executor.graph.record.projection import project
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.summary import CHANGED, RunSummary

PAGE = 500
TOGETHER = 250
"""So many events are removed in one transaction, for which others who write wait: 5 ms in a file (decision 179)."""
PLAIN_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,79}")
HEAD_CHARACTERS = 12


class _Thread(NamedTuple):
    """A thread as it was read: its runs, the forks in its family, and whether a process works on it.

    It has no runs if somebody else removed it since it was found.
    """

    name: str
    last: str
    runs: Sequence[Transcript] = ()
    forks: Sequence[tuple[RunKey, str]] = ()
    is_worked_on: bool = False


@dataclass(frozen=True)
class Pruned:
    """What was removed: thread -> names of its runs; and what stays.

    `is_smaller`: the space was given back. False if runs go on in a file of an earlier version; it is used again.
    """

    threads: dict[str, tuple[str, ...]]
    kept: tuple[KeptThread, ...]
    is_smaller: bool = True

    @property
    def runs(self) -> int:
        """The number of runs that were removed."""
        return sum(map(len, self.threads.values()))


async def prune(
    ledger: RunStore, wanted: Retention, by: str, *, export: Path | None = None, dry_run: bool = False
) -> Pruned:
    """Remove threads with all that is stored of them; each is removed as a whole or not at all.

    They go in slices, each in one transaction; what was removed before an interruption stays removed.

    Args:
        ledger: The ledger.
        wanted: The threads to remove.
        by: The person who asked for it, for the tombstones.
        export: A folder; each run is on disk there, with its seal, before it is removed.
        dry_run: Return what would be removed, and change nothing.

    Raises:
        InputError: The folder cannot be written.
        LedgerSealError: The chain of tombstones is not sealed with the ledger's key.
        LedgerUnavailableError: The database cannot be used; threads removed before stay removed.
    """
    if export is not None and not dry_run:
        await run_sync(lambda: _make_folder(export))
    due: list[Sequence[RunSummary]] = [runs for runs in threads_of(await _summaries(ledger)) if wanted.is_due(runs)]
    done: dict[str, tuple[str, ...]] = {}
    kept: list[KeptThread] = []
    while due:
        again = []
        for threads in slices_of(due, TOGETHER):
            for runs, found in zip(threads, await _removed(ledger, threads, done, by, export, dry_run), strict=True):
                if found is None:
                    done[runs[0].thread] = tuple(run.id for run in runs)
                elif found.obstacle == "forked":
                    # Its forks may go in this call too, and then it is free.
                    again.append((runs, found))
                else:
                    kept.append(found)
        if len(again) == len(due):  # no thread went that one of these waits for
            kept += [found for _, found in again]
            break
        due = [runs for runs, _ in again]
    return Pruned(done, tuple(kept), dry_run or await ledger.give_back())


async def missing(ledger: RunStore, key: SealKey | None = None) -> tuple[Tombstones, list[str]]:
    """Return the tombstones, and findings: a changed or missing one, and runs that were removed without one.

    Args:
        ledger: The ledger.
        key: The key that must have sealed the chain; by default the key from the environment.
    """
    found, runs = await ledger.tombstones(), await ledger.runs()
    started = int((await ledger.counters()).value("runs_total"))
    faults = chain_faults(found, key or key_from_environment())
    return found, [*faults, *gaps([(run.thread, run.n) for run in runs], found, started)]


async def _summaries(ledger: RunStore) -> list[RunSummary]:
    """Return all runs, the latest first."""
    found: list[RunSummary] = []
    while True:
        page = await ledger.page(RunFilter(limit=PAGE, before=found[-1].id if found else None))
        found += page
        if len(page) < PAGE:
            return found


async def _removed(
    ledger: RunStore,
    threads: Sequence[Sequence[RunSummary]],
    gone: Container[str],
    by: str,
    export: Path | None,
    dry_run: bool,
) -> list[KeptThread | None]:
    """Remove threads in one transaction, and return for each None, or what keeps it."""
    read = await asyncio.gather(*(_read(ledger, runs) for runs in threads))
    found = await run_sync(lambda: list(_obstacles(read, gone)))
    if dry_run:
        return found
    going = [one.runs for one, kept in zip(read, found, strict=True) if kept is None]
    if export is not None:
        await run_sync(lambda: _export(export, [transcript for runs in going for transcript in runs]))
    # Removed as they were read: if something was written since, a thread stays.
    removals = iter(await ledger.remove(going, by) if going else ())
    return [kept or _kept(one, next(removals)) for one, kept in zip(read, found, strict=True)]


async def _read(ledger: RunStore, runs: Sequence[RunSummary]) -> _Thread:
    found, keys = _Thread(runs[0].thread, runs[-1].id), [RunKey(run.thread, run.n) for run in runs]
    try:
        transcripts = [await ledger.transcript(run) for run in keys]
        is_worked_on = any([await ledger.is_worked_on(run) for run in keys])
    # Another process has removed it since it was listed.
    except MissingRunError:
        return found
    return found._replace(runs=transcripts, forks=await ledger.forks(found.name), is_worked_on=is_worked_on)


def _obstacles(read: Iterable[_Thread], gone: Container[str]) -> Iterator[KeptThread | None]:
    """Yield for each thread what keeps it, or None: it goes, with its forks among those before it."""
    going: list[str] = []
    for one in read:
        others = [(key, source) for key, source in one.forks if key.thread not in (one.name, *going)]
        found = _obstacle(one, [(key.id, source) for key, source in others if key.thread not in gone])
        if found is None:
            going.append(one.name)
        yield found


def _obstacle(one: _Thread, forks: Collection[tuple[str, str]]) -> KeptThread | None:
    if not one.runs:
        # Gone between the list and the reading.
        return KeptThread(one.last, "changed")
    # The chain is checked first: of a damaged record no statement on what it waits for can be trusted.
    if not all(map(_is_whole, one.runs)):
        return KeptThread(one.last, "damaged")
    try:
        records = [project(transcript.events()) for transcript in one.runs]
    except UnknownEventError:
        return KeptThread(one.last, "newer")
    except CHANGED:
        return KeptThread(one.last, "damaged")
    kept = obstacle_of(records, forks)
    # Only if nothing else is in the way: the other obstacles have a next move to name.
    return KeptThread(one.last, "executing") if kept is None and one.is_worked_on else kept


def _kept(one: _Thread, found: Removal) -> KeptThread | None:
    """Return what kept a thread in the transaction."""
    if isinstance(found, Tombstone):
        return None
    return KeptThread(one.last, "executing" if isinstance(found, RunOwnedError) else "changed")


def _is_whole(transcript: Transcript) -> bool:
    """Whether a record is intact, as far as it can be checked with the key of the environment."""
    key = key_from_environment()
    return verify(transcript, key if key is not None and key.id == transcript.key else None).is_whole


def _make_folder(folder: Path) -> None:
    with file_faults("export", folder, "name another folder"):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _export(folder: Path, read: Sequence[Transcript]) -> None:
    """Write runs to files that only their owner can read, and wait until they are on disk.

    A name has the hash of the last event: what an interrupted removal left there is the same file.
    """
    with file_faults("export", folder, "name another folder"):
        for transcript in read:
            head = transcript.head.hex()[:HEAD_CHARACTERS]
            _write(folder / f"{_file_name(transcript.thread)}.{transcript.n}-{head}.jsonl", to_bytes(transcript))
        # The names have to be on disk too, before the runs are gone.
        sync(folder)


def _write(path: Path, content: bytes) -> None:
    # A file that was only begun never has the name of a whole one.
    part = path.with_name(path.name + ".part")
    try:
        with os.fdopen(os.open(part, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _file_name(thread: str) -> str:
    """Return the beginning of a file's name; a thread may be called anything."""
    if PLAIN_NAME.fullmatch(thread):
        return thread
    return sha256(thread.encode("utf-8", "surrogateescape")).hexdigest()[:32]
