"""Which files of folders the user has trusted: by digest, so that a file that changes is trusted no longer.

The store is a file of the user's own: an object path -> SHA-256 of what the file held when it was trusted. The
content is kept beside it, to say later what has changed.
"""

import hashlib
import json
import os
import stat
import tempfile
from contextlib import suppress
from os.path import realpath
from pathlib import Path

from planner_executor.graph.errors import ConfigError

CONTENTS = "trusted"
"""The folder beside the store with the contents, each named by its digest."""
PRIVATE_FOLDER, OTHERS_WRITE = 0o700, 0o022


def store_path() -> Path | None:
    """Return the file that holds the digests, in XDG_STATE_HOME or `~/.local/state`; None without a home folder.

    A relative one would be a part of the folder that the settings come from.
    """
    named = Path(os.environ.get("XDG_STATE_HOME") or "")
    try:
        state = named if named.is_absolute() else Path.home() / ".local" / "state"
    except RuntimeError:
        return None
    return state / "planner-executor" / "trusted.json" if state.is_absolute() else None


def is_trusted(file: Path, content: bytes) -> bool:
    """Whether the user has trusted a file with just this content, which the caller has read and goes on to use.

    Raises:
        ConfigError: The store cannot be read, or others can write it.
    """
    return _read().get(_name(file)) == digest_of(content)


def content_trusted(file: Path) -> bytes | None:
    """Return what a file held when it was trusted; None if it is not, or if that was not kept.

    Raises:
        ConfigError: The store cannot be read, or others can write it.
    """
    store, digest = store_path(), _read().get(_name(file))
    if store is None or digest is None:
        return None
    try:
        content = (store.parent / CONTENTS / digest).read_bytes()
    except OSError:
        return None
    return content if digest_of(content) == digest else None


def trust(file: Path, content: bytes) -> None:
    """Remember that the user trusts a file with just this content; files that are gone are forgotten.

    Raises:
        ConfigError: The store cannot be read or written.
    """
    kept = {path: digest for path, digest in _read().items() if os.path.exists(path)}  # noqa: PTH110  (any text)
    _write({**kept, _name(file): digest_of(content)}, content)


def forget(file: Path) -> bool:
    """Trust a file no longer; return whether it was trusted.

    Raises:
        ConfigError: The store cannot be read or written.
    """
    known = dict(_read())
    was_there = known.pop(_name(file), None) is not None
    if was_there:
        _write(known)
    return was_there


def digest_of(content: bytes) -> str:
    """Return the digest of a file's content."""
    return hashlib.sha256(content).hexdigest()


def _name(file: Path) -> str:
    return realpath(file)


def _read() -> dict[str, str]:
    store = store_path()
    if store is None:
        return {}
    try:
        if fault := _fault(store):
            raise ConfigError(f"{store} {fault}; remove it, and trust your files again")
        found = json.loads(store.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{store} cannot be read: {error}; remove it, and trust your files again") from error
    if not isinstance(found, dict):
        raise ConfigError(f"{store} is not a list of trusted files; remove it, and trust your files again")
    return found


def _fault(store: Path) -> str | None:
    """Return the reason why the trust store cannot be relied on: another user may have written it."""
    for path in (store, store.parent):
        found = path.stat()
        if stat.S_IMODE(found.st_mode) & OTHERS_WRITE:
            return "can be written by others"
        if hasattr(os, "geteuid") and found.st_uid != os.geteuid():
            return "belongs to another user"
    return None


def _write(digests: dict[str, str], content: bytes | None = None) -> None:
    """Replace the store, add a content to those kept, and remove those that no file is trusted with."""
    store = store_path()
    if store is None:
        raise ConfigError("there is no folder to keep trusted files in; set XDG_STATE_HOME or HOME")
    written: str | None = None
    try:
        store.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        handle, written = tempfile.mkstemp(dir=store.parent)  # 0600
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(digests, file, indent=1)
        # In one step: a process that reads meanwhile sees the old list or the new one.
        Path(written).replace(store)
    except OSError as error:
        if written is not None:
            with suppress(OSError):
                Path(written).unlink()
        raise ConfigError(f"{store} cannot be written: {error.strerror}") from error
    with suppress(OSError):  # without it, what changed cannot be said
        _keep(store.parent / CONTENTS, digests, content)


def _keep(contents: Path, digests: dict[str, str], content: bytes | None) -> None:
    contents.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    if content is not None:
        (contents / digest_of(content)).write_bytes(content)
    for kept in contents.iterdir():
        # A content is only there to be compared with what a file holds now; nobody asks for that of others.
        if kept.name not in digests.values():
            kept.unlink(missing_ok=True)
