import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from graph.errors import ToolConfigError
from graph.own_tools import beside, tools_named
from graph.testing import LoggedTools

SOURCE = """
from tools import tool

@tool("read")
def look(what: str) -> str:
    "Look at something."
    return what

def plain(what: str) -> str:
    "Look again."
    return what

TOOLS = [look, plain]

def made():
    return [look]

def broken():
    raise OSError("no service")

NUMBER = 7
MIXED = [look, 7]
"""
modules = count()


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Return the name of a module in the current folder."""
    name = f"shop_{next(modules)}"
    (tmp_path / f"{name}.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    yield name
    sys.modules.pop(name, None)


@pytest.mark.parametrize(("attribute", "found"), [("TOOLS", ["look", "plain"]), ("made", ["look"]), ("look", ["look"])])
def test_a_list_a_function_and_a_single_tool_can_be_named(attribute: str, found: list[str], shop: str) -> None:
    tools = tools_named([f"{shop}:{attribute}"])

    assert [getattr(tool, "name", getattr(tool, "__name__", "")) for tool in tools] == found
    assert str(Path.cwd()) not in sys.path


@pytest.mark.parametrize(
    ("attribute", "said"),
    [
        ("plain", "decorate a tool with @tool"),
        ("broken", "OSError: no service"),
        ("NUMBER", "neither a tool, nor a list of tools"),
        ("MIXED", "neither a tool, nor a list of tools"),
        ("missing", "has no missing"),
        ("a-b", "module:name"),
    ],
)
def test_what_holds_no_tools_is_refused_in_a_sentence(attribute: str, said: str, shop: str) -> None:
    with pytest.raises(ToolConfigError, match=said):
        tools_named([f"{shop}:{attribute}"])


@pytest.mark.parametrize("name", ["", "shop", ":x", "no.such.module:TOOLS"])
def test_a_module_that_is_not_there_is_refused_in_a_sentence(name: str) -> None:
    with pytest.raises(ToolConfigError, match=r"module:name|cannot be imported"):
        tools_named([name])


def test_a_module_that_fails_is_refused_in_a_sentence(shop: str) -> None:
    Path(f"{shop}.py").write_text("1 / 0")

    with pytest.raises(ToolConfigError, match="fails while it is imported: ZeroDivisionError"):
        tools_named([f"{shop}:TOOLS"])


def test_a_file_in_the_current_folder_hides_no_module_that_is_installed(shop: str) -> None:
    Path("tools.py").write_text("TOOLS = []")

    with pytest.raises(ToolConfigError, match="module tools has no TOOLS"):
        tools_named(["tools:TOOLS"])


def test_a_named_tool_takes_the_place_of_an_own_one_of_its_name() -> None:
    own, other, named = (LoggedTools().tool(name) for name in ("look", "pay", "look"))

    assert beside([own, other], [named]) == [other, named]
