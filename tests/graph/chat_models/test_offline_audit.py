"""The audit of a failing service, and what the rules do where its logs are incomplete."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.chat_models.json_text import NoJson, json_from
from planner_executor.graph.chat_models.offline.audit_goals import audit_goal
from planner_executor.graph.chat_models.offline.goals import brief_goal
from planner_executor.graph.plan.revision import read_revision
from planner_executor.graph.plan.schedule import waits_for
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.results import StepResult
from planner_executor.tools.registry import every_tool

Ask = Callable[..., str]
Planned = Callable[..., Plan]
CarryOut = Callable[..., dict[str, StepResult]]

GOAL = "Audit why the checkout service is failing and draft a fix"
TRACE = "Traceback (most recent call last):\n  File \"/srv/x/app.py\", line 2, in f\n    g()\nKeyError: 'k'"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A service with one line that fails; its logs are for the test to write."""
    (tmp_path / "service").mkdir()
    (tmp_path / "service" / "app.py").write_text("def f():\n    g()\n")
    (tmp_path / "app.py").write_text("def f():\n    g()\n")
    return tmp_path


@pytest.fixture
def toolbox(folder: Path) -> Toolbox:
    return Toolbox(every_tool(folder, folder / "workspace"))


def log(folder: Path, name: str, *records: dict[str, Any]) -> None:
    text = "".join(json.dumps({"timestamp": "2026-09-15T08:00:00Z", **record}) + "\n" for record in records)
    (folder / name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())


def access(folder: Path, status: int = 500) -> None:
    (folder / "access.log").write_text(f'::1 - - [15/Sep/2026:08:00:00 +0000] "GET /pay HTTP/1.1" {status} 1\n')


def statuses(results: dict[str, StepResult]) -> set[str]:
    return {result.status for result in results.values()}


FAILED = {"level": "error", "message": "no", "exc_info": TRACE}


def test_logs_are_collected_side_by_side_then_grouped_then_the_source_is_read_then_a_fix_is_drafted(
    planned: Planned,
) -> None:
    plan = planned(GOAL)

    assert [step.tool for step in plan.steps] == [
        *["read_logs"] * 3,
        "group_errors",
        "read_source",
        "write_report",
    ]
    waits = waits_for(plan.steps)
    assert [waits[f"step_{number}"] for number in (1, 2, 3)] == [(), (), ()]
    assert plan.by_id["step_4"].args == {"records": ["{step_1_result}", "{step_2_result}", "{step_3_result}"]}
    assert plan.by_id["step_5"].args == {
        "path": "{step_4_result.groups[0].file}",
        "line": "{step_4_result.groups[0].line}",
    }
    assert set(waits["step_6"]) == {"step_4", "step_5"}
    assert plan.by_id["step_6"].args["title"] == "Why the checkout service is failing"


@pytest.mark.parametrize(
    ("goal", "title", "draft"),
    [
        ("Find out why checkout fails with 500 and draft a fix", "Why checkout fails with 500", True),
        ("Why is the payment service down?", "Why is the payment service down", False),
        ("Debug the crashing worker, then write a report", "Debug the crashing worker", True),
        ("please diagnose the outage of the API", "Please diagnose the outage of the API", False),
        ("Find out why the app crashes; no fix", "Why the app crashes; no fix", False),
    ],
)
def test_many_ways_to_ask_for_an_audit_are_read(goal: str, title: str, draft: bool) -> None:
    found = audit_goal(goal)

    assert found is not None
    assert (found.title, found.draft) == (title, draft)


@pytest.mark.parametrize(
    "goal",
    [
        "Research why wind farms fail and write a brief report",
        "Find out why wind farms fail",
        "Find out why services fail according to the documents",
        "Summarise what the documents say about failing services",
        "Research how this agent keeps side effects safe and write a brief report with sources",
        "Write a report about outages of the power grid",
        "What is 500 + 2?",
    ],
)
def test_a_goal_about_documents_is_no_audit(goal: str) -> None:
    assert audit_goal(goal) is None
    assert "500" in goal or brief_goal(goal) is not None


def test_logs_and_the_file_of_the_draft_may_be_named(planned: Planned) -> None:
    plan = planned("Debug the errors in logs/worker.log and logs/web.log.1.gz and write it to out/why.md")

    assert [step.args["path"] for step in plan.steps if step.tool == "read_logs"] == [
        "logs/worker.log",
        "logs/web.log.1.gz",
    ]
    assert plan.steps[-1].args["path"] == "out/why.md"


