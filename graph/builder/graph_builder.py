"""The graph: planner, review, executor and replanner, and the edges between them."""

import asyncio
import warnings
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Coroutine, Hashable, Mapping, Sequence
from concurrent.futures import CancelledError
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Unpack, cast

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphInterrupt
from langgraph.graph import START, StateGraph
from langgraph.runtime import get_runtime

from planner_executor.graph.builder.bounded_graph import BoundedGraph
from planner_executor.graph.builder.client_schema import context_schema
from planner_executor.graph.builder.options import NAME, Options, options_of
from planner_executor.graph.builder.routing import (
    AFTER_EXECUTOR,
    AFTER_PLANNER,
    AFTER_REPLANNER,
    AFTER_REVIEW,
    Edge,
    after_executor,
    after_planner,
    after_replanner,
    after_review,
)
from planner_executor.graph.builder.user_tools import GivenPacks, Tool
from planner_executor.graph.calls.rate_limit import SHORT_WAIT_S, process_rate_limiter
from planner_executor.graph.calls.threads import run_sync
from planner_executor.graph.chat_models.settings import ModelSpec
from planner_executor.graph.checkpoints.checkpoint import ledger_of
from planner_executor.graph.checkpoints.kept_checkpoints import KeepCheckpoints, let_keep
from planner_executor.graph.client_context import Context
from planner_executor.graph.context import Services
from planner_executor.graph.errors import ConfigError
from planner_executor.graph.ledger.protocol import Ledger
from planner_executor.graph.lifetime import LoopThread
from planner_executor.graph.nodes.review.calls import with_settled_calls
from planner_executor.graph.notices.addresses import Addresses
from planner_executor.graph.observing.listener import Observer
from planner_executor.graph.observing.observed import observed
from planner_executor.graph.settings.identity import Adapter
from planner_executor.graph.settings.settings import GivenSettings
from planner_executor.graph.state import Input, State, StateUpdate

if TYPE_CHECKING:
    from planner_executor.graph.notices.notifier import Notifier

Graph = BoundedGraph
EDGES: Mapping[str, tuple[Callable[[State], str], Mapping[Hashable, str]]] = {
    "planner": (after_planner, AFTER_PLANNER),
    "review": (after_review, AFTER_REVIEW),
    "executor": (after_executor, AFTER_EXECUTOR),
    "replanner": (after_replanner, AFTER_REPLANNER),
}
"""Node -> the function that returns the label of its edge, and label -> next node."""


class Node(Protocol):
    """The nodes and edges of the graph."""

    async def __call__(self, state: State, config: RunnableConfig) -> StateUpdate:
        """Return the node's update."""


def _planner() -> "Make":
    from planner_executor.graph.nodes.planner import Planner

    return Planner


def _review() -> "Make":
    from planner_executor.graph.nodes.reviewer import Review

    return Review


def _executor() -> "Make":
    from planner_executor.graph.nodes.executor import Executor

    return Executor


def _replanner() -> "Make":
    from planner_executor.graph.nodes.replanner import Replanner

    return Replanner


Make = Callable[[Services], Node]
NODES: Mapping[str, Callable[[], Make]] = {
    "planner": _planner,
    "review": _review,
    "executor": _executor,
    "replanner": _replanner,
}
"""Node -> the function that returns its class; it is imported once a run comes to it (decision 177)."""
_imported: set[Callable[[], Make]] = set()
"""Those of `NODES` that this process has called."""


