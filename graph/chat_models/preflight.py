"""Whether the servers of the models are there and have them, found out before anything is planned."""

import asyncio
import time
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from langchain_core.messages import HumanMessage

from graph.chat_models.chat import Chat, Request
from graph.chat_models.failures import Failure
from graph.chat_models.redaction import redacted
from graph.chat_models.role_model import RoleModel
from graph.errors import ModelConfigError, ModelKeyError, UnknownModelError, UnreachableModelError

LIST_S = 10.0
"""How long a server may take to list its models; one that takes longer is asked for them by the first real call."""


async def check_models(models: Iterable[RoleModel]) -> None:
    """Ask each server for its models, which costs nothing; one that does not list the model is asked a word of it.

    Only servers with OpenAI's interface are asked; of others it is found out whether anybody answers. A model counts as
    there where one that stands in for it is.

    Raises:
        UnreachableModelError: Nobody answers.
        ModelKeyError: The server refuses the key.
        UnknownModelError: The server has no such model.
    """
    different = list({id(model): model for model in models}.values())
    for fault in await asyncio.gather(*(_fault(model) for model in different)):
        if fault is not None:
            raise fault


async def _fault(model: RoleModel) -> ModelConfigError | None:
    first: ModelConfigError | None = None
    for chat in model.chats:
        fault = await _fault_of(chat)
        if fault is None:
            return None
        first = first or fault
    return first


async def _fault_of(chat: Chat) -> ModelConfigError | None:
    client: Any = getattr(chat.model, "root_async_client", None)
    if client is None:
        return await _silence(chat)
    address = redacted(str(client.base_url))
    try:
        async with asyncio.timeout(LIST_S):
            listed = {entry.id for entry in (await client.models.list()).data}
    except Exception as error:  # noqa: BLE001  (a server may answer anything)
        failure = chat.failure(error, time.time())
        if failure.kind == "connection":
            return _error(chat.name, address, failure)
        if failure.kind != "key":
            return None  # it keeps no list, or has none to give just now
        listed = {""}
    if not listed or listed & {chat.name, f"{chat.name}:latest"}:
        return None
    return await _asked(chat, address)


async def _silence(chat: Chat) -> ModelConfigError | None:
    """Return that nobody takes a connection at the address of the model's client; behind a proxy that is not known."""
    address = _address(chat.model)
    parts = urlsplit(address)
    if not parts.hostname or {parts.scheme, "all"} & set(getproxies()):
        return None
    try:
        async with asyncio.timeout(LIST_S):
            _, writer = await asyncio.open_connection(
                parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
            )
    except OSError as error:
        return _unreachable(chat.name, redacted(address), redacted(str(error)) or "no answer in time")
    writer.close()
    return None


def _address(model: Any) -> str:
    """Return where the client inside a chat model of any package leads, or an empty text."""
    clients = [getattr(model, name, None) for name in ("async_client", "_async_client")]
    holders = [holder for client in clients for holder in (client, getattr(client, "_client", None))]
    return next((str(url) for holder in holders if (url := getattr(holder, "base_url", None))), "")


async def _asked(chat: Chat, address: str) -> ModelConfigError | None:
    """Ask the model itself: keys may be good for answers and not for lists, and lists may be short."""
    try:
        await chat.once(Request([HumanMessage("Answer with the word: ok")]))
    except Exception as error:  # noqa: BLE001  (around a model call, where it becomes data)
        return _error(chat.name, address, chat.failure(error, time.time()))
    return None


def _error(name: str, address: str, failure: Failure) -> ModelConfigError | None:
    if failure.kind == "connection":
        return _unreachable(name, address, failure.words)
    if failure.kind == "key":
        return ModelKeyError(name, f"{address} refuses the key ({failure.words}); set the right one")
    if failure.kind == "unknown_model":
        return UnknownModelError(name, f"{address} has no such model ({failure.words}); name one that it has")
    return None


def _unreachable(name: str, address: str, words: str) -> UnreachableModelError:
    return UnreachableModelError(name, f"nobody answers at {address} ({words}); start it, or set base_url")
