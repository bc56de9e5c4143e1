"""Who owns a running run: one row per run, with a fencing token that only grows and a heartbeat.

A challenger takes a run over when its owner is gone for sure, or when the heartbeat has stood still for `LEASE_S` on
the challenger's own monotonic clock. Wall clocks decide nothing. An owner that was taken over finds its token outdated
in the transaction of its next event.
"""

import os
import socket
import sqlite3
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from uuid import uuid4

from graph.ledger.protocol import Lease, RunKey

LEASE_S = 10.0
BEAT_S = 2.0
LOOK_S = 0.25

_holding: set[str] = set()

SCHEMA = """
CREATE TABLE IF NOT EXISTS ledger_leases (
    run INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    token INTEGER NOT NULL,
    beat INTEGER NOT NULL
);
"""


@dataclass(frozen=True)
class Seen:
    """A run's row as it was seen; an empty owner has let go."""

    owner: str
    token: int
    beat: int


def new_owner() -> str:
    """Return a name for one holder of a lease, which tells others on this machine whether its process is alive."""
    owner = f"{_this_process(os.getpid())}|{uuid4().hex}"
    _holding.add(owner)
    return owner


def retire(owner: str) -> None:
    """Note that this process's owner is done, whether or not the file could be told."""
    _holding.discard(owner)


def is_gone(owner: str) -> bool:
    """Whether the owner is no more for sure: it ran on this machine, since the last boot, and is done or dead."""
    match owner.split("|"):
        case host, boot, pid, started, _ if pid.isdecimal() and started:
            here = (host, boot) == (socket.gethostname(), _boot_id())
            done = int(pid) == os.getpid() and owner not in _holding
            return here and (done or _started(int(pid)) != started)
    return False


def claim(db: sqlite3.Connection, run: RunKey, run_id: int, owner: str) -> Lease | Seen:
    """Take a run that nobody owns, or return who owns it."""
    seen = look(db, run_id)
    if seen is None:
        db.execute("INSERT INTO ledger_leases VALUES (?, ?, 1, 0)", (run_id, owner))
        return Lease(run, run_id, 1)
    return seen if seen.owner else take_over(db, run, run_id, owner, seen) or seen


def take_over(db: sqlite3.Connection, run: RunKey, run_id: int, owner: str, seen: Seen) -> Lease | None:
    """Take a run whose row is still as it was seen, or return None."""
    query = "UPDATE ledger_leases SET owner = ?, token = token + 1, beat = 0 WHERE run = ? AND token = ? AND beat = ?"
    changed = db.execute(query, (owner, run_id, seen.token, seen.beat)).rowcount
    return Lease(run, run_id, seen.token + 1) if changed else None


def release(db: sqlite3.Connection, lease: Lease) -> None:
    """Let go of a run; one that was taken over stays with its new owner."""
    query = "UPDATE ledger_leases SET owner = '' WHERE run = ? AND token = ?"
    db.execute(query, (lease.run_id, lease.token))


def disown(db: sqlite3.Connection, owner: str) -> None:
    """Let go of whatever an owner has that never learned its token."""
    db.execute("UPDATE ledger_leases SET owner = '' WHERE owner = ?", (owner,))


def beat(db: sqlite3.Connection, lease: Lease) -> None:
    """Show that the owner is alive."""
    db.execute("UPDATE ledger_leases SET beat = beat + 1 WHERE run = ? AND token = ?", (lease.run_id, lease.token))


def look(db: sqlite3.Connection, run_id: int) -> Seen | None:
    """Return a run's row.

    Raises:
        sqlite3.DatabaseError: It is not what was written.
    """
    row = db.execute("SELECT owner, token, beat FROM ledger_leases WHERE run = ?", (run_id,)).fetchone()
    if row is not None and tuple(map(type, row)) != (str, int, int):
        raise sqlite3.DatabaseError("a lease was changed")
    return Seen(*row) if row else None


@lru_cache(maxsize=1)
def _this_process(pid: int) -> str:
    """Return what tells this process from all others; a forked one has another number."""
    return "|".join((socket.gethostname(), _boot_id(), str(pid), _started(pid) or ""))


def _boot_id() -> str:
    """Return what tells this boot and this space of process numbers from others; containers may share a name."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip() + str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


def _started(pid: int) -> str | None:
    """Return when a process was started, in the kernel's ticks; None where it is dead or this cannot be told."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()  # a process may call itself anything, also half a character
    except OSError:
        return None
    fields = stat.rpartition(b")")[2].decode().split()
    return None if fields[0] == "Z" else fields[19]
