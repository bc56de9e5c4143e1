"""Owner names: one per holder of a lease; other processes of the machine can check whether its process is alive."""

import os
import socket
from functools import lru_cache
from pathlib import Path
from uuid import uuid4

_holding: set[str] = set()
_process_read: int | None = None


def new_owner() -> str:
    """Return a new owner name. The first call of a process reads files; on an event loop use `named_owner`."""
    owner = f"{this_process(os.getpid())}|{uuid4().hex}"
    _holding.add(owner)
    return owner


async def named_owner() -> str:
    """Return a new owner name without reading files on the event loop's thread."""
    if _process_read != os.getpid():
        import asyncio  # whoever lists runs owns none, and needs no event loop

        await asyncio.to_thread(this_process, os.getpid())
    return new_owner()


def retire(owner: str) -> None:
    """Mark an owner of this process as finished, even if its release could not be written."""
    _holding.discard(owner)


def is_gone(owner: str) -> bool:
    """Whether the owner is known to be dead: it ran on this machine since the last boot, and finished or was killed.

    Reads files; do not call it on the event loop's thread. False for owners of other machines: for them the heartbeat
    decides, see `docs/decisions/0009-lease.md`.
    """
    match owner.split("|"):
        case host, boot, pid, started, _ if pid.isdecimal() and started:
            here = (host, boot) == (socket.gethostname(), _boot_id(os.getpid()))
            # This process lives, but an owner of it may be retired whose release could not be written.
            done = int(pid) == os.getpid() and owner not in _holding
            return here and (done or _started(int(pid)) != started)
    return False


def may_live(owner: str | None) -> bool:
    """Whether there is an owner, and it is not known to be dead; see `is_gone`."""
    return bool(owner) and not is_gone(str(owner))


@lru_cache(maxsize=1)
def this_process(pid: int) -> str:
    """Return the identity of this process: host, boot, process id and start time (a process id alone is reused)."""
    global _process_read
    found = "|".join((socket.gethostname(), _boot_id(pid), str(pid), _started(pid) or ""))
    _process_read = pid
    return found


@lru_cache(maxsize=1)
def _boot_id(_pid: int) -> str:
    """Return the id of this boot and of a process's namespace; containers may share a host name.

    Neither changes while a process lives; a child may be in another namespace.
    """
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip() + str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


def _started(pid: int) -> str | None:
    """Return a process's start time in kernel ticks, or None if it is dead or unknown."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()  # bytes: a process name need not be valid UTF-8
    except OSError:
        return None
    fields = stat.rpartition(b")")[2].decode().split()
    # A zombie has ended, and waits for its parent alone.
    # Counted behind the name, which may hold spaces and brackets: field 22 of the whole line.
    return None if fields[0] == "Z" else fields[19]
