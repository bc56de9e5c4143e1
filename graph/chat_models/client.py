"""Configuration of the HTTP client in OpenAI's chat models and in packages built on it."""

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage

from planner_executor.graph.chat_models.failures import IncompleteStream


def configure_client(model: BaseChatModel) -> BaseChatModel:
    """Return the model without retries of its own and without idle connections, counting tokens when streaming.

    An idle connection belongs to its event loop; `.invoke` runs each node in a new loop, in which a reused connection
    would fail with "Event loop is closed". A model without such a client is returned unchanged.
    """
    client: Any = getattr(model, "root_async_client", None)
    if client is None:
        return model
    ours = client.with_options(max_retries=0, default_headers={"Connection": "close"})
    counts = True if getattr(model, "stream_usage", None) is None else model.stream_usage  # type: ignore[attr-defined]
    return model.model_copy(
        update={"root_async_client": ours, "async_client": ours.chat.completions, "stream_usage": counts}
    )


def retries_itself(model: BaseChatModel) -> bool:
    """Whether the client of a configured model retries by itself; retries on top would multiply."""
    if getattr(model, "root_async_client", None) is not None:
        return False
    return getattr(model, "max_retries", 0) != 0


def check_whole(message: AIMessage) -> None:
    """Refuse a streamed answer without an end: a failing server may just close the connection.

    Raises:
        IncompleteStream: The stream ended without a finish reason.
    """
    metadata = message.response_metadata
    if metadata.get("model_provider") == "openai" and not {"finish_reason", "status"} & set(metadata):
        raise IncompleteStream("the stream ended before the answer did")
