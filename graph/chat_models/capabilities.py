"""Capabilities of a configured model, tested with a streamed tool call and a structured answer."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessageChunk, HumanMessage
from langchain_core.tools import tool

from planner_executor.graph.chat_models.chat import Chat, ModelRequest, with_tools
from planner_executor.graph.chat_models.json_text import NoJson, json_from
from planner_executor.graph.chat_models.structured import with_schema

WORD = {
    "title": "word",
    "description": "A word.",
    "type": "object",
    "properties": {"word": {"type": "string"}},
    "required": ["word"],
}


@dataclass(frozen=True)
class Capabilities:
    """Capabilities of a model, or the `error` of the request; `took_s` is the time to the full answer, in seconds."""

    model: str
    took_s: float = 0.0
    tool_calling: bool = False
    structured_output: bool = False
    counts_tokens: bool = False
    error: str = ""


async def probe(chat: Chat) -> Capabilities:
    """Test one model with two requests, or one if the first fails."""
    begun = time.perf_counter()
    try:
        answer = await _with_a_tool(chat)
    except Exception as error:  # noqa: BLE001  (around a model call, where it becomes data)
        return Capabilities(chat.name, error=str(chat.failure(error, time.time())))
    took_s = time.perf_counter() - begun
    return Capabilities(
        chat.name,
        took_s=took_s,
        tool_calling=bool(answer.tool_calls),
        structured_output=await _by_schema(chat),
        counts_tokens=answer.usage_metadata is not None,
    )


@tool
def note(word: str) -> str:
    """Write a word down."""
    return word


async def _with_a_tool(chat: Chat) -> Any:
    """Request a tool call, and retry without tools if the server rejects them."""
    try:
        return await _streamed(chat, [note])
    except Exception as error:
        if chat.failure(error, time.time()).kind != "request":
            raise
    return await _streamed(chat, [])


async def _streamed(chat: Chat, tools: Sequence[Any]) -> BaseMessageChunk | AIMessage:
    whole: Any = None
    asked = HumanMessage("Call the tool `note` with the word: ok. Without a tool, answer with the word ok.")
    async for chunk in with_tools(chat.model, tools).astream([asked]):
        # Streamed, as in a run: some servers call tools only in answers that are not.
        whole = chunk if whole is None else whole + chunk
    return whole if whole is not None else AIMessage("")


async def _by_schema(chat: Chat) -> bool:
    if not chat.structured or with_schema(chat.model, WORD) is None:
        return False
    request = ModelRequest([HumanMessage('Answer with the JSON object {"word": "ok"} only.')], schema=WORD)
    try:
        found = json_from(str((await chat.once(request)).text))
    except NoJson:
        return False
    except Exception:  # noqa: BLE001  (around a model call: it does not take the schema)
        return False
    return isinstance(found, dict) and isinstance(found.get("word"), str)
