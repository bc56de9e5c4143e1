"""The checkpoints that were stored before another one, as a condition of a search."""

from collections.abc import Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import get_checkpoint_id


def stored_before(
    before: RunnableConfig | None, config: RunnableConfig | None, where: str, values: Sequence[Any], condition: str
) -> tuple[str, Sequence[Any]]:
    """Return a search with the condition that checkpoints come before one, on its thread if the search has one."""
    if before is None:
        return where, values
    thread = (config or before)["configurable"].get("thread_id")
    narrowed = f"{where} AND {condition}" if where else f"WHERE {condition}"
    return narrowed, [*values, get_checkpoint_id(before), thread]
