from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from planner_executor.graph.evaluation.assessment import CaseAssessment, assess, case_faults, constraints_of
from planner_executor.graph.evaluation.sandbox import Sandbox
from planner_executor.graph.evaluation.suite import Case

TOTAL = {"type": "object", "properties": {"total": {"type": "number"}}, "required": ["total"]}


def case(*checks: dict[str, Any], **more: Any) -> Case:
    return Case(id="a", goal="a", checks=checks or ({"non_empty": True},), **more)


def looked_at(case: Case, answer: JsonValue, folder: Path) -> CaseAssessment:
    return assess(case, answer, {"look": 1}, Sandbox(folder, folder))


def test_text_is_the_same_whether_a_plan_or_an_agent_gives_it(tmp_path: Path) -> None:
    wanted = case({"matches": "^53$"})

    assert looked_at(wanted, 53, tmp_path).met  # a plan answers with the value
    assert looked_at(wanted, " 53\n", tmp_path).met
    assert not looked_at(wanted, "54", tmp_path).met
    assert not looked_at(wanted, None, tmp_path).met


@pytest.mark.parametrize("answer", [{"total": 53}, '{"total": 53}', 'Here it is:\n```json\n{"total": 53}\n```'])
def test_json_is_the_same_too(answer: JsonValue, tmp_path: Path) -> None:
    wanted = case({"range": [53, 53], "of": "total"}, answer=TOTAL)

    assert looked_at(wanted, answer, tmp_path).met


@pytest.mark.parametrize("answer", ["fifty-three", '{"sum": 53}', None])
def test_an_answer_in_another_form_meets_nothing(answer: JsonValue, tmp_path: Path) -> None:
    found = looked_at(case({"called": "look"}, answer=TOTAL), answer, tmp_path)

    assert not found.met
    assert found.findings[-1]["met"]  # the check itself holds


def test_every_arm_is_told_the_form_of_the_answer() -> None:
    assert constraints_of(case(constraints=("Be brief",))) == ["Be brief"]
    assert "JSON" in constraints_of(case(constraints=("Be brief",), answer="json"))[1]
    assert '"total"' in constraints_of(case(answer=TOTAL))[0]


def test_a_check_may_be_about_a_file(tmp_path: Path) -> None:
    (tmp_path / "report.md").write_text("It costs 42 [solar.md:3].")

    found = looked_at(
        case({"file": "report.md", "matches": "42"}, {"file": "report.md", "cites": 1}, {"file": "no.md", "cites": 1}),
        "done",
        tmp_path,
    )

    assert [finding["met"] for finding in found.findings] == [True, True, False]
    assert found.findings[2]["seen"] == "the file no.md does not exist"


@pytest.mark.parametrize(
    ("check", "told"),
    [
        ({"matches": "("}, "matches"),
        ({"called": "send"}, "send"),
        ({"file": 3, "matches": "a"}, "file"),
        ({"file": "a.md", "called": "look"}, "file can be combined only with"),
        ({"file": "a.md"}, "a check has exactly one of"),
    ],
)
def test_checks_that_cannot_be_made_are_named(check: dict[str, Any], told: str) -> None:
    assert told in "; ".join(case_faults(case(check), ["look"]))


def test_a_schema_that_is_none_is_named() -> None:
    assert list(case_faults(case(answer={"type": "nothing"}), []))
