"""Tool `summarize_text`: key sentences, verbatim, with citations; uses no model"""

from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import Field

from planner_executor.tools.citation import citation
from planner_executor.tools.coverage import coverage_in
from planner_executor.tools.declaration import ToolArgs, declare
from planner_executor.tools.errors import NothingFound
from planner_executor.tools.summary.normalize import normalize_pieces
from planner_executor.tools.summary.ranking import choose
from planner_executor.tools.summary.sentences import Sentence, is_statement, sentences_of

_MOST_SENTENCES_WEIGHED = 5000


class SummarizeTextArgs(ToolArgs):
    """Arguments of `summarize_text`."""

    text: str | list[Any] | dict[str, Any] = Field(
        description="text to summarise, or passages: one or several results of search_documents, nested as they come"
    )
    max_sentences: int = Field(default=6, ge=1, le=100, description="how many sentences at most")
    focus: str | None = Field(default=None, description="words to favour")


def summarize_text() -> BaseTool:
    """Return the tool."""
    return StructuredTool.from_function(
        func=summarize,
        name="summarize_text",
        description=(
            "Choose the sentences that matter most from a text or from passages, word for word. The result is "
            "{summary, statements: [{text, source, line, end_line, page, heading, query}]}; a plain text has "
            "statements of {text} alone. What search_documents looked through and skipped is kept beside them. "
            "write_report takes the result whole and keeps the citations."
        ),
        args_schema=SummarizeTextArgs,
        metadata=declare("read", idempotent=True, timeout_s=30, trusted=False, free_args=("text", "focus")),
    )


def summarize(
    text: str | list[Any] | dict[str, Any], max_sentences: int = 6, focus: str | None = None
) -> dict[str, Any]:
    """Return the summary and its statements, in reading order, and the coverage of the searches in the input.

    Raises:
        NothingFound: The input has no sentence.
    """
    sentences = sentences_of(normalize_pieces(text))[:_MOST_SENTENCES_WEIGHED]
    if not sentences:
        given = "an empty text" if isinstance(text, str) else f"a {type(text).__name__} without text"
        raise NothingFound(f"nothing to summarise in {given}; give a text, passages, or results of search_documents")
    whole = [sentence for sentence in sentences if is_statement(sentence)]
    statements = [_to_json(sentence) for sentence in choose(whole or sentences, max_sentences, focus)]
    said = " ".join(_cited(statement) for statement in statements)
    return {"summary": said, "statements": statements, **coverage_in(text)}


def _to_json(sentence: Sentence) -> dict[str, Any]:
    piece = sentence.piece
    if piece.source is None:
        return {"text": sentence.text}
    return {
        "text": sentence.text,
        "source": piece.source,
        "line": sentence.line,
        "end_line": sentence.end_line,
        "page": piece.page,
        "heading": piece.heading,
        "query": piece.query,
        **({"title": piece.title} if piece.title else {}),
    }


def _cited(statement: dict[str, Any]) -> str:
    place = citation(statement)
    return f"{statement['text']} ({place})" if place else str(statement["text"])
