"""Threads that are no longer needed: exported if asked for, removed, and checked for what is missing without a word."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from planner_executor.graph.calls.threads import run_sync
from planner_executor.graph.errors import InputError, RunOwnedError, StaleRunError, UnknownEventError
from planner_executor.graph.ledger.export import to_bytes
from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.ledger.seal import SealKey, key_from_environment
from planner_executor.graph.ledger.tombstone import Tombstones, chain_faults, gaps
from planner_executor.graph.ledger.transcript import Transcript
from planner_executor.graph.ledger.verification import verify
from planner_executor.graph.policy.retention import KeptThread, Retention, obstacle_of, threads_of
from planner_executor.graph.record.projection import project
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.summary import CHANGED, RunSummary

PAGE = 500
PLAIN_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,79}")
HEAD_CHARACTERS = 12


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
    due = [runs for runs in threads_of(await _summaries(ledger)) if wanted.is_due(runs)]
    done: dict[str, tuple[str, ...]] = {}
    kept: list[KeptThread] = []
    while due:
        again = []
        for runs in due:
            found = await _removed(ledger, runs, done, by, export, dry_run)
            if found is None:
                done[runs[0].thread] = tuple(run.id for run in runs)
            elif found.obstacle == "forked":
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
    runs: Sequence[RunSummary],
    gone: dict[str, tuple[str, ...]],
    by: str,
    export: Path | None,
    dry_run: bool,
) -> KeptThread | None:
    """Remove a thread, and return None; or what keeps it."""
    last = runs[-1].id
    read = [await ledger.transcript(RunKey(run.thread, run.n)) for run in runs]
    if not all(map(_is_whole, read)):
        return KeptThread(last, "damaged")
    try:
        records = [project(transcript.events()) for transcript in read]
    except UnknownEventError:
        return KeptThread(last, "newer")
    except CHANGED:
        return KeptThread(last, "damaged")
    thread = runs[0].thread
    forks = [(key.id, source) for key, source in await ledger.forks() if key.thread not in (thread, *gone)]
    if (kept := obstacle_of(records, forks)) is not None:
        return kept
    if dry_run:
        is_worked_on = any([await ledger.is_worked_on(RunKey(run.thread, run.n)) for run in read])
        return KeptThread(last, "executing") if is_worked_on else None
    if export is not None:
        await run_sync(lambda: _export(export, read))
    try:
        # Removed as it was read: if something was written since, the thread stays.
        await ledger.remove(read, by)
    except RunOwnedError:
        return KeptThread(last, "executing")
    except StaleRunError:
        return KeptThread(last, "changed")
    return None


def _is_whole(transcript: Transcript) -> bool:
    """Whether a record is intact, as far as it can be checked with the key of the environment."""
    key = key_from_environment()
    return verify(transcript, key if key is not None and key.id == transcript.key else None).is_whole


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InputError("export", f"{folder}: {error.strerror or error}") from error


def _export(folder: Path, read: Sequence[Transcript]) -> None:
    """Write runs to files that only their owner can read, and wait until they are on disk.

    A name has the hash of the last event: what an interrupted removal left there is the same file.
    """
    try:
        for transcript in read:
            head = transcript.head.hex()[:HEAD_CHARACTERS]
            _write(folder / f"{_file_name(transcript.thread)}.{transcript.n}-{head}.jsonl", to_bytes(transcript))
        # The names have to be on disk too, before the runs are gone.
        with _opened(folder) as listing:
            os.fsync(listing)
    except OSError as error:
        raise InputError("export", f"{folder}: {error.strerror or error}") from error


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


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    listing = os.open(folder, os.O_RDONLY)
    try:
        yield listing
    finally:
        os.close(listing)


def _file_name(thread: str) -> str:
    """Return the beginning of a file's name; a thread may be called anything."""
    if PLAIN_NAME.fullmatch(thread):
        return thread
    return sha256(thread.encode("utf-8", "surrogateescape")).hexdigest()[:32]
