from pathlib import Path

import pytest

from planner_executor.graph.errors import ToolConfigError
from planner_executor.graph.evaluation.sandbox import Sandbox, allowed_tools, contents_digest
from planner_executor.graph.evaluation.suite import Case, Suite
from planner_executor.graph.plan.catalog import ToolSpec

CASE = Case(id="a", goal="a", checks=({"non_empty": True},))


def suite(folder: Path, **more: object) -> Suite:
    return Suite.model_validate({"name": "s", "cases": (CASE,), "folder": folder, **more})


def specs(workspace: Path) -> list[ToolSpec]:
    inside = str(workspace / "reports")
    return [
        ToolSpec("look", "", {}, effect="read"),
        ToolSpec("write", "", {}, effect="write", folder=inside),
        ToolSpec("write_anywhere", "", {}, effect="write"),
        ToolSpec("write_elsewhere", "", {}, effect="write", folder=str(workspace.parent)),
        ToolSpec("send", "", {}, effect="external"),
    ]


def test_only_tools_that_stay_in_the_copy_may_be_used(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"

    assert allowed_tools(specs(workspace), suite(tmp_path), workspace) == ["look", "write"]


def test_a_tool_that_reaches_further_has_to_be_allowed_by_name(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"

    assert allowed_tools(specs(workspace), suite(tmp_path, allow=("send",)), workspace) == ["look", "write", "send"]
    assert allowed_tools(specs(workspace), suite(tmp_path, allow=("send",), tools=("send",)), workspace) == ["send"]
    with pytest.raises(ToolConfigError, match="external"):
        allowed_tools(specs(workspace), suite(tmp_path, tools=("look", "send")), workspace)


@pytest.mark.parametrize("said", [{"tools": ("loook",)}, {"allow": ("sned",)}])
def test_a_tool_that_is_not_there_is_named(tmp_path: Path, said: dict[str, object]) -> None:
    with pytest.raises(ToolConfigError, match="it does not exist"):
        allowed_tools(specs(tmp_path), suite(tmp_path, **said), tmp_path)


def test_a_fresh_copy_leaves_the_workspace_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.txt").write_text("before")
    made = Sandbox.fresh(suite(tmp_path, workspace="files"), CASE, tmp_path / "trial")

    (made.workspace / "a.txt").write_text("after")

    assert (tmp_path / "files" / "a.txt").read_text() == "before"
    assert made.text("a.txt") == "after"


def test_checks_look_at_files_of_the_copy_only(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    made = Sandbox.fresh(suite(tmp_path), CASE, tmp_path / "trial")
    (made.workspace / "link.txt").symlink_to(tmp_path / "secret.txt")
    (made.workspace / "folder").mkdir()

    assert [made.describe_file(path) for path in ("link.txt", "folder", "../../secret.txt", "nothing")] == [None] * 4
    assert [made.text(path) for path in ("link.txt", "folder", "../../secret.txt", "nothing")] == [None] * 4


def test_a_folder_is_known_by_the_names_and_the_bytes_in_it(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x").write_text("1")
    before = contents_digest(tmp_path)

    (tmp_path / "a" / "x").rename(tmp_path / "a" / "y")
    renamed = contents_digest(tmp_path)
    (tmp_path / "a" / "y").write_text("2")

    assert len({before, renamed, contents_digest(tmp_path), contents_digest(None)}) == 4
