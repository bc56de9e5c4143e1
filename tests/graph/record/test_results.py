from typing import Any

import pytest

from planner_executor.graph.record.results import StepResult


def test_a_result_shows_its_value_error_and_times() -> None:
    assert StepResult("succeeded", [1], started_at=1.0, ended_at=2.5).to_json() == {
        "status": "succeeded",
        "value": [1],
        "error": None,
        "started_at": 1.0,
        "ended_at": 2.5,
    }


def test_a_value_of_null_is_shown() -> None:
    assert StepResult("succeeded").to_json()["value"] is None


def test_an_artifact_stands_in_place_of_the_value() -> None:
    shown = StepResult("succeeded", artifact={"id": "x"}).to_json()

    assert shown["artifact"] == {"id": "x"}
    assert "value" not in shown


@pytest.mark.parametrize("status", ["pending", "running", "failed", "blocked", "skipped", "interrupted", "uncertain"])
def test_only_a_success_has_a_value(status: Any) -> None:
    shown = StepResult(status, value=5, error="e").to_json()

    assert {"value", "artifact"}.isdisjoint(shown)
    assert shown["error"] == "e"


@pytest.mark.parametrize(
    "result",
    [
        StepResult("succeeded", {"n": None}, started_at=1.0, ended_at=2.0),
        StepResult("succeeded", artifact={"id": "x"}),
        StepResult("failed", error="e"),
    ],
)
def test_a_result_reads_back_from_what_it_shows(result: StepResult) -> None:
    assert StepResult.of({**result.to_json(), "key": "of the event"}) == result


@pytest.mark.parametrize(
    ("started_at", "ended_at", "seconds"),
    [(1.0, 2.5, 1.5), (2.0, 1.0, 0.0), (None, 2.0, None), (1.0, None, None), (None, None, None)],
)
def test_a_step_took_the_time_between_two_moments_on_record_and_never_less_than_none(
    started_at: Any, ended_at: Any, seconds: Any
) -> None:
    assert StepResult("succeeded", started_at=started_at, ended_at=ended_at).seconds == seconds
