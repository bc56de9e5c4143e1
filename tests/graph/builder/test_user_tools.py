import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from planner_executor import default_tools
from planner_executor.graph.builder.user_tools import adapter_named, beside, with_named
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.errors import ConfigError, ToolConfigError
from planner_executor.graph.testing import LoggedTools

SOURCE = """
from planner_executor import tool

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
    tools = with_named([], [f"{shop}:{attribute}"])

    assert [getattr(tool, "name", getattr(tool, "__name__", "")) for tool in tools] == found
    assert str(Path.cwd()) not in sys.path


def test_a_tool_that_two_places_name_is_one_tool(shop: str) -> None:
    names = [f"{shop}:look", f"{shop}:TOOLS", f"{shop}:made", f"{shop}:look"]

    assert list(Toolbox(with_named([], names))) == ["look", "plain"]


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
        with_named([], [f"{shop}:{attribute}"])


@pytest.mark.parametrize("name", ["", "shop", ":x", "no.such.module:TOOLS"])
def test_a_module_that_is_not_there_is_refused_in_a_sentence(name: str) -> None:
    with pytest.raises(ToolConfigError, match=r"module:name|cannot be imported"):
        with_named([], [name])


def test_a_module_that_fails_is_refused_in_a_sentence(shop: str) -> None:
    Path(f"{shop}.py").write_text("1 / 0")

    with pytest.raises(ToolConfigError, match="fails while it is imported: ZeroDivisionError"):
        with_named([], [f"{shop}:TOOLS"])


def test_a_file_in_the_current_folder_hides_no_module_that_is_installed(shop: str) -> None:
    Path("simpleeval.py").write_text("TOOLS = []")

    with pytest.raises(ToolConfigError, match="module simpleeval has no TOOLS"):
        with_named([], ["simpleeval:TOOLS"])


def test_a_named_tool_takes_the_place_of_an_own_one_of_its_name() -> None:
    own, other, named = (LoggedTools().tool(name) for name in ("look", "pay", "look"))

    assert beside([own, other], [named]) == [other, named]


def ran(shop: str) -> bool:
    """Whether the module was run."""
    return shop in sys.modules


@pytest.mark.parametrize("place", [".", "..", "link"])
def test_nothing_is_imported_where_a_tool_can_write(shop: str, place: str, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(".")
    own = default_tools(documents=tmp_path, workspace=Path(place))

    with pytest.raises(ConfigError, match=r"where write_report can write; it holds code that is imported"):
        with_named(own, [f"{shop}:TOOLS"])
    with pytest.raises(ConfigError, match="write_report can write"):
        adapter_named(f"{shop}:made", Toolbox(own).specs)

    assert not ran(shop)


def test_a_project_folder_with_a_workspace_below_it_has_tools(shop: str, tmp_path: Path) -> None:
    own = default_tools(documents=tmp_path, workspace=Path("workspace"))

    assert len(with_named(own, [f"{shop}:TOOLS"])) == len(own) + 2
    assert callable(adapter_named(f"{shop}:made", Toolbox(own).specs))


@pytest.mark.parametrize("by", ["its name", "an import of the module that is named", "a link"])
def test_a_module_in_the_workspace_is_not_run(shop: str, by: str, tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    planted = tmp_path / "workspace" / f"{shop}_planted.py"
    planted.write_text(SOURCE)
    name = f"workspace.{shop}_planted:TOOLS"
    if by == "a link":
        (tmp_path / f"{shop}_link.py").symlink_to(planted)
        name = f"{shop}_link:TOOLS"
    elif by != "its name":
        (tmp_path / f"{shop}.py").write_text(f"import workspace.{shop}_planted\n{SOURCE}")
        name = f"{shop}:TOOLS"

    finders = list(sys.meta_path)
    with pytest.raises(ConfigError, match="it holds code that is imported"):
        with_named(default_tools(documents=tmp_path, workspace=Path("workspace")), [name])

    assert not any(known.endswith(("_planted", "_link")) for known in sys.modules)
    assert sys.meta_path == finders


def test_a_named_tool_that_can_write_its_own_module_is_refused(shop: str, tmp_path: Path) -> None:
    source = SOURCE.replace('@tool("read")', f'@tool("write", folder=__import__("pathlib").Path({str(tmp_path)!r}))')
    (tmp_path / f"{shop}.py").write_text(source)

    with pytest.raises(ConfigError, match="where look can write"):
        with_named([], [f"{shop}:TOOLS"])
