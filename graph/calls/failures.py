"""What a tool or a model failed with, in words that a record can hold."""

from langchain_core.tools import ToolException

from graph.chat_models.redaction import redacted
from graph.errors import AgentError
from graph.plan.shortening import shortened

ERROR_CHARACTERS = 2_000


def error_of(words: str) -> str:
    """Return an error as records keep it: bounded, with its beginning and its end."""
    return shortened(words, ERROR_CHARACTERS)


def failure_words(failure: BaseException) -> str:
    """Return what was raised: by its own words where it is meant to be read, with its type otherwise; no key in it."""
    words = redacted(str(failure)).encode(errors="replace").decode()
    if words and isinstance(failure, ToolException | AgentError):
        return words
    return f"{type(failure).__name__}: {words}" if words else type(failure).__name__
