import json
from typing import Any

from planner_executor.graph.plan.schema import Step
from planner_executor.graph.prompts.judge import RESULT_CHARACTERS, judge_messages

STEP = Step(
    id="a", objective="find hotels", tool="search", args={"query": "{q_result}"}, success_criteria="three at least"
)


def document(result: Any, before: dict[str, Any] | None = None) -> Any:
    return json.loads(str(judge_messages(STEP, result, before or {})[1].content))


def test_the_judge_is_shown_the_criterion_the_result_and_what_it_rests_on() -> None:
    assert document(["A", "B"], {"q": "hotels"}) == {
        "objective": "find hotels",
        "criterion": "three at least",
        "args": {"query": "{q_result}"},
        "result": ["A", "B"],
        "results": {"q": "hotels"},
    }


def test_an_empty_result_is_shown_as_it_is() -> None:
    assert [document(result)["result"] for result in (None, "", [], {})] == [None, "", [], {}]


def test_a_long_result_is_cut() -> None:
    assert len(document("a" * 100_000)["result"]) == RESULT_CHARACTERS
