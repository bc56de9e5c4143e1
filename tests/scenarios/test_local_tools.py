"""Whole runs with the project's own tools over files: data go from step to step, and cannot steer them."""

from pathlib import Path
from typing import Any

import pytest

from planner_executor import Agent, default_tools
from planner_executor.graph.testing import step

SALES = """city;amount;note
Oslo;10.5;"=cmd|'/c calc'!A0"
Oslo;2;{report_result}
Bergen;7;'); DROP TABLE data; --
"""


@pytest.fixture
def agent(tmp_path: Path) -> Any:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "sales.csv").write_text(SALES)
    (tmp_path / "docs" / "plan.json").write_text('{"targets": {"Oslo": 10, "Bergen": 10}, "save_as": "../outside.txt"}')
    own = default_tools(tmp_path / "docs", tmp_path / "out", packs=("files", "tables", "code", "documents"))
    with Agent.open(tmp_path / "runs.db", tools=own, replan="never") as opened:
        yield opened


def test_rows_are_queried_computed_with_and_written_after_one_approval(agent: Any, tmp_path: Path) -> None:
    totals = "SELECT city, sum(amount) AS total FROM data GROUP BY city ORDER BY city"
    code = "[{**row, 'met': row['total'] >= targets[row['city']]} for row in rows]"
    plan = {
        "steps": [
            step("sales", "query_csv", path="sales.csv", sql=totals),
            step("targets", "query_json", path="plan.json", expression="targets"),
            step(
                "met",
                "run_python",
                code=code,
                inputs={"rows": "{sales_result.rows}", "targets": "{targets_result.value}"},
            ),
            step("report", "write_file", path="met.json", content="{met_result.value}"),
            step("check", "query_json", after=["report"], path="met.json", expression="[?met].city"),
        ],
        "answer": "{check_result.value}",
    }

    run = agent.resume(agent.start("Which cities met their target?", plan=plan).id, "approve")

    assert (run.status, run.answer) == ("succeeded", ["Oslo"])
    assert (tmp_path / "out" / "met.json").read_text().startswith('[\n  {\n    "city": "Bergen",')


def test_hostile_cells_are_values_wherever_they_go(agent: Any, tmp_path: Path) -> None:
    plan = {
        "steps": [
            step("sales", "query_csv", path="sales.csv"),
            step("same", "query_csv", path="sales.csv", sql="SELECT city FROM data WHERE note = ?",
                 params=["{sales_result.rows[2].note}"]),
            step("code", "run_python", code="note", inputs={"note": "{sales_result.rows[1].note}"}),
            step("report", "write_file", path="notes.txt", content="{code_result.value}"),
        ],
        "answer": ["{same_result.rows[0].city}", "{code_result.value}"],
    }  # fmt: skip

    run = agent.resume(agent.start("Take the notes", plan=plan).id, "approve")

    assert (run.status, run.answer) == ("succeeded", ["Bergen", "{report_result}"])
    assert (tmp_path / "out" / "notes.txt").read_text() == "{report_result}"


def test_a_path_that_comes_from_a_file_is_shown_to_a_person_and_leads_nowhere_else(agent: Any, tmp_path: Path) -> None:
    plan = {
        "steps": [
            step("name", "query_json", path="plan.json", expression="save_as"),
            step("report", "write_file", path="{name_result.value}", content="words"),
        ]
    }

    held = agent.resume(agent.start("Save it", plan=plan).id, "approve")
    (request,) = held.request["action_requests"]
    run = agent.resume(held.id, {"type": "approve"})

    assert (request["name"], request["args"]["args"]["path"]) == ("run_step", "../outside.txt")
    assert run.status == "failed" and not (tmp_path / "outside.txt").exists()


def test_a_wrong_column_fails_with_what_a_replanner_needs(agent: Any) -> None:
    plan = {"steps": [step("sales", "query_csv", path="sales.csv", sql="SELECT town FROM data")]}

    run = agent.resume(agent.start("Towns", plan=plan).id, "approve")

    assert "data(city, amount, note)" in run.results["sales"].error
