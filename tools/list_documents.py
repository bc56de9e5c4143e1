"""Tool `list_documents`: the documents of the folder."""

from typing import Any

from langchain_core.tools import BaseTool, StructuredTool

from planner_executor.tools.declaration import ToolArgs, declare
from planner_executor.tools.documents.library import Library

_MOST = 200
"""So many skipped files are named; all are counted."""


class ListDocumentsArgs(ToolArgs):
    """`list_documents` takes no arguments."""


def list_documents(library: Library) -> BaseTool:
    """Return the tool over one folder of documents."""

    def listing() -> dict[str, Any]:
        catalogue = library.catalogue()
        return {
            "documents": [document.to_json() for document in catalogue.documents],
            "skipped": [
                {"source": source, "reason": reason} for source, reason in list(catalogue.skipped.items())[:_MOST]
            ],
            "skipped_count": len(catalogue.skipped),
        }

    return StructuredTool.from_function(
        func=listing,
        name="list_documents",
        description=(
            "List the local documents. The result is {documents: [{source, kind, lines or pages, title}], "
            "skipped: [{source, reason}], skipped_count}."
        ),
        args_schema=ListDocumentsArgs,
        metadata=declare("read", idempotent=True, timeout_s=60, trusted=False, reads=(library.folder,)),
    )
