"""The benchmarks run at tiny sizes; what they measure is not judged here."""

import asyncio
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.agentdojo import user_tasks
from benchmarks.chart import chart_svg
from benchmarks.comparison import SYSTEMS, Compared
from benchmarks.cost_per_step import asking
from benchmarks.direct_road import answering
from benchmarks.figures import at_most
from benchmarks.many_runs import many_runs
from benchmarks.page import comparison_table, figures_table, marks, write_between_marks
from benchmarks.playbooks import playbooks
from benchmarks.prompt_sizes import table, table_of_many
from benchmarks.runs_at_once import runs_at_once
from benchmarks.runs_chart import runs_chart_svg
from benchmarks.sizes import Sizes
from benchmarks.steps_on_postgres import steps_on_postgres
from benchmarks.stops import MAILS, Stops, all_at_once, by_plan, one_by_one, stops, total
from benchmarks.trial import side_by_side
from benchmarks.workloads import fan

TINY = Sizes(1, (1, 2), 2, (2, 0.002, 0.001), 4, (2, 3), (2, 3), (3, 6), (1, 2), tool_s=0.0, least_runs=2, processes=2)


async def test_every_system_does_the_work_and_is_shown() -> None:
    workload = fan(3, 0.0, failing=("step_2",))

    compared = Compared(workload, await side_by_side(SYSTEMS, workload, repeats=1))

    calls = {name: cost.model_calls for name, cost in compared.costs.items()}
    assert calls == {
        "ours": 2,
        "waves with Send": 2,
        "ReAct, parallel calls": 4,
        "ReAct, one call at a time": 6,
        "plan-and-execute, replanning after each step": 14,
    }
    assert comparison_table([compared]).count("\n") == 1 + len(SYSTEMS)
    assert ElementTree.fromstring(chart_svg([compared])).tag.endswith("svg")


async def test_a_plan_that_works_asks_the_model_once() -> None:
    (figure,) = await asking(TINY)

    assert figure.reached


async def test_a_goal_that_needs_no_plan_asks_the_model_once() -> None:
    (figure,) = await answering(TINY)

    assert figure.measured.startswith("1 call, ")


async def test_a_playbook_asks_no_planner() -> None:
    calls, _ = await playbooks(TINY)

    assert calls.reached


def test_six_mails_are_one_stop_with_a_plan_and_each_a_decision_with_the_middleware() -> None:
    ours, single, batched = (asyncio.run(total([MAILS], way)) for way in (by_plan, one_by_one, all_at_once))

    assert (ours, single, batched) == (Stops(1, 1, 6, 6), Stops(6, 6, 1, 6), Stops(1, 6, 6, 6))


async def test_each_kind_of_task_is_counted_and_those_of_agentdojo_are_all_there() -> None:
    figures = await stops(replace(TINY, every_task=30))

    assert [figure.what.split(", ")[-1] for figure in figures] == ["0 tasks", "3 tasks", "1 task", "1 task"]
    assert len(user_tasks()) == 97 and sum(len(task.calls) for task in user_tasks()) == 339


def test_a_full_run_replaces_what_the_page_says(tmp_path: Path) -> None:
    page, (begin, end), (other, _) = tmp_path / "page.md", marks("measured"), marks("soak")
    page.write_text(f"before\n{other}\nkept\n{begin}\nold\n{end}\nafter\n")

    write_between_marks(page, figures_table([at_most("speed", 1, 2.0)]))

    assert "| speed | at most 1 | 2 | **no** |" in page.read_text()
    assert "old" not in page.read_text() and page.read_text().endswith(f"{end}\nafter\n")
    assert page.read_text().startswith(f"before\n{other}\nkept\n")


def test_a_step_that_fails_takes_its_time_twice() -> None:
    assert fan(3, 1.0).critical_s == 2.0
    assert fan(3, 1.0, failing=("step_2",)).critical_s == 3.0


@pytest.mark.e2e
def test_runs_at_once_are_measured_over_both_databases() -> None:
    done = asyncio.run(runs_at_once(TINY))

    rows = [[cell.strip() for cell in row.split("|")[1:4]] for row in done.table().split("\n")[2:]]
    assert rows == [
        [kind, *sizes] for kind in ("SQLite", "PostgreSQL") for sizes in (["1", "1"], ["1", "2"], ["2", "2"])
    ]
    assert [figure.what.rpartition(", ")[2] for figure in done.figures] == ["SQLite", "PostgreSQL"]
    assert [figure.what.rpartition(", ")[2] for figure in asyncio.run(steps_on_postgres(TINY))] == ["chain of 2"]


async def test_looks_at_many_runs_find_what_they_look_for_and_are_drawn() -> None:
    looked = await many_runs(TINY)

    assert looked.most == 6 and all(len(by_count) == 2 for by_count in looked.looks_ms.values())
    assert len(looked.figures()) == len(looked.looks_ms) + 1
    assert ElementTree.fromstring(runs_chart_svg(looked)).tag.endswith("svg")


def test_the_page_states_the_sizes_of_prompts_as_they_are() -> None:
    page = Path("docs/benchmarks.md").read_text()

    assert table() in page and table_of_many() in page
