"""Services on a run's record: audit report, verification, export and redaction."""

import os
from pathlib import Path

from planner_executor.graph.calls.threads import run_sync
from planner_executor.graph.errors import InputError, LedgerCorruptError
from planner_executor.graph.errors.file_faults import file_faults
from planner_executor.graph.large_work import done_aside
from planner_executor.graph.ledger.export import export_faults, from_bytes, to_bytes
from planner_executor.graph.ledger.run_store import Redacted
from planner_executor.graph.ledger.seal import SealKey, key_from_environment
from planner_executor.graph.ledger.transcript import Transcript
from planner_executor.graph.ledger.verification import Verification, verify
from planner_executor.graph.plain_text.sanitize import check_texts
from planner_executor.graph.record.artifacts import artifacts_named
from planner_executor.graph.record.run_key import run_name
from planner_executor.graph.runs.runs import Runs
from planner_executor.graph.settings.identity import local_user
from planner_executor.graph.text.audit import Audit
from planner_executor.graph.text.event_text import SECTIONS, Section
from planner_executor.graph.words.name_list import right_name


async def audited(runs: Runs, name: str, *only: Section) -> Audit:
    """Return a run as a story, with the artifacts that its events name; of the sections named, or whole.

    Raises:
        UnknownRunError: There is no such run.
        LedgerError: Its record cannot be read.
        InputError: There is no such section.
    """
    for wrong in (one for one in only if one not in SECTIONS):
        raise InputError("only", f"there is no section {wrong!r}; {right_name(str(wrong), SECTIONS)}")
    key = await runs.find(name)
    events = await runs.ledger.events(key)
    named = await done_aside(len(events), lambda: artifacts_named(events))
    artifacts = {found: await runs.ledger.artifact(found) for found in named}
    return await done_aside(len(events), lambda: Audit(run_name(key.thread, key.n), events, artifacts).only(*only))


async def verified(runs: Runs, name: str, head: str | None = None, key: SealKey | None = None) -> Verification:
    """Verify a run's record; faults are returned as data, not raised.

    Args:
        runs: Runs of the ledger that holds the run.
        name: Its id, or its thread.
        head: A hash that was noted of one of its events: the record must still hold it.
        key: The key that it must be sealed with; the environment's by default.

    Raises:
        UnknownRunError: There is no such run.
        LedgerUnavailableError: The database cannot be read.
    """
    transcript = await runs.ledger.transcript(await runs.find(name))
    sealed_with = key or key_from_environment()
    return await done_aside(len(transcript.rows), lambda: verify(transcript, sealed_with, head))


def verified_file(path: Path, head: str | None = None, key: SealKey | None = None) -> Verification:
    """Verify an exported run, without a database; see `verified`.

    Raises:
        ExportError: It is no exported run, or a line of it is not as it was written.
        InputError: The file cannot be read.
    """
    content = _read(path)
    found = verify(from_bytes(content, str(path)), key or key_from_environment(), head)
    return found._replace(faults=(*found.faults, *export_faults(content)))


def transcript_in(path: Path) -> Transcript:
    """Return the run in an exported file, whole.

    Raises:
        ExportError: The file is not an exported run, or is damaged.
        InputError: The file cannot be read.
    """
    return whole(from_bytes(_read(path), str(path)), str(path))


def whole(transcript: Transcript, name: str) -> Transcript:
    """Return a record that was checked; `name` is how messages call the place it was read from.

    Raises:
        LedgerCorruptError: The record is damaged.
    """
    found = verify(transcript)
    if found.fault is not None:
        raise LedgerCorruptError(name, found.run, found.fault.seq, found.fault.why)
    for seq, artifact in transcript.lost_artifacts().items():
        raise LedgerCorruptError(name, found.run, seq, f"names artifact {artifact}, which is lost or changed")
    return transcript


async def exported(runs: Runs, name: str, path: Path) -> Verification:
    """Write a run's whole record to a new file with mode 0600, and return its verification.

    Raises:
        UnknownRunError: There is no such run.
        LedgerError: The record cannot be read or is damaged.
        InputError: The file cannot be written, or is there already.
    """
    transcript = whole(await runs.ledger.transcript(await runs.find(name)), runs.ledger.name)
    await run_sync(lambda: _write(path, to_bytes(transcript)))
    return verify(transcript, key_from_environment())


async def redacted(runs: Runs, name: str, value: str, reason: str, by: str | None = None) -> Redacted:
    """Take a value out of all that is kept of a run and its thread; see `graph.ledger.run_store.RunStore.redact`.

    Raises:
        UnknownRunError: There is no such run.
        InputError: The reason cannot be kept.
    """
    check_texts("reason", reason)
    return await runs.ledger.redact((await runs.find(name)).thread, value, by or str(local_user()), reason)


def _write(path: Path, content: bytes) -> None:
    check_texts("file", str(path))
    with file_faults("file", path, "name another file"):
        try:
            # Private, and never over a file that is there: a record may hold what others must not read.
            with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
                file.write(content)
        except FileExistsError:
            raise InputError("file", f"{path} is there already; name a new file") from None


def _read(path: Path) -> bytes:
    check_texts("file", str(path))
    with file_faults("file", path, "name another file"):
        return path.read_bytes()
