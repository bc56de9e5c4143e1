import pytest

from planner_executor.graph.record.assessment import WHY_CHARACTERS, Assessment
from planner_executor.graph.record.check_result import CheckResult, Opinion

MET, UNMET = (
    CheckResult({"cites": 1}, True, "1 citation: a.md:3"),
    CheckResult({"matches": "x"}, False, "not found in 'a'"),
)
YES, NO = Opinion("it is good", True, "it is"), Opinion("it is good", False, "it is not")
SILENT = Opinion("it is good", None, "the judge said nothing")


@pytest.mark.parametrize(
    ("assessment", "met"),
    [
        (Assessment(), True),
        (Assessment([MET]), True),
        (Assessment([MET, UNMET]), False),
        (Assessment([MET], YES), True),
        (Assessment([MET], NO), False),
        (Assessment([MET], SILENT), False),
        (Assessment([UNMET], YES), False),
    ],
)
def test_all_has_to_be_met_and_what_was_not_judged_is_not(assessment: Assessment, met: bool) -> None:
    assert assessment.met is met


def test_the_error_names_what_is_unmet_and_nothing_else() -> None:
    assert Assessment([MET, UNMET], SILENT).error == (
        "its result will not do: matches x: not found in 'a'; "
        "criterion 'it is good' was not judged: the judge said nothing"
    )


def test_the_ledger_is_told_all_that_was_found() -> None:
    draft = Assessment([MET], NO).event("a", 2, again=True)

    assert (draft.kind, draft.step) == ("step_checked", "a")
    assert draft.payload == {
        "met": False,
        "checks": [{"check": {"cites": 1}, "met": True, "seen": "1 citation: a.md:3"}],
        "judged": {"criterion": "it is good", "met": False, "why": "it is not"},
        "error": "its result will not do: criterion 'it is good' is not met: it is not",
        "revision": 2,
        "again": True,
    }


def test_what_is_met_needs_few_words() -> None:
    assert set(Assessment([MET]).event("a", 1, again=False).payload) == {"met", "checks", "revision"}


@pytest.mark.parametrize("opinion", [None, YES])
def test_the_error_says_nothing_of_an_opinion_that_is_none_or_good(opinion: Opinion | None) -> None:
    assert Assessment([UNMET], opinion).error == "its result will not do: matches x: not found in 'a'"


def test_a_judge_has_some_lines_to_say_why() -> None:
    assert WHY_CHARACTERS == 500