def build_graph(
    planner: ModelSpec | None = None,
    executor: ModelSpec | None = None,
    *,
    replanner: ModelSpec | None = None,
    judge: ModelSpec | None = None,
    executors: Mapping[str, ModelSpec] | None = None,
    client_models: Sequence[str] | None = None,
    config: str | Path | None = None,
    tools: Sequence[Tool] | None = None,
    pack: GivenPacks = None,
    reserve: Collection[str] = (),
    checkpointer: BaseCheckpointSaver[Any] | None = None,
    ledger: str | Path | Ledger | None = None,
    keep_checkpoints: KeepCheckpoints | None = None,
    observers: Sequence[Observer] = (),
    identity: Adapter | None = None,
    name: str = NAME,
    **settings: Unpack[GivenSettings],
) -> Graph:
    """Return the compiled graph; `.invoke` and `.ainvoke` both work, with any mix of tools.

    Args:
        planner: `provider:model`, `ModelSettings` or a chat model. Default: the one that the environment or the
            settings file names, else the embedded rules, which need no key.
        executor: The model for model steps. Default: the planner's.
        replanner: The model that revises plans. Default: the planner's.
        executors: Further models for model steps, by the name that a step's `executor` gives.
        judge: The model that judges natural-language success criteria. Default: none.
        client_models: The models that a client's context may choose, `["*"]` for any. Default: those in
            PLANNER_EXECUTOR_CLIENT_MODELS, else those that the settings name for any role.
        config: The settings file. Default: the file named by PLANNER_EXECUTOR_CONFIG, else `planner-executor.toml`.
        tools: LangChain tools or functions with a docstring. Default: the project's own.
        pack: Packs of the project's own tools, see `planner_executor.tools.packs.PACKS`. Default: none beside `tools`;
            without, those that the settings file names as `pack`, else documents, files, tables and web.
        reserve: Names among `tools` that runs which begin are not offered; runs that were begun with them keep them.
        checkpointer: LangGraph's checkpointer; without one a run cannot wait for a person.
        ledger: A database file, or an open ledger. Default: the file of a SQLite checkpointer, else memory.
        keep_checkpoints: "until_end" keeps only the latest checkpoint of a thread whose run has ended, if the
            checkpointer is one of `graph.checkpoints.checkpoint`. Default: PLANNER_EXECUTOR_KEEP_CHECKPOINTS, else
            "all".
        observers: Called with each event written to the ledger, such as `graph.observing.otel.OtelObserver()`, which
            PLANNER_EXECUTOR_OTEL=1 adds.
        identity: Verifies the people whom calling code names, see `graph.settings.identity.Adapter`. Default: the
            function that the settings file names as `identity = "module:name"`.
        name: The graph's name in traces and drawings, and as a node of another graph.
        settings: Fields of `graph.settings.settings.Settings`: `approval`, `policy` (a TOML file, its data, or a
            `Policy`; default: the file named by PLANNER_EXECUTOR_POLICY or the settings file), `budget` (such as
            `{"tool_calls": 20}`), `replan`, `max_replans`, `max_concurrency`, ...

    Raises:
        ConfigError: A setting, a model or a tool is invalid; the message names it.
    """
    options = options_of(
        planner=planner,
        executor=executor,
        replanner=replanner,
        judge=judge,
        executors=executors,
        client_models=client_models,
        config=config,
        tools=tools,
        pack=pack,
        reserve=reserve,
        keep_checkpoints=keep_checkpoints,
        observers=observers,
        identity=identity,
        name=name,
        **settings,
    )
    return graph_with(options, checkpointer, ledger)


def graph_with(
    options: Options, checkpointer: BaseCheckpointSaver[Any] | None, ledger: str | Path | Ledger | None
) -> Graph:
    """Return the graph with checked options.

    Raises:
        ConfigError: One does not fit the checkpointer, or a tool can write the ledger.
    """
    if not isinstance(checkpointer, BaseCheckpointSaver | bool | None):
        raise ConfigError(f"checkpointer must be one of LangGraph's, got {type(checkpointer).__name__}")
    equipment = options.equipment
    opened = ledger_of(ledger, checkpointer, options.check_file)
    notifier = notifier_of(options.addresses, opened)
    services = Services(
        settings=equipment.settings,
        toolbox=equipment.toolbox,
        models=equipment.models,
        reserve=equipment.reserve,
        identity=equipment.identity,
        library=equipment.library,
        ledger=observed(opened, [*options.observers, *([notifier] if notifier is not None else [])]),
        turns=process_rate_limiter(equipment.settings.policy.rates, SHORT_WAIT_S),
        notifier=notifier,
    )
    if options.keep_checkpoints is not None:
        let_keep(checkpointer, options.keep_checkpoints)
    _warn_if_lax(checkpointer)
    return compiled(services, checkpointer, options.name)


