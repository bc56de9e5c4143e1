"""Who owns a run: one name per holder of a lease, which tells others on the machine whether its process is alive."""

import asyncio
import os
import socket
from functools import lru_cache
from pathlib import Path
from uuid import uuid4

_holding: set[str] = set()
_process_read = 0


def new_owner() -> str:
    """Return the name of a new holder of a lease; the first of a process reads files, see `named_owner`."""
    owner = f"{_this_process(os.getpid())}|{uuid4().hex}"
    _holding.add(owner)
    return owner


async def named_owner() -> str:
    """Return the name of a new holder of a lease; the event loop's thread reads no files for it."""
    if _process_read != os.getpid():
        await asyncio.to_thread(_this_process, os.getpid())
    return new_owner()


def retire(owner: str) -> None:
    """Note that this process's owner is done, whether or not the database could be told."""
    _holding.discard(owner)


def is_gone(owner: str) -> bool:
    """Whether the owner is dead for sure: it ran on this machine, since the last boot, and is done or killed.

    It reads files, so not on the event loop's thread. An owner of which nothing is known is not gone: its heartbeat
    decides.
    """
    match owner.split("|"):
        case host, boot, pid, started, _ if pid.isdecimal() and started:
            here = (host, boot) == (socket.gethostname(), _boot_id())
            done = int(pid) == os.getpid() and owner not in _holding
            return here and (done or _started(int(pid)) != started)
    return False


@lru_cache(maxsize=1)
def _this_process(pid: int) -> str:
    """Return what tells this process from all others; a forked one has another number."""
    global _process_read
    found = "|".join((socket.gethostname(), _boot_id(), str(pid), _started(pid) or ""))
    _process_read = pid
    return found


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
