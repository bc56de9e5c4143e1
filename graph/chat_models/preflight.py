"""Checks before planning that the models' servers are reachable and have the models."""

import asyncio
import time
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from langchain_core.messages import HumanMessage

from planner_executor.graph.chat_models.chat import Chat, ModelRequest
from planner_executor.graph.chat_models.failures import Failure
from planner_executor.graph.chat_models.redaction import without_secrets
from planner_executor.graph.chat_models.role_model import RoleModel
from planner_executor.graph.errors import ModelConfigError, ModelKeyError, UnknownModelError, UnreachableModelError

LIST_TIMEOUT_S = 10.0
"""Seconds for a server to list its models; a slower one is left to the first real call."""


async def check_models(models: Iterable[RoleModel]) -> None:
    """Check each model by its server's model list, which is free, or by a short request if it is not listed.

    Servers without OpenAI's interface are only checked for a connection. A model passes if one of its fallbacks does.

    Raises:
        UnreachableModelError: The server is not reachable.
        ModelKeyError: The server rejects the key.
        UnknownModelError: The server does not have the model.
    """
    # Roles share a model, which needs to be asked once.
    different = list({id(model): model for model in models}.values())
    for fault in await asyncio.gather(*(_fault(model) for model in different)):
        if fault is not None:
            raise fault


async def _fault(model: RoleModel) -> ModelConfigError | None:
    first: ModelConfigError | None = None
    for chat in model.chats:
        fault = await _check_chat(chat)
        if fault is None:
            return None
        first = first or fault
    return first


async def _check_chat(chat: Chat) -> ModelConfigError | None:
    client: Any = getattr(chat.model, "root_async_client", None)
    if client is None:
        return await _check_connection(chat)
    address = without_secrets(str(client.base_url))
    try:
        async with asyncio.timeout(LIST_TIMEOUT_S):
            listed = {entry.id for entry in (await client.models.list()).data}
    except Exception as error:  # noqa: BLE001  (a server may answer anything)
        failure = chat.failure(error, time.time())
        if failure.kind == "connection":
            return _error(chat.name, address, failure)
        if failure.kind != "key":
            return None  # the server has no list, or not right now
        # The key may not permit the list and still answer: a request tells.
        listed = {""}
    # Ollama lists a model that is named without a tag under the tag `latest`.
    if not listed or listed & {chat.name, f"{chat.name}:latest"}:
        return None
    return await _test_request(chat, address)


async def _check_connection(chat: Chat) -> ModelConfigError | None:
    """Return an error if the address of the model's client refuses connections; unknown behind a proxy."""
    address = _address(chat.model)
    parts = urlsplit(address)
    # The proxy connects on its own; that it can be reached says nothing about the server.
    if not parts.hostname or {parts.scheme, "all"} & set(getproxies()):
        return None
    try:
        async with asyncio.timeout(LIST_TIMEOUT_S):
            _, writer = await asyncio.open_connection(
                parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
            )
    except OSError as error:
        return _unreachable(chat.name, without_secrets(address), without_secrets(str(error)) or "no answer in time")
    writer.close()
    return None


def _address(model: Any) -> str:
    """Return the base URL of the client inside a chat model of any package, or an empty string."""
    clients = [getattr(model, name, None) for name in ("async_client", "_async_client")]
    holders = [holder for client in clients for holder in (client, getattr(client, "_client", None))]
    return next((str(url) for holder in holders if (url := getattr(holder, "base_url", None))), "")


async def _test_request(chat: Chat, address: str) -> ModelConfigError | None:
    """Test the model with a request: a key may not permit listing, and a list may be incomplete."""
    try:
        await chat.once(ModelRequest([HumanMessage("Answer with the word: ok")]))
    except Exception as error:  # noqa: BLE001  (around a model call, where it becomes data)
        return _error(chat.name, address, chat.failure(error, time.time()))
    return None


def _error(name: str, address: str, failure: Failure) -> ModelConfigError | None:
    if failure.kind == "connection":
        return _unreachable(name, address, failure.words)
    if failure.kind == "key":
        return ModelKeyError(name, f"{address} rejects the key ({failure.words}); set a valid one")
    if failure.kind == "unknown_model":
        return UnknownModelError(name, f"{address} does not have the model ({failure.words}); name one that it has")
    return None


def _unreachable(name: str, address: str, words: str) -> UnreachableModelError:
    return UnreachableModelError(name, f"no server at {address} ({words}); start it, or set base_url")
