from pathlib import Path

import pytest

from planner_executor.graph.errors import InputError
from planner_executor.graph.playbooks.case import Answer, Case, ExpectedCall, cases_beside

CASE = Case(
    params={"topic": "wind", "n": 3},
    answers=(Answer(step="a", tool="find", answer={"rows": [{"no": "yes"}]}), Answer(tool="send", error="down")),
    calls=(ExpectedCall(tool="find", args={"q": "wind"}), ExpectedCall(tool="send", times=2)),
    in_order=True,
    checks=({"non_empty": True},),
)


def test_a_case_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "p.cases" / "wind.yaml"
    file.parent.mkdir()
    file.write_text(CASE.to_text())

    assert cases_beside(str(tmp_path / "p.yaml")) == {"wind": file}
    assert Case.load(file) == CASE


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "must be an object with source, params"),
        ("ends: well", "ends"),
        ("answer: 1", "answer is unknown"),
        ("answers: [{tools: x}]", "answers.tools is unknown"),
        ("checks: [{wise: true}]", "unknown check 'wise'"),
        ("params: &a {}", "line 1"),
    ],
)
def test_a_file_that_is_no_case_is_refused_with_its_fault(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(text)

    with pytest.raises(InputError, match=words):
        Case.load(tmp_path / "x.yaml")


def test_calls_are_counted_and_stand_in_order() -> None:
    find, send = ("find", {"q": "wind", "n": 1}), ("send", {})

    assert not list(CASE.faults("succeeded", None, "yes", [find, send, send]))
    assert list(CASE.faults("succeeded", None, "yes", [find, send])) == ["send() was called 1 time, not 2 times"]
    assert list(CASE.faults("succeeded", None, "yes", [send, send, find])) == [
        "send() was not called after the calls before it"
    ]
    assert [one[:14] for one in CASE.faults("succeeded", None, "", [find, send, send])] == ["answer: non_em"]
    never = Case(calls=(ExpectedCall(tool="send", times=0),))
    assert list(never.faults("failed", "why", None, [send])) == [
        "it ended failed, not succeeded: why",
        "send() was called 1 time, not 0 times",
    ]
