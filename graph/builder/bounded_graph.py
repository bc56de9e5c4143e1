"""The compiled graph as its callers have it: what they give is bounded and checked before any node runs."""

from collections.abc import AsyncIterator, Iterator
from typing import Any, Self

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph

from planner_executor.graph.builder.client_input import keepable_input
from planner_executor.graph.client_context import Context, check_context
from planner_executor.graph.context import Services
from planner_executor.graph.plain_text.sanitize import check_texts
from planner_executor.graph.state import Input, State


class BoundedGraph(CompiledStateGraph[State, Context, Input, State]):
    """The compiled graph; its input is brought into a form that a serializer can keep, and is refused by its reader."""

    services: Services

    def copy(self, update: dict[str, Any] | None = None) -> Self:
        """Return a copy over the same services, as `with_config` and servers make one."""
        made = super().copy(update)
        # LangGraph copies the fields that it knows.
        made.services = self.services
        return made

    def stream(self, input: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
        """Run the graph; see the base class."""
        check_context(kwargs.get("context"))
        _check_thread(*args[:1], **kwargs)
        return super().stream(keepable_input(input), *args, **kwargs)

    def astream(self, input: Any, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        """Run the graph; see the base class."""
        check_context(kwargs.get("context"))
        _check_thread(*args[:1], **kwargs)
        return super().astream(keepable_input(input), *args, **kwargs)

    def update_state(self, config: RunnableConfig, values: Any, *args: Any, **kwargs: Any) -> RunnableConfig:
        """Change the state; see the base class."""
        self._forget(config)
        return super().update_state(config, keepable_input(values), *args, **kwargs)

    async def aupdate_state(self, config: RunnableConfig, values: Any, *args: Any, **kwargs: Any) -> RunnableConfig:
        """Change the state; see the base class."""
        self._forget(config)
        return await super().aupdate_state(config, keepable_input(values), *args, **kwargs)

    def _forget(self, config: RunnableConfig) -> None:
        """Check the name of the thread, and forget what its run asks: another state asks something else."""
        _check_thread(config)
        self.services.known_runs.forget(str(config.get("configurable", {}).get("thread_id")))


def _check_thread(config: RunnableConfig | None = None, **_: Any) -> None:
    """Check the name of the thread.

    Raises:
        InputError: It cannot be kept.
    """
    named = ((config or {}).get("configurable") or {}).get("thread_id")
    if isinstance(named, str):
        check_texts("thread_id", named)
