"""Tools, and the adapter that verifies people, that an operator names as `module:name`."""

import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool

from graph.errors import ToolConfigError

Tool = BaseTool | Callable[..., Any]


def tools_named(names: Sequence[str]) -> list[Tool]:
    """Return the tools of each `module:name`, in order.

    The name is a list of tools, one LangChain tool, or a function without arguments that returns a list. Modules are
    imported from Python's path, and then from the current folder.

    Raises:
        ToolConfigError: The module or the name does not exist, or is not a list of tools.
    """
    return [tool for name in names for tool in _tools_of(name)]


def adapter_named(name: str) -> Callable[..., Any]:
    """Return the function `module:name` that verifies people, see `graph.identity.Adapter`.

    Raises:
        ToolConfigError: The module or the name does not exist, or is no function.
    """
    found = _named(name)
    if not callable(found):
        raise ToolConfigError(name, "is no function; it takes a graph.Person or None, and returns one or None")
    return found  # type: ignore[no-any-return]


def beside(own: Sequence[BaseTool], named: Sequence[Tool]) -> list[Tool]:
    """Return the project's own tools and the named ones; a named tool replaces an own tool of the same name."""
    taken = {tool_name(tool) for tool in named}
    return [*(tool for tool in own if tool.name not in taken), *named]


def _tools_of(name: str) -> list[Tool]:
    return _listed(name, _named(name))


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
        with _current_folder():
            return importlib.import_module(module)
    except ImportError as error:
        raise ToolConfigError(name, f"cannot be imported: {error}; start where its module can be found") from error
    except Exception as error:
        raise ToolConfigError(name, f"fails while it is imported: {type(error).__name__}: {error}") from error


@contextmanager
def _current_folder() -> Iterator[None]:
    """Add the current folder to the end of Python's path, so that its modules cannot shadow installed ones."""
    here = str(Path.cwd())
    sys.path.append(here)
    try:
        yield
    finally:
        sys.path.remove(here)


def _listed(name: str, found: Any) -> list[Tool]:
    if isinstance(found, BaseTool):
        return [found]
    if callable(found):
        try:
            found = found()
        except Exception as error:
            why = f"fails when it is called for its tools: {type(error).__name__}: {error}; decorate a tool with @tool"
            raise ToolConfigError(name, why) from error
    if not isinstance(found, list | tuple) or not all(isinstance(one, BaseTool) or callable(one) for one in found):
        raise ToolConfigError(name, "is neither a tool, nor a list of tools, nor a function that returns one")
    return list(found)


def tool_name(tool: Tool) -> str:
    """Return the name of a tool, or of a function that becomes a tool, as plans use it."""
    return tool.name if isinstance(tool, BaseTool) else getattr(tool, "__name__", "")
