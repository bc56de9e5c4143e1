"""Where a trial works: a folder of its own with a fresh copy of the workspace, and only tools that stay within it."""

import hashlib
import shutil
import stat
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool

from graph.errors import SuiteError, ToolConfigError, listed
from graph.evaluation.suite import Case, Suite
from graph.plan.catalog import ToolSpec
from tools.errors import ToolError
from tools.files.root import Root

Toolset = Callable[[Path, Path], Sequence[BaseTool | Callable[..., Any]]]
"""Takes a folder of documents and a workspace, returns tools over them."""

MOST_READ_BYTES = 1_000_000


@dataclass(frozen=True)
class Sandbox:
    """The folders of one trial."""

    documents: Path
    workspace: Path

    @classmethod
    def fresh(cls, suite: Suite, case: Case, folder: Path) -> "Sandbox":
        """Make a trial's folder, which must not be there yet.

        Raises:
            SuiteError: The workspace cannot be copied.
        """
        workspace, documents = folder / "workspace", suite.documents_of(case)
        source = suite.workspace_of(case)
        try:
            folder.mkdir(parents=True)
            if source is None:
                workspace.mkdir()
            else:
                shutil.copytree(source, workspace, symlinks=True)
            if documents is None:
                documents = folder / "documents"
                documents.mkdir()
        except OSError as error:
            raise SuiteError(suite.name, f"case {case.id}: no workspace can be made for it: {error}") from error
        return cls(documents, workspace)

    def look(self, path: str) -> str | None:
        """Say what regular file is at a path in the workspace, None for none; no link is followed."""
        try:
            with self._root.place(path) as place:
                found = place.look()
        except (ToolError, OSError):
            return None
        return f"{found.st_size} bytes" if found is not None and stat.S_ISREG(found.st_mode) else None

    def text(self, path: str) -> str | None:
        """Return the text of a file in the workspace, at most a megabyte of it; None where there is none."""
        try:
            with closing(self._root.open(path)) as stream:
                return stream.read(MOST_READ_BYTES).decode("utf-8", errors="replace")
        except (ToolError, OSError):
            return None

    @property
    def _root(self) -> Root:
        return Root(self.workspace, "workspace")


def usable(specs: Iterable[ToolSpec], suite: Suite, workspace: Path) -> list[str]:
    """Return the names of the tools that the arms may use; the policy of a trial denies all others.

    A tool that only reads this machine may be used, and one that writes in the workspace. Any other could do in earnest
    what is only tried, so it may be used where the suite names it in `allow`.

    Raises:
        ToolConfigError: The suite names a tool that is not there, or that could reach beyond the workspace.
    """
    known = {spec.name: spec for spec in specs}
    for name in (*(suite.tools or ()), *suite.allow):
        if name not in known:
            raise ToolConfigError(name, f"there is no such tool; there are {listed(list(known), 40)}")
    stay = [name for name, spec in known.items() if name in suite.allow or stays_within(spec, workspace)]
    if suite.tools is None:
        return stay
    if beyond := [name for name in suite.tools if name not in stay]:
        why = f"its effect is {known[beyond[0]].effect}, beyond the copy that a trial works on"
        raise ToolConfigError(beyond[0], f"{why}; name it in allow if each trial may do this in earnest")
    return list(suite.tools)


def stays_within(spec: ToolSpec, workspace: Path) -> bool:
    """Whether a tool changes nothing but files in the workspace, and lets nothing leave the machine."""
    if spec.effect != "write" or spec.folder is None:
        return spec.effect == "read"
    return Path(spec.folder).resolve().is_relative_to(workspace.resolve())


def contents_digest(folder: Path | None) -> str | None:
    """Return a digest of the names and bytes of all files in a folder, None for no folder.

    Raises:
        OSError: A file cannot be read.
    """
    if folder is None:
        return None
    summed = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        summed.update(file.relative_to(folder).as_posix().encode(errors="surrogateescape") + b"\0")
        with file.open("rb") as stream:
            summed.update(hashlib.file_digest(stream, "sha256").digest())
    return summed.hexdigest()
