"""A call that ended with questions, as the record of its run shows it."""

from typing import Any

from planner_executor.graph.record.events import Event
from planner_executor.graph.record.projection import project
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.testing import whole_payload

KEY = "k"
PLAN = {"steps": [{"id": "a", "objective": "o", "tool": "send", "args": {}}]}
QUESTION = {"id": "q", "text": "Which size?", "schema": {"type": "object", "properties": {}}}
BEGUN: tuple[Any, ...] = (
    ("run_started", {}),
    ("plan_revised", {"plan": PLAN}),
    ("call_started", {}),
    ("call_asked", {"questions": [QUESTION], "state": "s"}),
)
REPLY = ("decided", {"decision": "settle", "replies": {KEY: {"q": {"size": "M"}}}})


def record(*events: Any) -> RunState:
    told = [
        Event(seq=place, kind=kind, step="a", payload=whole_payload(kind, payload), at=0.0)
        for place, (kind, payload) in enumerate(events, 1)
    ]
    return project(told)


def asking(found: RunState) -> list[str]:
    return [call.key for call in found.asking_calls]


def test_a_call_that_asked_waits_for_a_person_and_may_go_on() -> None:
    found = record(*BEGUN)

    assert asking(found) == [KEY] and found.calls.by_key[KEY].may_go_on
    assert found.calls.by_key[KEY].is_uncertain  # for any other call with the same effect


def test_an_answered_call_waits_no_longer() -> None:
    found = record(*BEGUN, REPLY)

    assert asking(found) == [] and found.calls.by_key[KEY].may_go_on


def test_a_process_that_died_after_it_sent_the_answer_leaves_an_uncertain_call() -> None:
    call = record(*BEGUN, REPLY, ("call_started", {})).calls.by_key[KEY]

    assert call.is_uncertain and not call.may_go_on and call.asked is not None and call.asked.forms


def test_a_call_that_asks_once_more_waits_again() -> None:
    found = record(*BEGUN, REPLY, ("call_started", {}), ("call_asked", {"questions": [QUESTION]}))

    assert asking(found) == [KEY]


def test_a_question_of_a_revision_that_is_no_longer_in_force_is_not_asked() -> None:
    found = record(*BEGUN, ("plan_revised", {"plan": PLAN, "revision": 2}))

    assert asking(found) == []


def test_a_call_of_which_nothing_came_begins_anew_with_the_answer_at_hand() -> None:
    settled = ("decided", {"decision": "settle", "settled": [{"key": KEY, "happened": False, "result": None}]})
    call = record(*BEGUN, REPLY, ("call_started", {}), settled).calls.by_key[KEY]

    assert not call.is_uncertain and call.asked is not None and call.asked.anew and call.asked.forms