def test_a_person_may_name_a_log_and_do_without_a_draft(planned: Planned, ask: Ask) -> None:
    plan = planned(GOAL, feedback=("read logs/worker.log", "no draft"))

    assert [step.tool for step in plan.steps] == ["read_logs", "group_errors", "read_source"]
    assert plan.steps[0].args["path"] == "logs/worker.log"
    assert "cannot use this feedback" in ask(GOAL, feedback=("make it rhyme",))


def test_a_constraint_of_an_audit_is_kept_in_full_or_refused(planned: Planned, ask: Ask) -> None:
    plan = planned(GOAL, "Write the draft to fix-draft.md; name the failing file and line as file:line")

    assert plan.steps[-1].args["path"] == "fix-draft.md"
    assert "cannot keep to this constraint" in ask(GOAL, "Write the draft to fix-draft.md and mend the service")


@pytest.mark.parametrize(
    "wish", ["do not read logs/worker.log", "without logs/worker.log", "only logs/worker.log", "no logs"]
)
def test_a_log_that_is_ruled_out_is_not_read_instead(ask: Ask, wish: str) -> None:
    assert "cannot keep to this constraint" in ask(GOAL, wish)


def test_a_log_that_is_named_later_is_read_too(planned: Planned, revised: Planned) -> None:
    plan = planned(GOAL)

    after = revised(GOAL, plan, {}, feedback=("read logs/worker.log too",))

    assert after.by_id["step_7"].args["path"] == "logs/worker.log"
    assert "{step_7_result}" in after.by_id["step_4"].args["records"]


def test_without_the_tools_they_are_named_and_without_a_report_there_is_no_draft(planned: Planned, ask: Ask) -> None:
    assert "group_errors" in ask(GOAL, without=("group_errors",))
    assert "no draft" in planned(GOAL, without=("write_report",)).answer["note"]


def test_a_missing_log_is_replaced_by_its_copy_that_covers_the_first_error(
    folder: Path, planned: Planned, revised: Planned, carry_out: CarryOut
) -> None:
    access(folder)
    log(folder, "app.log.1.gz", {**FAILED, "timestamp": "2026-09-15T09:00:00Z"})
    log(folder, "app.log.2.gz", FAILED, {"message": "later", "timestamp": "2026-09-15T08:30:00Z"})
    (folder / "journal.export").write_text("__REALTIME_TIMESTAMP=1789459199000000\nMESSAGE=deploy: 2 is active\n\n")
    plan = planned(GOAL)
    results = carry_out(plan)
    assert [results[step].status for step in plan.by_id] == ["succeeded", "failed", "succeeded", *["blocked"] * 3]

    after = revised(GOAL, plan, results)

    assert set(after.by_id) == {"step_1", "step_3", "step_4", "step_5", "step_6", "step_7"}
    assert after.by_id["step_7"].args == {"path": "app.log.2.gz", "min_level": "warning"}
    assert after.by_id["step_4"].args == {"records": ["{step_1_result}", "{step_7_result}", "{step_3_result}"]}
    assert after.answer == plan.answer
    assert statuses(carry_out(after, results)) == {"succeeded"}
    assert "app.py:2" in (folder / "workspace" / "fix-draft.md").read_text()


def test_a_copy_that_cannot_be_read_is_followed_by_doing_without(
    folder: Path, planned: Planned, revised: Planned, carry_out: CarryOut
) -> None:
    access(folder)
    log(folder, "web.log", FAILED)
    (folder / "app.log.1.gz").write_bytes(b"\x1f\x8bbroken")
    goal = f"{GOAL}: read access.log, app.log and web.log"
    plan = planned(goal)
    once = revised(goal, plan, results := carry_out(plan))
    twice = revised(goal, once, again := carry_out(once, results))

    assert once.by_id["step_7"].args["path"] == "app.log.1.gz"
    assert "step_7" not in twice.by_id
    assert "left out" in twice.answer["note"]
    assert statuses(carry_out(twice, again)) == {"succeeded"}


def test_without_any_log_there_is_no_other_way(planned: Planned, replan: Ask, carry_out: CarryOut) -> None:
    plan = planned(GOAL)

    answer = replan(GOAL, plan, carry_out(plan))

    with pytest.raises(NoJson):
        json_from(answer)
    assert "no log fits" in answer


