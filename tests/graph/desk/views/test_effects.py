"""Calls that may have changed something, what became of each, and the files that they wrote."""

from typing import Any

import pytest
from recorded_run import recorded

from planner_executor.graph.desk.views.effects import EffectRow, WrittenFile, effect_rows, files_in, state_of
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.record.call import Call
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.run_pass import Pass
from planner_executor.graph.testing import drafted

CALL = Call("k", "s", "save", {}, "d", False, Pass(1, 0), 0)
DONE, FAILED = StepResult("succeeded", value="x"), StepResult("failed", error="no")


@pytest.mark.parametrize(
    ("call", "state"),
    [
        (CALL._replace(result=DONE), "happened"),
        (CALL._replace(result=DONE, settled=True), "settled by a person"),
        (CALL._replace(result=FAILED, settled=True, nothing_happened=True), "nothing happened"),
        (CALL._replace(result=FAILED), "uncertain"),
        (CALL._replace(result=FAILED, repeatable=True), "failed"),
        (CALL._replace(repeatable=True), "failed"),
        (CALL, "uncertain"),
    ],
)
def test_a_call_has_the_state_that_a_person_needs_to_know(call: Call, state: str) -> None:
    assert state_of(call, executing=False) == state
    assert state_of(call, executing=True) == (state if call.result is not None else "running")


def test_calls_that_are_more_than_reading_are_listed_the_latest_first() -> None:
    effects = {"save": "write", "look": "read", "old": None, "send": "external"}
    calls = [
        drafted("call_started", {"key": tool, "call": place, "tool": tool, "effect": effect, "args": {"n": place}}, "s")
        for place, (tool, effect) in enumerate(effects.items())
    ]
    done = drafted("call_finished", {"call": 0, "status": "succeeded", "value": 1}, "s")

    rows = effect_rows(recorded(drafted("run_started"), *calls, done))

    assert [(row.call.tool, row.effect, row.state) for row in rows] == [
        ("send", "external", "uncertain"), ("old", "external", "uncertain"), ("save", "write", "happened")
    ]  # fmt: skip
    assert rows[0].args == '{\n  "n": 3\n}'
    assert {row.state for row in effect_rows(recorded(drafted("run_started"), *calls, executing=True))} == {"running"}


def row(value: Any, tool: str = "save", effect: str = "write", state: str = "happened", step: str = "s") -> EffectRow:
    return EffectRow(
        CALL._replace(tool=tool, step=step, result=StepResult("succeeded", value=value)), effect, "", state
    )


def test_files_are_named_once_and_calls_that_do_not_say_what_they_wrote_are_the_others() -> None:
    tools = {name: ToolSpec(name, "", {}, folder=folder) for name, folder in {"save": "/out", "bare": None}.items()}
    bare = EffectRow(CALL, "write", "", "settled by a person")
    silent = [row("done"), row({"path": 1}), row({"path": "a"}, "bare"), row({"path": "a"}, "gone"), bare]

    files, others = files_in(
        [
            row({"path": "a", "bytes": 3}),
            row({"path": "a", "bytes": 9}, step="later"),
            row({"path": "b", "bytes": True}, state="settled by a person"),
            row({"path": "c"}, state="uncertain"),
            row({"path": "d"}, effect="external"),
            *silent,
        ],
        tools,
    )

    assert files == [WrittenFile("a", 3, "/out", "s"), WrittenFile("b", None, "/out", "s")]
    assert others == silent
