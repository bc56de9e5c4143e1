"""The main job, as `make run` does it: a cited brief over the project's own documentation, opened line by line."""

import re
from pathlib import Path

from planner_executor import Agent, default_tools
from planner_executor.graph.testing import ScriptedModel, step

DOCS = Path(__file__).parents[2] / "docs"
GOAL = "Research how this agent keeps side effects safe and write a brief report with sources"
STATEMENT = re.compile(r"^- (?P<words>.+) \((?P<source>[^()]+):(?P<first>\d+)(?:-(?P<last>\d+))?\)$", re.MULTILINE)


def cited_text(source: str, first: int, last: int) -> str:
    lines = (DOCS / source).read_text().splitlines()[first - 1 : last]
    return " ".join(" ".join(lines).split())


def test_every_statement_of_the_report_stands_at_the_line_it_cites(tmp_path: Path) -> None:
    tools = default_tools(documents=DOCS, workspace=tmp_path / "workspace")
    with Agent.open(tmp_path / "runs.db", tools=tools) as agent:
        run = agent.resume(agent.start(GOAL).id, "approve")

    report = (tmp_path / "workspace" / "report.md").read_text()
    statements = list(STATEMENT.finditer(report))
    assert run.status == "succeeded" and len(statements) >= 5
    bullets = [line for line in report.split("## Sources")[0].splitlines() if line.startswith("- ")]
    assert len(bullets) == len(statements), "a statement without a citation"
    for found in statements:
        last = int(found["last"] or found["first"])
        assert found["words"] in cited_text(found["source"], int(found["first"]), last)


def test_a_brief_may_be_written_by_a_model_and_asks_no_more_than_once(tmp_path: Path) -> None:
    judge = {"id": "judge", "objective": "say what matters most", "tools": [], "depends_on": ["find"]}
    plan = {
        "steps": [
            step("find", "search_documents", query="side effects lease"),
            judge,
            step("write", "write_report", content="# Brief\n\n{judge_result}\n"),
        ],
        "answer": "{write_result.path}",
    }
    model = ScriptedModel(["One owner at a time."])
    tools = default_tools(documents=DOCS, workspace=tmp_path / "workspace")
    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([plan]), executor=model, tools=tools) as agent:
        run = agent.resume(agent.start("a brief on what keeps side effects safe").id, "approve")

    assert run.status == "succeeded" and "lease" in str(model.prompts[0][1].content)
    assert (tmp_path / "workspace" / "report.md").read_text() == "# Brief\n\nOne owner at a time.\n"
