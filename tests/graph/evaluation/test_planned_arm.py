from typing import Any

import pytest

from planner_executor.graph.evaluation.planned_arm import decide


def request(*names: str, error: str | None = None) -> dict[str, Any]:
    return {"action_requests": [{"name": name} for name in names], "digest": "d", "error": error}


def test_plans_and_calls_are_approved_as_they_were_shown() -> None:
    approve = {"type": "approve"}

    assert decide(request("run_plan", "run_step")) == {"decisions": [approve, approve], "digest": "d"}


@pytest.mark.parametrize("name", ["answer_question", "settle_effect", "raise_budget"])
def test_what_only_a_person_can_say_ends_the_run(name: str) -> None:
    decided = decide(request("run_plan", name))

    assert [decision["type"] for decision in decided["decisions"]] == ["reject", "reject"]


def test_what_is_asked_again_is_not_approved_for_ever() -> None:
    assert decide(request("run_plan", error="try again"))["decisions"] == [{"type": "reject", "final": True}]
