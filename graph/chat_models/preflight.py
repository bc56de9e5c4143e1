"""Whether the servers of the models are there and have them, found out before anything is planned."""

import asyncio
import time
from collections.abc import Iterable
from typing import Any

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

    Only servers with OpenAI's interface are asked. A model counts as there where one that stands in for it is.

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
        return None
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


async def _asked(chat: Chat, address: str) -> ModelConfigError | None:
    """Ask the model itself: keys may be good for answers and not for lists, and lists may be short."""
    try:
        await chat.once(Request([HumanMessage("Answer with the word: ok")]))
    except Exception as error:  # noqa: BLE001  (around a model call, where it becomes data)
        return _error(chat.name, address, chat.failure(error, time.time()))
    return None


def _error(name: str, address: str, failure: Failure) -> ModelConfigError | None:
    if failure.kind == "connection":
        return UnreachableModelError(name, f"nobody answers at {address} ({failure.words}); start it, or set base_url")
    if failure.kind == "key":
        return ModelKeyError(name, f"{address} refuses the key ({failure.words}); set the right one")
    if failure.kind == "unknown_model":
        return UnknownModelError(name, f"{address} has no such model ({failure.words}); name one that it has")
    return None
