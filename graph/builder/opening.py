"""The opening of an agent: its options are checked, its MCP servers started and its database prepared.

`graph.session`, which drives runs, is imported on first use (decision 160).
"""

import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from planner_executor.graph.builder.options import GraphOptions, Options, options_of
from planner_executor.graph.builder.tool_servers import Servers, awith_servers
from planner_executor.graph.builder.user_tools import tool_name, toolset_of
from planner_executor.graph.calls.threads import run_sync
from planner_executor.graph.checkpoints.kept_checkpoints import keep_checkpoints_from_environment
from planner_executor.graph.errors import ConfigError
from planner_executor.graph.ledger.address import is_address
from planner_executor.graph.ledger.database_name import IN_MEMORY, name_fault
from planner_executor.graph.ledger.seal import SealKey, key_from_environment

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

ProgressCallback = Callable[[Mapping[str, Any]], None]

NAMES_A_MODEL = re.compile(r"[a-z][a-z0-9_]+:[\w.-]+")
"""Such as `openai:gpt-5`; a drive of Windows has one letter."""


class AgentOptions(GraphOptions, total=False):
    """What an agent is opened with: the arguments of `build_graph`, but what its database holds, and MCP servers."""

    mcp: Servers


class NotGiven(Enum):
    """The default of `decision`: the run goes on without one."""

    DECISION = "not given"


class Opened(NamedTuple):
    """What an agent was opened with; a checkpointer in memory is made with the graph."""

    database: str | Path
    options: Options
    tools: frozenset[str]
    key: SealKey | None
    checkpointer: "BaseCheckpointSaver[Any] | None"


def check_arguments(database: Any, options: Mapping[str, Any]) -> None:
    """Check what an agent is opened with, before a file of a strange name is created.

    Raises:
        ConfigError: The database is no path, or an option belongs to `build_graph` alone.
    """
    if not isinstance(database, str | Path):
        expected = "the path of an SQLite file or the address of a PostgreSQL database"
        raise ConfigError(f"database must be {expected}, got {type(database).__name__}")
    if NAMES_A_MODEL.fullmatch(str(database)) and not Path(database).exists():
        raise ConfigError(f"database {str(database)!r} looks like a model; name the model with planner={database!r}")
    if fault := name_fault(str(database)):
        raise ConfigError(fault)
    if own := [name for name in ("checkpointer", "ledger") if name in options]:
        why = "an agent opens it in its database; to bring one, use build_graph and AsyncAgent.over"
        raise ConfigError(f"{own[0]} cannot be given: {why}")


@asynccontextmanager
async def opened(database: str | Path, options: AgentOptions) -> AsyncIterator[Opened]:
    """Check the options of an agent, then open its database; nothing is written if an option is invalid."""
    check_arguments(database, options)
    # Read here for its fault alone: the checkpointer reads it when the database is already there.
    keep_checkpoints_from_environment()
    toolset = await run_sync(partial(toolset_of, options.get("tools"), options.get("pack"), options.get("config")))
    async with AsyncExitStack() as closing:
        all_tools = await closing.enter_async_context(awith_servers(options.get("mcp"), toolset.tools))
        chosen: Any = {name: value for name, value in options.items() if name not in ("mcp", "pack")}
        chosen |= {"tools": all_tools, "reserve": {*options.get("reserve", ()), *toolset.reserve}}
        checked = await run_sync(lambda: options_of(**chosen))  # it reads files, which a server's event loop must not
        key, saver = await run_sync(key_from_environment), None
        if str(database) != IN_MEMORY:
            if not is_address(str(database)):
                checked.check_file(database)
            open_checkpointer = await run_sync(_import_checkpointers)
            saver = await closing.enter_async_context(open_checkpointer(database))
        yield Opened(database, checked, frozenset(map(tool_name, all_tools)), key, saver)


def _import_checkpointers() -> Any:
    from planner_executor.graph.checkpoints.checkpoint import open_checkpointer

    return open_checkpointer
