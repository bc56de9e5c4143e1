"""Tool `list_documents`: the documents of the folder."""

from typing import Any

from langchain_core.tools import BaseTool, StructuredTool

from tools.declaration import ToolArgs, declare
from tools.documents.library import Library


class ListDocumentsArgs(ToolArgs):
    """`list_documents` takes no arguments."""


def list_documents(library: Library) -> BaseTool:
    """Return the tool over one folder of documents."""

    def listing() -> dict[str, Any]:
        catalogue = library.catalogue()
        return {
            "documents": [document.to_json() for document in catalogue.documents],
            "skipped": [{"source": source, "reason": reason} for source, reason in catalogue.skipped.items()],
        }

    return StructuredTool.from_function(
        func=listing,
        name="list_documents",
        description=(
            "List the local documents. The result is {documents: [{source, kind, lines or pages, title}], "
            "skipped: [{source, reason}]}."
        ),
        args_schema=ListDocumentsArgs,
        metadata=declare("read", idempotent=True, timeout_s=60, trusted=False),
    )
