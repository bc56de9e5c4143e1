"""A playbook is run against a case: every answer comes from the case, and nothing else happens."""

from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest

from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.evaluation.case_answers import shape_faults
from planner_executor.graph.evaluation.case_run import CaseResult, run_case
from planner_executor.graph.evaluation.junit import junit_xml
from planner_executor.graph.playbooks import Playbook
from planner_executor.graph.playbooks.case import Answer, Case, ExpectedCall
from planner_executor.graph.testing import LoggedTools
from planner_executor.testing import assert_cases_pass

PLAYBOOK = Playbook.of({
    "name": "thank",
    "version": 1,
    "parameters": {"topic": {"type": "string"}},
    "steps": [
        {"id": "find", "objective": "Find", "tool": "find", "args": {"q": "{param.topic}"}},
        {"id": "ask", "objective": "Ask", "ask": "Thank whom?", "depends_on": ["find"]},
        {
            "id": "send",
            "objective": "Thank",
            "tool": "send",
            "args": {"to": "{item_result.mail}"},
            "for_each": "{find_result.rows}",
            "depends_on": ["ask"],
        },
        {"id": "sum", "objective": "Sum up", "tools": ["find"], "depends_on": ["send"]},
    ],
    "answer": "{ask_result}: {sum_result}",
})  # fmt: skip
ANSWERS = (
    Answer(step="find", tool="find", answer={"rows": [{"mail": "ana@x"}, {"mail": "ben@x"}]}),
    Answer(step="ask", answer="all"),
    Answer(step="send", item=1, tool="send", answer="sent to Ben"),
    Answer(tool="send", answer="sent"),
    Answer(step="sum", role="executor", answer="done"),
)
CASE = Case(
    params={"topic": "wind"},
    answers=ANSWERS,
    calls=(ExpectedCall(tool="find", args={"q": "wind"}), ExpectedCall(tool="send", times=2)),
    in_order=True,
    checks=({"matches": "all: done"},),
)


def tools(log: LoggedTools, **found: Any) -> Toolbox:
    return Toolbox([log.tool("find", lambda **_: found, effect="read"), log.tool("send", effect="external")])


async def test_a_case_with_a_question_a_fan_out_and_a_model_passes_without_a_call() -> None:
    log = LoggedTools()

    result = await run_case(PLAYBOOK, "one", CASE, tools(log))

    assert (result.faults, log.calls) == ([], [])


@pytest.mark.parametrize(
    ("left_out", "fault"),
    [
        (0, "no answer for call 0 of find: find"),
        (1, "no answer for the question of ask"),
        (3, "no answer for call 0 of send, item 0: send"),
        (4, "no answer for turn 0 of the executor in sum"),
    ],
)
async def test_what_has_no_answer_fails_the_case(left_out: int, fault: str) -> None:
    answers = [one for place, one in enumerate(ANSWERS) if place != left_out]

    result = await run_case(PLAYBOOK, "one", CASE.model_copy(update={"answers": answers}), tools(LoggedTools()))

    assert fault in "; ".join(result.faults)


async def test_a_tool_that_reads_is_compared_by_the_shape_of_its_answer() -> None:
    log = LoggedTools()

    same = await run_case(PLAYBOOK, "one", CASE, tools(log, rows=[{"mail": "cem@x", "name": "Cem"}]), reads=True)
    other = await run_case(PLAYBOOK, "one", CASE, tools(log, rows=[{"address": "cem@x"}]), reads=True)

    assert not same.faults and {name for name, _ in log.calls} == {"find"}
    assert other.faults == ["call 0 of find: find answers otherwise now: the answer.rows[0].mail is missing"]
    assert shape_faults({"a": [1]}, {"a": "1"}) == ["the answer.a was a list, and is text"]


async def test_a_value_that_does_not_fit_is_a_fault_of_the_case() -> None:
    result = await run_case(PLAYBOOK, "one", CASE.model_copy(update={"params": {}}), tools(LoggedTools()))

    assert "topic is missing" in result.faults[0]


def test_cases_are_asserted_in_tests_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "thank.yaml"
    file.write_text(PLAYBOOK.text)
    own = [bound.tool for bound in tools(LoggedTools()).values()]
    with pytest.raises(AssertionError, match="there are no cases in"):
        assert_cases_pass(file, own)
    (tmp_path / "thank.cases").mkdir()
    (tmp_path / "thank.cases" / "one.yaml").write_text(CASE.to_text())

    assert_cases_pass(file, own)
    (tmp_path / "thank.cases" / "two.yaml").write_text(CASE.model_copy(update={"ends": "failed"}).to_text())
    with pytest.raises(AssertionError, match="case two: it ended succeeded, not failed"):
        assert_cases_pass(file, own)


def test_results_are_junit_xml_whatever_a_fault_holds() -> None:
    results = [CaseResult("a", "one", [], 0.5), CaseResult("a", "two", ["<b>\x00\u202e"], 0.25)]

    (suite,) = fromstring(junit_xml(results))

    assert (suite.get("tests"), suite.get("failures"), suite.get("time")) == ("2", "1", "0.750")
    assert suite[1][0].get("message", "").startswith("<b>") and "\u202e" not in junit_xml(results)
