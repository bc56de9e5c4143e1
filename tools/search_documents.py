"""Tool `search_documents`: passages of local documents, each with its place."""

from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import Field

from planner_executor.tools.declaration import ToolArgs, declare
from planner_executor.tools.documents.index import PassageIndex
from planner_executor.tools.documents.library import Catalogue, Library
from planner_executor.tools.documents.query import query_words
from planner_executor.tools.errors import NothingFound
from planner_executor.tools.numbers_in_words import counted


class SearchDocumentsArgs(ToolArgs):
    """Arguments of `search_documents`."""

    query: str = Field(min_length=1, max_length=2000, description="words to look for, in any order; forms are matched")
    limit: int = Field(default=5, ge=1, le=50, description="how many passages at most")
    min_words: int = Field(
        default=1, ge=1, le=40, description="how many of the words a passage holds at least, with its headings"
    )


def search_documents(library: Library) -> BaseTool:
    """Return the tool over one folder of documents."""
    index = PassageIndex()

    def search(query: str, limit: int = 5, min_words: int = 1) -> dict[str, Any]:
        catalogue = library.catalogue()
        found = index.search(catalogue.documents, query, limit, min_words)
        if not found:
            raise NothingFound(_nothing_found(query_words(query), catalogue, min_words))
        return {
            "query": query,
            "passages": [{**one.passage.to_json(), "title": one.title, "score": one.score} for one in found],
            **catalogue.coverage(),
        }

    return StructuredTool.from_function(
        func=search,
        name="search_documents",
        description=(
            "Find passages in the local documents (Markdown, text, HTML, PDF), best first, without bibliographies. "
            "The result is {query, passages: [{source, line, end_line, page, heading, block, text, title, score}], "
            "searched, skipped: [{source, reason}], skipped_count}; summarize_text takes it whole and keeps the "
            "citations."
        ),
        args_schema=SearchDocumentsArgs,
        metadata=declare(
            "read", idempotent=True, timeout_s=60, trusted=False, free_args=("query",), reads=(library.folder,)
        ),
    )


def _nothing_found(words: tuple[str, ...], catalogue: Catalogue, min_words: int) -> str:
    tried = f"none of the words {', '.join(words)} occurs" if words else "the query holds no word to look for"
    if words and min_words > 1:
        tried = f"no passage with {min_words} of the words {', '.join(words)} together is"
    skipped = f" ({counted(len(catalogue.skipped), 'file was', 'files were')} skipped)" if catalogue.skipped else ""
    searched = counted(len(catalogue.documents), "document")
    return f"{tried} in the {searched} looked through{skipped}; search with other words"
