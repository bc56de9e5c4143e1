"""Tool `convert_document`: a PDF, office file or page as Markdown. Needs the extra `office`."""

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import Field

from planner_executor.tools.declaration import ToolArgs, declare
from planner_executor.tools.documents.conversion import CONVERTERS
from planner_executor.tools.errors import SourceNotReadable
from planner_executor.tools.extras import EXTRAS, missing_extra
from planner_executor.tools.files.lookup import ask_of_file
from planner_executor.tools.files.root import Root
from planner_executor.tools.workers.fault import Fault
from planner_executor.tools.workers.process import Bounds

CONVERSION = "planner_executor.tools.documents.conversion:convert"


class ConvertDocumentArgs(ToolArgs):
    """Arguments of `convert_document`."""

    path: str = Field(min_length=1, max_length=1000, description="relative path, ending in .pdf, .docx, .pptx, …")
    start: int = Field(default=0, ge=0, description="first character of the text that is wanted")
    max_characters: int = Field(default=100_000, ge=1, le=500_000, description="how many characters at most")


def convert_document(roots: Sequence[Root], time_s: int = 60) -> BaseTool:
    """Return the tool over some folders; the first that has the file is taken."""
    bounds = Bounds(time_s=time_s, memory_bytes=2_000_000_000)

    def convert(path: str, start: int = 0, max_characters: int = 100_000) -> dict[str, Any]:
        if needed := missing_extra(*EXTRAS["convert_document"]):
            raise SourceNotReadable(path, needed)
        kind = PurePosixPath(path).suffix.lower()
        if kind not in CONVERTERS:
            raise SourceNotReadable(path, f"not one of {', '.join(CONVERTERS)}; read_file reads text")
        request = {"kind": kind, "start": start, "most": max_characters}
        try:
            return ask_of_file(roots, path, CONVERSION, request, bounds)
        except Fault as fault:
            raise SourceNotReadable(path, fault.reason) from fault

    return StructuredTool.from_function(
        func=convert,
        name="convert_document",
        description=(
            "Turn a whole document (PDF, Word, PowerPoint, Excel, EPUB, HTML, notebook) into Markdown with its tables. "
            "The result is {path, folder, title, start, next_start, total, text}; next_start is null at the end."
        ),
        args_schema=ConvertDocumentArgs,
        metadata=declare(
            "read",
            idempotent=True,
            timeout_s=time_s + 5,
            trusted=False,
            free_args=("path",),
            reads=[root.path for root in roots],
        ),
    )
