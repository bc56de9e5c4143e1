"""The HTTP client inside OpenAI's chat models, and in those of packages that build on it."""

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage

from graph.chat_models.failures import BrokenOff


def tuned(model: BaseChatModel) -> BaseChatModel:
    """Return the model as it is asked here: its own retries off, tokens counted while streaming, no idle connection.

    A connection that is kept open belongs to the event loop it was opened in; `.invoke` runs each node in a loop of
    its own, and the next one would fail with "Event loop is closed". A model without such a client is left as it is.
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
    """Whether the model's own client repeats requests, once it is `tuned`; a second layer would multiply them."""
    if getattr(model, "root_async_client", None) is not None:
        return False
    return getattr(model, "max_retries", 0) != 0


def check_whole(message: AIMessage) -> None:
    """Refuse a streamed answer whose end never came: such a server just closes the connection.

    Raises:
        BrokenOff: The stream ended without a reason.
    """
    told = message.response_metadata
    if told.get("model_provider") == "openai" and not {"finish_reason", "status"} & set(told):
        raise BrokenOff("the stream ended before the answer did")
