"""What a tool can write is never imported, be it at the start or later."""

import importlib
import sys
from pathlib import Path

import pytest

from planner_executor import build_graph
from planner_executor.graph.errors import ConfigError
from planner_executor.graph.testing import LoggedTools, ScriptedModel


@pytest.mark.parametrize(("effect", "is_refused"), [("write", True), ("read", False)])
def test_a_module_in_the_folder_of_a_tool_is_no_package_of_a_folder_above_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tools: LoggedTools, effect: str, is_refused: bool
) -> None:
    name = f"space_of_{effect}"
    (tmp_path / name).mkdir()
    (tmp_path / f"beside_{effect}.py").write_text("")
    link = tmp_path / f"link_to_{effect}"
    link.symlink_to(tmp_path / name)
    monkeypatch.syspath_prepend(str(tmp_path))
    build_graph(ScriptedModel([]), tools=[tools.tool("keep", str, effect=effect, folder=str(link))])

    (tmp_path / name / "planted.py").write_text("")
    importlib.invalidate_caches()
    for package in (name, link.name):
        if not is_refused:
            assert importlib.import_module(f"{package}.planted")
            continue
        with pytest.raises(ConfigError, match="where keep can write; it holds code that is imported"):
            importlib.import_module(f"{package}.planted")
        assert f"{package}.planted" not in sys.modules
    assert importlib.import_module(f"beside_{effect}")
