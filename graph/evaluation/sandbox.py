"""The sandbox of a trial: a folder with a fresh copy of the workspace, and only tools confined to it."""

import hashlib
import shutil
import stat
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool

from planner_executor.graph.errors import SuiteError, ToolConfigError
from planner_executor.graph.evaluation.suite import Case, Suite
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.words.name_list import counted, listed
from planner_executor.tools.errors import ToolError
from planner_executor.tools.extras import absent_tools
from planner_executor.tools.files.root import Root

Toolset = Callable[[Path, Path], Sequence[BaseTool | Callable[..., Any]]]
"""Factory of tools over a folder of documents and a workspace."""

MAX_READ_BYTES = 1_000_000


@dataclass(frozen=True)
class Sandbox:
    """The folders of one trial."""

    documents: Path
    workspace: Path

    @classmethod
    def fresh(cls, suite: Suite, case: Case, folder: Path) -> "Sandbox":
        """Create a trial's folder, which must not exist yet.

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
                shutil.copytree(source, workspace, symlinks=True)  # copied links are never followed by the tools
            if documents is None:
                documents = folder / "documents"
                documents.mkdir()
        except OSError as error:
            raise SuiteError(suite.name, f"case {case.id}: its workspace cannot be created: {error}") from error
        return cls(documents, workspace)

    def describe_file(self, path: str) -> str | None:
        """Return the size of a regular file in the workspace as text, or None; links are not followed."""
        try:
            with self._root.place(path) as place:
                found = place.look()
        except (ToolError, OSError):
            return None
        return counted(found.st_size, "byte") if found is not None and stat.S_ISREG(found.st_mode) else None

    def text(self, path: str) -> str | None:
        """Return the text of a workspace file, at most `MAX_READ_BYTES` of it, or None if there is no file."""
        try:
            with closing(self._root.open(path)) as stream:
                return stream.read(MAX_READ_BYTES).decode("utf-8", errors="replace")
        except (ToolError, OSError):
            return None

    @property
    def _root(self) -> Root:
        return Root(self.workspace, "workspace")


def allowed_tools(specs: Iterable[ToolSpec], suite: Suite, workspace: Path) -> list[str]:
    """Return the names of the tools that the arms may use; the trial's policy denies all others.

    Allowed are tools that only read this machine and tools confined to the workspace. Any other tool would have real
    effects, so it must be named in the suite's `allow`.

    Raises:
        ToolConfigError: The suite names an unknown tool, or one that could reach beyond the workspace.
    """
    known = {spec.name: spec for spec in specs}
    for name in (*(suite.tools or ()), *suite.allow):
        if name not in known:
            missing = f"it does not exist; known tools: {listed(list(known), 40)}"
            raise ToolConfigError(name, absent_tools().get(name, missing))
    # Named in `allow` by whoever runs the suite, or unable to leave the copy of the workspace.
    allowed = [name for name, spec in known.items() if name in suite.allow or is_confined(spec, workspace)]
    if suite.tools is None:
        return allowed
    if beyond := [name for name in suite.tools if name not in allowed]:
        reason = f"its effect is {known[beyond[0]].effect}, beyond the trial's copy of the workspace"
        raise ToolConfigError(beyond[0], f"{reason}; name it in allow if trials may have this real effect")
    return list(suite.tools)


def is_confined(spec: ToolSpec, workspace: Path) -> bool:
    """Whether a tool only reads this machine, or writes only in the workspace."""
    if spec.effect != "write" or spec.folder is None:
        return spec.effect == "read"
    return Path(spec.folder).resolve().is_relative_to(workspace.resolve())


def contents_digest(folder: Path | None) -> str | None:
    """Return a digest of the names and contents of all files in a folder, None for None.

    Raises:
        OSError: A file cannot be read.
    """
    if folder is None:
        return None
    hasher = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        # A NUL stands in no name, so that no name can pass for the end of another one.
        hasher.update(file.relative_to(folder).as_posix().encode(errors="surrogateescape") + b"\0")
        with file.open("rb") as stream:
            hasher.update(hashlib.file_digest(stream, "sha256").digest())
    return hasher.hexdigest()
