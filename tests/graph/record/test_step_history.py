from typing import Any

import pytest

from planner_executor.graph.record.events import Event
from planner_executor.graph.record.sample import Sample
from planner_executor.graph.record.step_history import StepHistory
from planner_executor.graph.testing import drafted

PLAN = {"steps": [{"id": "m", "tools": ["b", "a"]}, {"id": "each", "for_each": [1]}, {"id": "t", "tool": "send"}]}
TIMES = {"started_at": 10.0, "ended_at": 12.0}
USAGE = {"input_tokens": 7, "output_tokens": 3}


def events(*drafts: Any) -> list[Event]:
    made = [drafted(kind, payload, step) for kind, payload, step in drafts]
    return [Event.written(seq, 100.0 + seq, draft) for seq, draft in enumerate(made, 1)]


def model(step: str | None, role: str = "executor") -> list[Any]:
    return [
        ("model_started", {"role": role, "model": "small"}, step),
        ("model_finished", {"role": role, "model": "small", "usage": USAGE}, step),
    ]


def test_a_step_of_a_model_has_its_own_tokens_and_nobody_elses() -> None:
    found = StepHistory().apply(
        events(
            ("plan_revised", {"plan": PLAN}, None),
            *model(None, "planner"),
            *model("m"),
            *model("m", "judge"),
            *model("each"),
            ("step_finished", TIMES, "m"),
            ("step_finished", TIMES, "each"),
            ("run_ended", {}, None),
        )
    )

    ((likeness, (sample,)),) = found.items()
    assert likeness == "model small: a, b"
    assert (sample.seconds, sample.tokens) == (2.0, {"small": (7, 3)})
    assert Sample.from_json(sample.to_json()) == sample


def test_each_item_of_a_list_is_a_sample_by_the_time_of_its_own_calls() -> None:
    def item(number: int, began_s: float, took_s: float, **more: Any) -> list[Event]:
        key = {"key": str(number), "role": "executor"}
        asked = drafted("model_started", {**key, "model": "small", "item": number}, "each")
        answered = drafted("model_finished", {**key, "model": "small", "usage": USAGE, **more}, "each")
        return [Event.written(0, began_s, asked), Event.written(0, began_s + took_s, answered)]

    call = {"call": 1, "item": 0}
    found = StepHistory().apply(
        [
            *events(("plan_revised", {"plan": PLAN}, None)),
            *item(0, 10.0, 1.5),
            *events(("call_started", {"tool": "send", **call}, "each"), ("call_finished", {**TIMES, **call}, "each")),
            *item(1, 10.5, 4.0),
            *item(0, 9_000.0, 0.5),
            *item(2, 11.0, 9.0, error="refused"),
            *events(("step_finished", TIMES, "each"), ("run_ended", {}, None)),
        ]
    )

    assert [sample.seconds for sample in found["tool send"]] == [2.0]
    assert {(sample.seconds, *sample.tokens["small"]) for sample in found["model small: "]} == {
        (4.0, 14, 6),
        (4.0, 7, 3),
    }


def test_items_that_an_earlier_release_did_not_tell_apart_are_no_samples() -> None:
    assert (
        StepHistory().apply(events(("plan_revised", {"plan": PLAN}, None), *model("each"), ("run_ended", {}, None)))
        == {}
    )


def test_unreadable_events_and_outcomes_without_times_or_intents_are_no_samples() -> None:
    written = events(("call_finished", TIMES, "t"), ("call_started", {"tool": "send"}, "t"), ("call_finished", {}, "t"))
    forged = [Event(9, "call_started", "t", 1.0, {"tool": 1}), Event(10, "run_ended", None, 1.0, {})]

    assert StepHistory().apply([*written, *forged]) == {}


def test_samples_of_a_run_are_told_once_and_only_of_steps_that_succeeded() -> None:
    history = StepHistory()
    plan = ("plan_revised", {"plan": PLAN}, None)
    failed = {**TIMES, "status": "failed", "error": "no"}

    assert history.apply(events(plan, *model("m"), ("step_finished", failed, "m"), ("run_ended", {}, None))) == {}
    assert history.apply(events(*model("t"), ("step_finished", TIMES, "t"), ("run_ended", {}, None))) == {}
    assert list(history.apply(events(*model("m"), ("step_finished", TIMES, "m"), ("run_ended", {}, None)))) != []
    assert history.apply(events(("run_ended", {}, None))) == {}


def test_a_call_that_failed_is_no_sample() -> None:
    call = ("call_started", {"tool": "send"}, "t")
    failed = ("call_finished", {**TIMES, "status": "failed", "error": "no"}, "t")

    assert StepHistory().apply(events(call, failed, ("run_ended", {}, None))) == {}


@pytest.mark.parametrize("answer", [{"model": "small"}, {"usage": USAGE}])
def test_tokens_count_if_it_is_known_whose_they_are(answer: dict[str, Any]) -> None:
    asked = ("model_started", {"role": "executor", "model": "small"}, "m")
    answered = ("model_finished", {"role": "executor", **answer}, "m")
    finished = [("step_finished", TIMES, "m"), ("run_ended", {}, None)]

    found = StepHistory().apply(events(("plan_revised", {"plan": PLAN}, None), asked, answered, *finished))

    assert [sample.tokens for sample in found["model small: a, b"]] == [{}]


def test_an_item_whose_call_has_not_ended_has_not_failed() -> None:
    asked = ("model_started", {"role": "executor", "model": "small", "item": 0}, "each")
    ended = [("step_finished", TIMES, "each"), ("run_ended", {}, None)]

    assert len(StepHistory().apply(events(("plan_revised", {"plan": PLAN}, None), asked, *ended))["model small: "]) == 1
    failed = [("step_finished", {**TIMES, "status": "failed", "error": "no"}, "each"), ended[1]]
    assert StepHistory().apply(events(("plan_revised", {"plan": PLAN}, None), asked, *failed)) == {}
