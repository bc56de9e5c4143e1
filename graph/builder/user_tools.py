"""Tools, and the adapter that verifies people, that an operator names as `module:name`."""

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from langchain_core.tools import BaseTool

from planner_executor.graph.builder.configuration import PACK, Packs, check_reach
from planner_executor.graph.builder.import_guard import CODE, ImportGuard
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.errors import ConfigError, ToolConfigError
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.settings.settings_file import settings_file
from planner_executor.graph.words.tables import read
from planner_executor.tools.errors import ConfigInvalid
from planner_executor.tools.packs import DEFAULT_PACKS

Tool = BaseTool | Callable[..., Any]
GivenPacks = str | Sequence[str] | None


def with_named(own: Sequence[BaseTool], names: Sequence[str]) -> list[Tool]:
    """Return the project's own tools, and those of each `module:name`; a named tool replaces an own one of its name.

    A tool that two of them name is one tool.

    The name is a list of tools, one LangChain tool, or a function without arguments that returns a list. Modules are
    imported from Python's path, and then from the current folder.

    Raises:
        ToolConfigError: The module or the name does not exist, or is not a list of tools.
        ConfigError: A tool, own or named, can write what is imported, or where it is looked for.
    """
    if not names:
        return list(own)
    with importing(Toolbox(own).specs) as sources:
        named = [tool for name in dict.fromkeys(names) for tool in _listed(name, _named(name))]
    # By identity: two names may lead to one tool, and two tools of one name are a fault.
    found = beside(own, list({id(tool): tool for tool in named}.values()))
    specs = Toolbox(found).specs
    # Only now are the named tools known, which may write what they came from.
    for source in sources:
        check_reach(specs, source, CODE)
    return found


class Toolset(NamedTuple):
    """The tools of a graph; runs that begin are offered all but `reserve`, which runs have that began so."""

    tools: Sequence[Tool]
    reserve: frozenset[str] = frozenset()

    @property
    def offered(self) -> list[Tool]:
        """The tools that runs which begin are offered."""
        return [tool for tool in self.tools if tool_name(tool) not in self.reserve]


def packs_chosen(given: GivenPacks, config: str | Path | None, *, has_tools: bool) -> tuple[str, ...]:
    """Return the packs: the given ones, else those of the settings file, else the default ones if no tools are named.

    Raises:
        ConfigError: One is unknown, or the settings file adds one without being trusted.
    """
    if given is None:
        named = PACK.value_in(settings_file(config))
        return (() if has_tools else DEFAULT_PACKS) if named is None else tuple(named)
    chosen, faults = read(Packs, [given] if isinstance(given, str) else given)
    if faults:
        raise ConfigError(f"pack {faults[0][1]}")
    return tuple(chosen)


def toolset_over(documents: Path, workspace: Path, packs: Sequence[str], names: Sequence[str] = ()) -> Toolset:
    """Return the project's tools over folders, and those of each `module:name`; those of other packs are in reserve.

    Raises:
        ToolConfigError: The environment names an invalid host, or see `with_named`.
        ConfigError: See `with_named`.
    """
    from planner_executor.tools.registry import every_tool  # many agents have tools of their own alone

    try:
        own = every_tool(documents, workspace)
        chosen = {tool.name for tool in _of_packs(documents, workspace, packs)}
    except ConfigInvalid as error:
        raise ToolConfigError("http_get", str(error)) from error
    found = with_named(own, names)
    return Toolset(found, frozenset(tool.name for tool in own if tool in found and tool.name not in chosen))


def toolset_of(tools: Sequence[Tool] | None, packs: GivenPacks, config: str | Path | None) -> Toolset:
    """Return the tools of a graph in code: the given ones with packs, or the project's own over `docs` and `workspace`.

    Raises:
        ConfigError: A pack is unknown, or a tool cannot be made.
    """
    here = Path("docs"), Path("workspace")
    if tools is None:
        return toolset_over(*here, packs_chosen(packs, config, has_tools=False))
    chosen = packs_chosen(packs or (), config, has_tools=True)
    return Toolset(beside(_of_packs(*here, chosen) if chosen else (), tools))


def _of_packs(documents: Path, workspace: Path, packs: Sequence[str]) -> list[BaseTool]:
    from planner_executor.tools.registry import default_tools

    return default_tools(documents, workspace, packs=packs)


def adapter_named(name: str, tools: Mapping[str, ToolSpec]) -> Callable[..., Any]:
    """Return the function `module:name` that verifies people, see `graph.settings.identity.Adapter`.

    Args:
        name: Its module, and its name there.
        tools: The tools of the graph, none of which may write it.

    Raises:
        ToolConfigError: The module or the name does not exist, or is no function.
        ConfigError: A tool can write what is imported, or where it is looked for.
    """
    with importing(tools):
        found = _named(name)
    if not callable(found):
        raise ToolConfigError(name, "is no function; it takes a graph.Person or None, and returns one or None")
    return found  # type: ignore[no-any-return]


def beside(own: Sequence[BaseTool], named: Sequence[Tool]) -> list[Tool]:
    """Return the project's own tools and the named ones; a named tool replaces an own tool of the same name."""
    taken = {tool_name(tool) for tool in named}
    return [*(tool for tool in own if tool.name not in taken), *named]


def _named(name: str) -> Any:
    module, _, attribute = name.partition(":")
    if not module or not attribute.isidentifier():
        raise ToolConfigError(name, "name it as module:name, such as shop.tools:TOOLS")
    found = getattr(_imported(name, module), attribute, None)
    if found is None:
        raise ToolConfigError(name, f"module {module} has no {attribute}")
    return found


def _imported(name: str, module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ConfigError:  # of a module that a tool can write
        raise
    except ImportError as error:
        raise ToolConfigError(name, f"cannot be imported: {error}; start where its module can be found") from error
    except Exception as error:
        raise ToolConfigError(name, f"fails while it is imported: {type(error).__name__}: {error}") from error


@contextmanager
def importing(tools: Mapping[str, ToolSpec]) -> Iterator[set[str]]:
    """Let modules be imported from the current folder too, but none that a tool can write.

    The folder is the last on Python's path, so that its modules cannot shadow installed ones. Yields the folder and
    the files that are imported.

    Raises:
        ConfigError: A tool can write to the current folder, or what is imported.
    """
    here = str(Path.cwd())
    sources: set[str] = set()

    def check(file: str) -> None:
        check_reach(tools, file, CODE)
        sources.add(file)

    check(here)
    guard = ImportGuard(check)
    sys.path.append(here)
    sys.meta_path.insert(0, guard)
    try:
        yield sources
    finally:
        sys.meta_path.remove(guard)
        sys.path.remove(here)


def _listed(name: str, found: Any) -> list[Tool]:
    if isinstance(found, BaseTool):
        return [found]
    if callable(found):
        try:
            found = found()
        # Code of the user's own, run when an agent is built: whatever it raises names the file.
        except Exception as error:
            why = f"fails when it is called for its tools: {type(error).__name__}: {error}; decorate a tool with @tool"
            raise ToolConfigError(name, why) from error
    if not isinstance(found, list | tuple) or not all(isinstance(one, BaseTool) or callable(one) for one in found):
        raise ToolConfigError(name, "is neither a tool, nor a list of tools, nor a function that returns one")
    return list(found)


def tool_name(tool: Tool) -> str:
    """Return the name of a tool, or of a function that becomes a tool, as plans use it."""
    return tool.name if isinstance(tool, BaseTool) else getattr(tool, "__name__", "")
