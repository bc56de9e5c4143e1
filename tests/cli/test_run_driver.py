import os
import signal
import sys
import threading
from contextlib import nullcontext
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from planner_executor.graph.cli.decision_source import DecisionSource
from planner_executor.graph.cli.recorded_run import find_run
from planner_executor.graph.cli.run_driver import continue_run, start
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.errors import InputError
from planner_executor.graph.review.response import ReviewResponse
from planner_executor.graph.runs.run import Run
from planner_executor.graph.testing import LoggedTools, ScriptedModel

FETCH = {"steps": [{"id": "fetch", "objective": "Fetch it", "tool": "fetch", "args": {"from": "here"}}]}
ELSEWHERE = {"steps": [{"id": "fetch", "objective": "Fetch it elsewhere", "tool": "fetch", "args": {"from": "there"}}]}
SEND = {"steps": [{"id": "send", "objective": "Send it", "tool": "send", "args": {"to": "ada"}}]}
DATABASE = Path("planner-executor.db")


@pytest.fixture
def screen() -> Screen:
    console = Console(file=StringIO(), markup=False, emoji=False, highlight=False, width=200)
    return Screen(console, console)


def said(screen: Screen) -> str:
    assert isinstance(screen.out.file, StringIO)
    return screen.out.file.getvalue()


def begin(screen: Screen, answers: list[Any], tools: list[Any], yes: bool = True) -> Run:
    built = {"planner": ScriptedModel(answers), "tools": tools}
    asked = {"goal": "get it", "constraints": [], "plan": None, "setup": {}}
    return start(DecisionSource(screen, DATABASE, yes=yes), built, asked)


def resumed(screen: Screen, run: Run, tools: list[Any], answers: list[Any] | None = None, **decides: Any) -> Run:
    decisions = DecisionSource(screen, DATABASE, **decides)
    built = {"planner": ScriptedModel(answers or []), "tools": tools}
    return continue_run(decisions, find_run(DATABASE, run.id), lambda: nullcontext(built))


def fetch_from_there_only(**args: Any) -> str:
    if args["from"] == "here":
        raise OSError("nothing is here")
    return "found"


def test_yes_names_each_revision_that_it_approves(screen: Screen) -> None:
    fetch = LoggedTools().tool("fetch", fetch_from_there_only, effect="read")

    run = begin(screen, [FETCH, ELSEWHERE], [fetch])

    approvals = [line for line in said(screen).splitlines() if line.startswith("approved by --yes")]
    assert run.status == "succeeded"
    assert [line.split(", digest ")[0] for line in approvals] == [
        "approved by --yes: revision 1",
        "approved by --yes: revision 2",
    ]
    assert "✗ fetch failed in" in said(screen)
    assert "Changes since revision 1, which was shown last: " in said(screen)


def test_feedback_shows_the_next_plan_and_waits_again(screen: Screen) -> None:
    fetch = LoggedTools().tool("fetch", effect="read")
    run = begin(screen, [FETCH], [fetch], yes=False)

    again = resumed(screen, run, [fetch], [ELSEWHERE], response=ReviewResponse(feedback="not here"))

    assert again.status == "waiting"
    assert again.revision == 2
    assert "Fetch it elsewhere" in said(screen)


def paused_in_a_call(screen: Screen, tools: LoggedTools) -> Run:
    """Return a run that SIGTERM paused in the middle of a call that is not repeatable."""

    def end_here(**args: Any) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        threading.Event().wait()

    send = tools.tool("send", end_here, effect="external")
    run = begin(screen, [SEND], [send], yes=False)
    with pytest.raises(KeyboardInterrupt):
        resumed(screen, run, [send], response=ReviewResponse(approve=True))
    return find_run(DATABASE, run.id)


def test_a_pause_cancels_what_runs_and_says_how_to_go_on(screen: Screen) -> None:
    run = paused_in_a_call(screen, LoggedTools())

    assert run.status == "paused"
    assert said(screen).endswith(f"paused; continue with: planner-executor resume {run.id}\n")


def test_yes_never_settles_an_uncertain_call(screen: Screen) -> None:
    tools = LoggedTools()
    run = paused_in_a_call(screen, tools)

    again = resumed(screen, run, [tools.tool("send", effect="external")], yes=True)

    assert again.status == "waiting"
    assert len(tools.named("send")) == 1
    assert "whether it took effect" in said(screen)
    assert f"planner-executor resume {run.id} --happened true|false" in said(screen)


@pytest.mark.parametrize(("happened", "calls", "answer"), [(True, 1, {"id": 17}), (False, 2, {"to": "ada"})])
def test_a_person_settles_an_uncertain_call(screen: Screen, happened: bool, calls: int, answer: Any) -> None:
    tools = LoggedTools()
    run = paused_in_a_call(screen, tools)
    send = tools.tool("send", effect="external")
    resumed(screen, run, [send])

    settled = ReviewResponse(happened=(happened,), results=('{"id": 17}',) if happened else ())
    ended = resumed(screen, run, [send], response=settled)

    assert ended.status == "succeeded"
    assert ended.answer == answer
    assert len(tools.named("send")) == calls


def test_an_approval_does_not_settle_an_uncertain_call(screen: Screen) -> None:
    tools = LoggedTools()
    run = paused_in_a_call(screen, tools)
    send = tools.tool("send", effect="external")
    resumed(screen, run, [send])

    with pytest.raises(InputError):
        resumed(screen, run, [send], response=ReviewResponse(approve=True))

    assert find_run(DATABASE, run.id).status == "waiting"
    assert resumed(screen, run, [send], response=ReviewResponse(stop=True)).status == "rejected"


@pytest.mark.parametrize(
    ("typed", "status", "calls"),
    [
        ("y\nyes\n17\n", "succeeded", 1),
        ("no\n", "succeeded", 2),
        ("stop\n", "rejected", 1),
        ("later\n", "waiting", 1),
        ("", "waiting", 1),
    ],
)
def test_a_person_in_the_terminal_settles_an_uncertain_call_in_whole_words(
    screen: Screen, monkeypatch: pytest.MonkeyPatch, typed: str, status: str, calls: int
) -> None:
    tools = LoggedTools()
    run = paused_in_a_call(screen, tools)
    monkeypatch.setattr(sys, "stdin", StringIO(typed))

    ended = resumed(replace(screen, interactive=True), run, [tools.tool("send", effect="external")], yes=True)

    assert ended.status == status
    assert len(tools.named("send")) == calls
