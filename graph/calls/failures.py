"""Failures of tools and models as text for the record."""

from langchain_core.tools import ToolException
from pydantic import ValidationError

from planner_executor.graph.chat_models.redaction import without_secrets
from planner_executor.graph.errors import AgentError
from planner_executor.graph.plan.shortening import shortened
from planner_executor.graph.words.validation_message import fault_messages

ERROR_CHARACTERS = 2_000


def error_of(words: str) -> str:
    """Shorten an error for the record; its beginning and its end are kept."""
    return shortened(words, ERROR_CHARACTERS)


def failure_words(failure: BaseException) -> str:
    """Return the message of an exception, with its type unless the message is written for users; keys are removed."""
    said = fault_messages(failure) if isinstance(failure, ValidationError) else str(failure)
    # Half a surrogate pair in a message would keep the failure from being recorded.
    words = without_secrets(said).encode(errors="replace").decode()
    if words and isinstance(failure, ToolException | AgentError):
        return words
    return f"{type(failure).__name__}: {words}" if words else type(failure).__name__