def compiled(services: Services, checkpointer: BaseCheckpointSaver[Any] | None, name: str = NAME) -> Graph:
    """Return the graph over these services."""
    graph = StateGraph(State, context_schema=context_schema(services.settings, services.models), input_schema=Input)
    for node in NODES:
        graph.add_node(node, PairedNode(services, node))
    graph.add_edge(START, "planner")
    for node, (edge, targets) in EDGES.items():
        graph.add_conditional_edges(node, Edge(edge), {**targets})
    built = graph.compile(checkpointer=checkpointer, name=name)
    built.__class__ = BoundedGraph  # `compile` has no argument for the class
    bounded = cast("BoundedGraph", built)
    bounded.services = services
    return bounded


class PairedNode(Runnable[State, StateUpdate]):
    """A node for asynchronous and synchronous graphs; `invoke` runs it on an event loop of its own.

    Not a `RunnableLambda`: LangChain searches the variables of its function for other runnables, caches them for the
    whole process, and so keeps the graph's services alive; it also inspects the function's signature on each call.
    """

    def __init__(self, services: Services, name: str) -> None:
        self._load, self._services, self.name = NODES[name], services, name

    async def ainvoke(self, input: State, config: RunnableConfig | None = None, **_: Any) -> StateUpdate:
        """Run the node."""
        # Only the first time: with another thread each node of each run would begin later.
        if self._load not in _imported:
            await run_sync(self._load)  # an event loop does not wait for files
            _imported.add(self._load)
        node = self._load()(await self._services.under(get_runtime(Context).context))
        try:
            with self._services.known_runs.handing_on(GraphInterrupt):
                return with_settled_calls(input, await node(input, config or {}))
        except GraphInterrupt as stop:
            # LangGraph keeps it in a circle with its own frames, and the node's frames hold all of the request.
            raise stop.with_traceback(None) from None

    def invoke(self, input: State, config: RunnableConfig | None = None, **_: Any) -> StateUpdate:
        """Run the node in synchronous code."""
        return on_a_loop(self.ainvoke(input, config))


def on_a_loop(work: Coroutine[Any, Any, StateUpdate]) -> StateUpdate:
    """Run a coroutine from synchronous code, even if this thread's event loop is already running."""
    if not _in_a_loop():
        return asyncio.run(work)
    thread = LoopThread()
    try:
        return thread.begin(work).result()
    except CancelledError as error:
        raise asyncio.CancelledError(
            *error.args
        ) from None  # concurrent.futures has a CancelledError of its own, an `Exception`
    finally:
        thread.stop()


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def notifier_of(addresses: Addresses | None, ledger: Callable[[], Awaitable[Ledger]]) -> "Notifier | None":
    """Return the sender of notices to these addresses, None without any."""
    if addresses is None:
        return None
    from planner_executor.graph.notices.notifier import Notifier

    return Notifier(ledger, addresses)


def _warn_if_lax(checkpointer: Any) -> None:
    """Warn about a user's serializer that revives any type: with it, a forged checkpoint row can run code.

    Checkpoints in this process's memory cannot be forged.
    """
    # LangGraph's saver may be given a dictionary of another type, such as one kept in a file.
    if isinstance(checkpointer, InMemorySaver) and type(checkpointer.storage) is defaultdict:
        return
    allowed = getattr(getattr(checkpointer, "serde", None), "_allowed_msgpack_modules", None)
    if allowed is True:
        warnings.warn(
            "the checkpointer's serializer revives any type named in its rows; "
            "pass serde=JsonPlusSerializer(allowed_msgpack_modules=None)",
            stacklevel=4,
        )
