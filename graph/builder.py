"""The graph: planner, review, executor and replanner, and the edges between them."""

import asyncio
import contextvars
import threading
import warnings
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from dataclasses import fields
from pathlib import Path
from typing import Any, Protocol

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import BaseTool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import get_runtime

from graph.calls.toolbox import Toolbox
from graph.chat_models.roles import chat_model
from graph.checkpoint import ledger_of
from graph.context import Context, Services, Settings
from graph.errors import ConfigError
from graph.ledger.protocol import Ledger
from graph.nodes.executor import Executor
from graph.nodes.planner import Planner
from graph.nodes.replanner import Replanner
from graph.nodes.review import Review
from graph.routing import after_executor, after_planner, after_replanner, after_review
from graph.state import Input, State, StateUpdate

Model = str | BaseChatModel | None
Graph = CompiledStateGraph[State, Context, Input, State]


class Node(Protocol):
    """What the graph runs."""

    async def __call__(self, state: State, config: RunnableConfig) -> StateUpdate:
        """Return the node's update."""


def build_graph(
    planner: Model = None,
    executor: Model = None,
    *,
    replanner: Model = None,
    tools: Sequence[BaseTool | Callable[..., Any]] | None = None,
    checkpointer: BaseCheckpointSaver[Any] | None = None,
    ledger: str | Path | Ledger | None = None,
    **settings: Any,
) -> Graph:
    """Return the compiled graph; `.invoke` and `.ainvoke` both work, with any mix of tools.

    Args:
        planner: `provider:model`, a chat model, or None for the embedded rules that need no key.
        executor: Does model steps; the planner's model by default.
        replanner: Revises plans; the planner's model by default.
        tools: LangChain tools or functions with a docstring; None means the project's own.
        checkpointer: Where the graph's state is kept; without one a run cannot wait for a person.
        ledger: A database file (or an open ledger); by default the one behind a SQLite checkpointer, else memory.
        settings: Fields of `graph.context.Settings`: `approval`, `replan`, `max_replans`, `max_concurrency`, ...

    Raises:
        ConfigError: A setting, a model or a tool cannot work; the message names it.
    """
    plans = chat_model(planner)
    services = Services(
        settings=_settings(settings),
        toolbox=Toolbox(_own_tools() if tools is None else tools),
        planner=plans,
        executor=plans if executor is None else chat_model(executor),
        replanner=plans if replanner is None else chat_model(replanner),
        ledger=ledger_of(ledger, checkpointer),
    )
    _warn_if_lax(checkpointer)
    graph = StateGraph(State, context_schema=Context, input_schema=Input)
    graph.add_node("planner", paired(Planner, services, "planner"))
    graph.add_node("review", paired(Review, services, "review"))
    graph.add_node("executor", paired(Executor, services, "executor"))
    graph.add_node("replanner", paired(Replanner, services, "replanner"))
    graph.add_edge(START, "planner")
    graph.add_conditional_edges("planner", after_planner, ["review", END])
    graph.add_conditional_edges("review", after_review, ["executor", "planner", END])
    graph.add_conditional_edges("executor", after_executor, ["replanner", "review", END])
    graph.add_conditional_edges("replanner", after_replanner, ["review", END])
    return graph.compile(checkpointer=checkpointer, name="planner-executor")


def paired(make: Callable[[Services], Node], services: Services, name: str) -> RunnableLambda[State, StateUpdate]:
    """Return the node with a synchronous twin, which runs it on an event loop of its own."""

    async def arun(state: State, config: RunnableConfig) -> StateUpdate:
        node = make(await services.under(get_runtime(Context).context))
        return await node(state, config)

    def run(state: State, config: RunnableConfig) -> StateUpdate:
        return on_a_loop(arun(state, config))

    return RunnableLambda(run, afunc=arun, name=name)


def on_a_loop(work: Coroutine[Any, Any, StateUpdate]) -> StateUpdate:
    """Run a coroutine to its end from synchronous code, also where this thread's loop is running already."""
    if not _in_a_loop():
        return asyncio.run(work)
    ended: Future[StateUpdate] = Future()
    context = contextvars.copy_context()

    def serve() -> None:
        try:
            ended.set_result(context.run(asyncio.run, work))
        except BaseException as error:  # noqa: BLE001  (raised again in the caller's thread)
            ended.set_exception(error)

    threading.Thread(target=serve, name="node-loop").start()
    return ended.result()


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _settings(given: dict[str, Any]) -> Settings:
    known = {field.name for field in fields(Settings)}
    if unknown := sorted(set(given) - known):
        raise ConfigError(f"build_graph has no setting {', '.join(unknown)}; it has {', '.join(sorted(known))}")
    settings = Settings(**given)
    for name, allowed in (("approval", ("always", "side_effects", "never")), ("replan", ("failure", "never"))):
        if getattr(settings, name) not in allowed:
            raise ConfigError(f"{name}={getattr(settings, name)!r} is none of {', '.join(allowed)}")
    least = {"max_concurrency": 1, "max_steps": 1, "max_replans": 0, "max_repairs": 0, "max_feedback": 0}
    for name, limit in least.items():
        value = getattr(settings, name)
        if not isinstance(value, int) or isinstance(value, bool) or value < limit:
            raise ConfigError(f"{name}={value!r} is no whole number of at least {limit}")
    return settings


def _own_tools() -> Sequence[BaseTool]:
    from tools import default_tools

    return default_tools(documents=Path("docs"), workspace=Path("workspace"))


def _warn_if_lax(checkpointer: Any) -> None:
    """A serializer that revives any type lets a planted checkpoint row run code; a user's own is left as it is."""
    allowed = getattr(getattr(checkpointer, "serde", None), "_allowed_msgpack_modules", None)
    if allowed is True:
        warnings.warn(
            "the checkpointer's serializer revives any type named in its rows; "
            "pass serde=JsonPlusSerializer(allowed_msgpack_modules=None)",
            stacklevel=3,
        )
