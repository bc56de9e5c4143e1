"""The example of a failing service: a failure, a revision, and a draft that is written only after approval."""

import importlib
import os
import shutil
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langgraph.types import Command

from planner_executor import Playbook, build_graph, default_tools
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.evaluation.case_run import run_case
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.playbooks.case import Case, cases_beside
from planner_executor.graph.testing import asked, on_thread
from planner_executor.graph.text.drawing.svg import plan_svg

EXAMPLE = Path(__file__).parents[2] / "examples" / "incident"
GOAL = "Audit why the checkout service is failing and draft a fix"


class CallLog(BaseCallbackHandler):
    """Writes down each call that a tool really gets, as (name, arguments)."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.errors: list[str] = []

    def on_tool_start(self, serialized: Any, input_str: str, *, inputs: Any = None, **kwargs: Any) -> None:
        self.calls.append((serialized["name"], dict(inputs or {})))

    def on_tool_error(self, error: BaseException, **kwargs: Any) -> None:
        self.errors.append(str(error))

    def paths(self, tool: str) -> list[str]:
        return [args["path"] for name, args in self.calls if name == tool]


@pytest.fixture
def log() -> CallLog:
    return CallLog()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return tmp_path / "workspace"


@pytest.fixture
def graph(saver: Any, log: CallLog, workspace: Path) -> Any:
    tools = default_tools(EXAMPLE, workspace)
    for tool in tools:
        tool.callbacks = [log]
    return build_graph(tools=tools, checkpointer=saver)


@pytest.fixture
def failing_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, str]]:
    """Run the service itself with an order to Norway, and return where it fails and the statement there."""
    shutil.copytree(EXAMPLE / "service", tmp_path / "run" / "service")
    monkeypatch.syspath_prepend(str(tmp_path / "run"))
    checkout = importlib.import_module("service.checkout")
    with pytest.raises(ValueError) as caught:
        checkout.place({"items": ["mug"], "country": "NO"})
    own = [frame for frame in traceback.extract_tb(caught.tb) if Path(frame.filename).parent.name == "service"]
    yield f"service/{Path(own[-1].filename).name}:{own[-1].lineno}", str(own[-1].line)
    for name in [name for name in sys.modules if name.split(".")[0] == "service"]:
        del sys.modules[name]


def approve(graph: Any) -> Any:
    return graph.invoke(Command(resume="approve"), on_thread())


def test_the_first_plan_is_shown_with_its_writing_step_and_nothing_runs_before_approval(
    graph: Any, log: CallLog, workspace: Path
) -> None:
    request = asked(graph.invoke({"goal": GOAL}, on_thread()))

    assert request["action_requests"][0]["name"] == "run_plan"
    assert "write_report" in request["action_requests"][0]["description"]
    assert log.calls == [] and not workspace.exists()


def test_a_missing_log_brings_a_revision_that_reads_the_rotated_copy_and_is_shown(
    graph: Any, log: CallLog, workspace: Path
) -> None:
    graph.invoke({"goal": GOAL}, on_thread())
    request = asked(approve(graph))

    results = graph.get_state(on_thread()).values["results"]
    assert {step for step, result in results.items() if result["status"] == "succeeded"} == {"step_1", "step_3"}
    assert len(log.errors) == 1 and "no log fits '**/app.log'" in log.errors[0]
    assert request["revision"] == 2
    assert request["diff"] == {"added": ["step_7"], "changed": ["step_4"], "removed": ["step_2"], "answer": False}
    (added,) = [s for s in request["action_requests"][0]["args"]["plan"]["steps"] if s["id"] == "step_7"]
    assert (added["tool"], added["args"]["path"]) == ("read_logs", "logs/app/app.log.1.gz")
    assert not workspace.exists() and log.paths("write_report") == []


def test_the_draft_names_the_true_failing_line(
    graph: Any, log: CallLog, workspace: Path, failing_line: tuple[str, str]
) -> None:
    where, statement = failing_line
    graph.invoke({"goal": GOAL}, on_thread())
    approve(graph)
    ended = approve(graph)

    assert (ended["status"], ended["reason"]) == ("succeeded", "6 of 6 steps succeeded")
    assert ended["answer"]["failing_line"] == where
    draft = (workspace / "fix-draft.md").read_text()
    for told in (
        where,
        statement,
        "StatisticsError: mean requires at least one data point",
        "2026-09-15T08:14:07.730Z",
    ):
        assert told in draft
    for told in ("POST /api/checkout (request req-", '"country": "NO"', "checkout 2.14.0 is active"):
        assert told in draft
    assert f"The rules propose: guard `mean(days)` in `{where}`" in draft


def test_what_was_read_is_not_read_again(graph: Any, log: CallLog) -> None:
    graph.invoke({"goal": GOAL}, on_thread())
    approve(graph)
    approve(graph)

    assert sorted(log.paths("read_logs")) == [
        "**/access.log", "**/app.log", "**/journal*.export", "logs/app/app.log.1.gz",
    ]  # fmt: skip
    names = [name for name, _ in log.calls]
    assert [names.count(tool) for tool in ("group_errors", "read_source", "write_report")] == [1, 1, 1]


@pytest.mark.parametrize("times", [0, 1])
def test_whoever_rejects_the_plan_or_its_revision_gets_no_file(graph: Any, workspace: Path, times: int) -> None:
    graph.invoke({"goal": GOAL}, on_thread())
    for _ in range(times):
        approve(graph)
    ended = graph.invoke(Command(resume="reject"), on_thread())

    assert ended["status"] == "rejected" and not workspace.exists()


def test_even_when_only_side_effects_need_a_person_the_draft_is_asked_for(saver: Any, workspace: Path) -> None:
    graph = build_graph(tools=default_tools(EXAMPLE, workspace), checkpointer=saver, approval="side_effects")

    asked(graph.invoke({"goal": GOAL}, on_thread()))
    asked(approve(graph))

    assert approve(graph)["status"] == "succeeded" and (workspace / "fix-draft.md").exists()


PLAYBOOK = EXAMPLE / "playbooks" / "find-failing-line.yaml"
PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "playbook.svg"


@pytest.mark.parametrize("changed", [None, "group_errors"])
async def test_the_test_of_its_playbook_fails_when_a_tool_answers_in_another_shape(
    changed: str | None, workspace: Path
) -> None:
    tools = {tool.name: tool for tool in default_tools(EXAMPLE, workspace)}
    if changed is not None:
        before = tools[changed].func
        tools[changed].func = lambda **args: {**before(**args), "groups": [{"place": "service/delivery.py:25"}]}
    (case,) = cases_beside(str(PLAYBOOK)).values()

    found = await run_case(Playbook.load(PLAYBOOK), case.stem, Case.load(case), Toolbox(tools.values()), reads=True)

    told = "call 0 of step_4: group_errors answers otherwise now: the answer.groups[0].where is missing"
    assert (told in found.faults) == bool(found.faults) == (changed is not None)


def test_the_picture_of_its_playbook_is_that_of_its_plan() -> None:
    playbook = Playbook.load(PLAYBOOK)
    drawn = plan_svg(Plan.model_validate(playbook.plan(playbook.example())))
    if os.environ.get("RENEW_SNAPSHOTS"):
        PICTURE.write_text(drawn)

    assert PICTURE.read_text() == drawn
