"""The main job, as `make run` does it: a cited brief over the project's own documentation, opened line by line."""

import re
from pathlib import Path

from graph import Agent
from tools import default_tools

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
