"""A review says which files a plan would replace, and a replay says the same from the record."""

from pathlib import Path

from planner_executor import Agent, default_tools
from planner_executor.graph.runs.run import Run
from planner_executor.graph.testing import ScriptedModel, step

PLAN = {
    "steps": [
        step("report", "write_report", content="Words."),
        step("named", "write_report", content="Words.", path="mine.md"),
        step("file", "write_file", path="data.txt", content="new", overwrite=True),
        step("later", "write_file", path="{file_result.path}", content="new", overwrite=True),
    ]
}


def told(run: Run) -> str:
    assert run.request is not None
    return str(run.request["action_requests"][0]["description"])


def test_a_review_names_the_files_that_would_be_replaced(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    tools = default_tools(documents=tmp_path, workspace=workspace)
    with Agent(tmp_path / "runs.db", planner=ScriptedModel([PLAN, PLAN]), tools=tools) as agent:
        assert "is there" not in told(agent.start("write", thread="first"))
        (workspace / "mine.md").write_text("mine")
        (workspace / "data.txt").write_text("old")
        said = told(agent.start("write", thread="second"))
        (workspace / "data.txt").unlink()

        assert agent.replay("second").is_same

    assert "file: data.txt is there and would be replaced" in said
    assert "named: mine.md is there and was not written by this tool, so the step would fail" in said
    assert said.count("is there and") == 2, "the others replace nothing that is known"
