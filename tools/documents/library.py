"""The documents of one folder, read once and read again when a file changes."""

import os
import stat
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from planner_executor.tools.coverage import coverage
from planner_executor.tools.documents.conversion import CONVERTERS
from planner_executor.tools.documents.loading import ACCEPTED, KINDS, load
from planner_executor.tools.documents.passages import Document
from planner_executor.tools.documents.pdf_blocks import PDF_BOUNDS
from planner_executor.tools.errors import NothingFound, PathRefused, SourceNotReadable
from planner_executor.tools.folder import Folder
from planner_executor.tools.workers.process import Bounds

LARGEST_FILE_BYTES = 5_000_000
_MOST_FILES = 5_000
_LONGEST_LOOK_S = 40.0
"""How long new and changed files are read before the others have to wait; the tools stop at 60 seconds."""
_FEW = 5

Stamp = tuple[int, int, int]


@dataclass(frozen=True)
class Catalogue:
    """The current content of a folder: documents in order of their path, and source -> why it was skipped."""

    documents: tuple[Document, ...]
    skipped: dict[str, str]

    def coverage(self) -> dict[str, Any]:
        """Return how many documents there are and what was skipped, as results of tools say it."""
        return coverage(len(self.documents), self.skipped)


class Library:
    """Reads documents of one folder and nothing outside it; may be used from several threads.

    Args:
        folder: The folder of the documents; may be created later.
        without: Folders inside it that hold no documents, such as the one that reports are written to.
        pdf_bounds: The limits for reading one PDF.
    """

    def __init__(self, folder: Path, without: Sequence[Path] = (), pdf_bounds: Bounds = PDF_BOUNDS) -> None:
        self._pdf_bounds = pdf_bounds
        self._files = Folder(folder, without)
        self.folder = self._files.path
        self._lock = Lock()
        self._read: dict[str, tuple[Stamp, Document | SourceNotReadable]] = {}

    def catalogue(self) -> Catalogue:
        """Return the documents, reading only files that are new or changed.

        Raises:
            NothingFound: The folder is missing or nothing in it can be read.
        """
        with self._lock:
            documents, skipped = self._refresh()
        if not documents:
            raise NothingFound(_no_documents(self.folder, skipped))
        return Catalogue(documents, skipped)

    def file(self, source: str) -> Path:
        """Return the file behind a document's name.

        Raises:
            PathRefused: The name leads out of the folder, or into a part of it that is not read.
            SourceNotReadable: There is no such document.
        """
        file = self._files.place(source)
        if file.suffix.lower() not in KINDS:
            raise SourceNotReadable(source, _other_kind(file.suffix.lower()))
        try:
            found = file.stat()
        except OSError as error:
            raise SourceNotReadable(source, "there is no such file; list_documents names those there are") from error
        if reason := _fault(found):
            raise SourceNotReadable(source, reason)
        return file

    def _refresh(self) -> tuple[tuple[Document, ...], dict[str, str]]:
        # Starts empty, so that deleted files are forgotten.
        known, self._read = self._read, {}
        skipped: dict[str, str] = {}
        enough = time.monotonic() + _LONGEST_LOOK_S
        for source in self._files.walk():
            if len(self._read) >= _MOST_FILES:
                skipped["…"] = f"more than {_MOST_FILES} documents; the rest was not read"
                break
            try:
                found = self._read[source] = self._read_again(source, self.file(source), known.get(source), enough)
            except (PathRefused, SourceNotReadable) as error:
                # A file's name may be no UTF-8, and half a surrogate pair cannot be recorded.
                skipped[_printable(source)] = error.reason
                continue
            if isinstance(found[1], SourceNotReadable):
                skipped[source] = found[1].reason
        documents = tuple(found for _, found in self._read.values() if isinstance(found, Document))
        return documents, skipped

    def _read_again(
        self, source: str, file: Path, known: tuple[Stamp, Document | SourceNotReadable] | None, enough: float
    ) -> tuple[Stamp, Document | SourceNotReadable]:
        try:
            now = file.stat()
        except OSError as error:  # deleted since it was listed
            raise SourceNotReadable(source, "gone while it was being read") from error
        stamp = (now.st_mtime_ns, now.st_size, now.st_ino)
        if known and known[0] == stamp:
            return known
        if time.monotonic() > enough:
            raise SourceNotReadable(source, "not read yet: the documents before it took too long; ask again")
        try:
            return stamp, load(source, file, self._pdf_bounds)
        except SourceNotReadable as error:
            # Kept with its stamp: a file that cannot be read is tried again only once it has changed.
            return stamp, error


def _fault(found: os.stat_result) -> str | None:
    if not stat.S_ISREG(found.st_mode):
        return "not a regular file"
    if found.st_size > LARGEST_FILE_BYTES:
        return f"larger than {LARGEST_FILE_BYTES // 1_000_000} MB"
    return None


def _printable(source: str) -> str:
    return source.encode("utf-8", "replace").decode("utf-8")


def _no_documents(folder: Path, skipped: Mapping[str, str]) -> str:
    state = "holds no readable document" if skipped else "is empty" if folder.is_dir() else "is not a folder"
    few = "; ".join(f"{source}: {reason}" for source, reason in list(skipped.items())[:_FEW])
    message = f"documents folder {str(folder)!r} {state}; put files ending in {', '.join(ACCEPTED)} there"
    return f"{message} (skipped {len(skipped)}: {few})" if few else message


def _other_kind(suffix: str) -> str:
    advice = "; convert_document reads it" if suffix in CONVERTERS else ""
    return f"not one of {', '.join(ACCEPTED)}{advice}"