@pytest.mark.parametrize("now", [{"level": "error", "message": "no trace"}, {"message": "all is well"}])
def test_where_newer_logs_do_not_tell_the_place_older_ones_are_read(
    now: dict[str, Any], folder: Path, planned: Planned, revised: Planned, carry_out: CarryOut
) -> None:
    log(folder, "app.log", now)
    log(folder, "app.log.1.gz", FAILED)
    goal = "Debug the errors in app.log and draft a fix"
    plan = planned(goal)
    results = carry_out(plan)

    after = revised(goal, plan, results)

    assert "app.log.1.gz" in [step.args.get("path") for step in after.steps]
    assert statuses(carry_out(after, results)) == {"succeeded"}
    assert "app.py:2" in (folder / "workspace" / "fix-draft.md").read_text()


def test_a_source_that_cannot_be_read_is_said_in_the_draft(
    folder: Path, planned: Planned, revised: Planned, carry_out: CarryOut
) -> None:
    log(folder, "app.log", {**FAILED, "exc_info": TRACE.replace("line 2", "line 99")})
    goal = "Debug the errors in app.log and draft a fix"
    plan = planned(goal)
    results = carry_out(plan)

    after = revised(goal, plan, results)

    assert [step.tool for step in after.steps] == ["read_logs", "group_errors", "write_report"]
    carry_out(after, results)
    assert "(the source could not be read)" in (folder / "workspace" / "fix-draft.md").read_text()


def test_where_no_traceback_names_a_line_the_rest_is_dropped_and_said(
    folder: Path, planned: Planned, revised: Planned, carry_out: CarryOut
) -> None:
    access(folder)
    goal = "Debug the errors in access.log and draft a fix"
    plan = planned(goal)

    after = revised(goal, plan, carry_out(plan))

    assert [step.id for step in after.steps] == ["step_1", "step_2"]
    assert after.answer["summary"] == "{step_2_result.summary}"
    assert "no traceback" in after.answer["note"]


def test_logs_without_an_error_and_without_older_copies_end_honestly(
    folder: Path, planned: Planned, replan: Ask, carry_out: CarryOut
) -> None:
    access(folder, status=200)
    goal = "Debug the errors in access.log"
    plan = planned(goal)

    assert "no error" in replan(goal, plan, carry_out(plan))


MISSING = "no log fits '**/app.log'; rotated copies of it are there: {}; other logs: a.log"
ERRORS = [
    MISSING.format("b/app.log.1.gz (2026-09-15T07:45:02.118Z to 2026-09-15T08:41:11.750Z)"),
    MISSING.format("app.log.1.gz (not looked into), app.log.2.gz (from 2026-09-15T07:45:02.118Z on)"),
    MISSING.format("{step_1_result} (no times in it), x (1 to 2), ((("),
    "cannot read 'x': damaged",
    "none of the 3 records is an error",
    "reference {step_4_result.groups[0].file}: [0] is not there; the value is a list of 0",
    "cannot read 'x.py': there is no such file",
]
PREVIEWS = [
    {"first_error_at": "2026-09-15T08:14:07.000Z", "rotated": []},
    {"first_error_at": None, "rotated": ["old/app.log.1", "{step_2_result}.gz"]},
]


def possible(plan: Plan, outcome: Callable[[], StepResult]) -> dict[str, StepResult]:
    """Give each step an outcome, where what it waits for has succeeded."""
    results: dict[str, StepResult] = {}
    waits = waits_for(plan.steps)
    while left := [step for step in waits if step not in results and all(before in results for before in waits[step])]:
        ready = all(results[before].status == "succeeded" for before in waits[left[0]])
        results[left[0]] = outcome() if ready else StepResult("blocked")
    return results


@settings(deadline=None, max_examples=80)
@given(data=st.data())
def test_whatever_failed_the_answer_is_a_valid_revision_without_the_failed_calls_or_words(
    data: st.DataObject, planned: Planned, replan: Ask, toolbox: Toolbox
) -> None:
    goal = data.draw(st.sampled_from([GOAL, "Why is the service failing?", "Debug the errors in app.log"]))
    plan = planned(goal)
    ended = [*(StepResult("failed", error=error) for error in ERRORS)]
    ended += [StepResult("succeeded", preview) for preview in PREVIEWS]
    for _ in range(2):
        results = possible(plan, lambda: data.draw(st.sampled_from(ended)))
        try:
            raw = json_from(replan(goal, plan, results))
        except NoJson:
            return
        done = {step for step, result in results.items() if result.status == "succeeded"}
        reading = read_revision(raw, plan, done, toolbox.specs)
        assert reading.plan is not None, reading.issues
        for step, result in results.items():
            again = reading.plan.by_id.get(step)
            assert result.status != "failed" or not again or not again.same_as(plan.by_id[step])
        plan = reading.plan
