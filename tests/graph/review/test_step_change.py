from typing import Any

import pytest

from graph.errors import InputError
from graph.record.events import Event, ResultSupplied, StepSkipped
from graph.record.projection import project
from graph.record.run_state import RunState
from graph.review.step_change import Skip, StepChange, Supply, changes_from
from graph.testing import drafted, step

NUMBER = {"type": "object", "required": ["n"]}
PLAN = {
    "steps": [
        step("done", "look"),
        step("left", "look"),
        {**step("think"), "output": NUMBER},
        {"id": "gate", "objective": "o", "gate": "Go on?"},
    ]
}


def record(*more: Any) -> RunState:
    drafts = [
        drafted("run_started", {"goal": "g"}),
        drafted("plan_revised", {"plan": PLAN}),
        drafted("step_finished", {"status": "succeeded", "value": 1}, "done"),
        *more,
    ]
    events = [*drafts, *more]
    return project(Event.written(place, 0.0, draft) for place, draft in enumerate(events, 1))


def test_a_change_becomes_an_event_of_its_step() -> None:
    skipped, supplied = (
        Skip("left", " by hand ").drafted(record(), "os:ada"),
        Supply("think", {"n": 3}).drafted(record(), "os:ada"),
    )

    assert (skipped.draft.data, skipped.draft.step) == (StepSkipped(why="by hand", approver="os:ada"), "left")
    assert isinstance(supplied.draft.data, ResultSupplied) and supplied.draft.data.result.value == {"n": 3}
    assert [kept.text for kept in supplied.kept] == ['{"n":3}'] and skipped.kept == ()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (Skip("nowhere"), "has no step 'nowhere'; there are done, left"),
        (Skip("done"), "done succeeded and cannot change"),
        (Skip("left", "\ud800"), "surrogate"),
        (Supply("gate", True), "gate is a gate, which only a decision"),
        (Supply("think", {"m": 3}), "the result of think does not match its schema"),
        (Supply("left", {1, 2}), "left: "),
    ],
    ids=str,
)
def test_a_change_that_cannot_be_is_refused(change: StepChange, words: str) -> None:
    with pytest.raises(InputError, match=words):
        change.drafted(record(), "os:ada")


def test_a_step_is_skipped_once() -> None:
    with pytest.raises(InputError, match="left is skipped already"):
        Skip("left").drafted(record(Skip("left").drafted(record(), "os:ada").draft), "os:ada")


@pytest.mark.parametrize("raw", ["skip", {"drop": {}}, {"skip": ["a"]}, {"skip": {"a": 1}}, {"supply": ["a"]}], ids=str)
def test_changes_of_another_shape_are_refused(raw: Any) -> None:
    with pytest.raises(InputError, match="changes"):
        changes_from(raw)


def test_a_change_that_is_made_is_known() -> None:
    assert not Skip("left").is_made(record()) and not Supply("left", 1).is_made(record())

    skipped = record(Skip("left").drafted(record(), "os:ada").draft)
    supplied = record(Supply("left", 1).drafted(record(), "os:ada").draft)
    assert Skip("left", "why").is_made(skipped) and Supply("left", 1).is_made(supplied)
    assert not Supply("left", 2).is_made(supplied)
