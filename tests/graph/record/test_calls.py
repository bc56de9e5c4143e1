"""The calls of a run, and what became of each."""

from typing import Any

import pytest

from planner_executor.graph.record.call import Call
from planner_executor.graph.record.calls import Calls, Opening
from planner_executor.graph.record.events import (
    Arguments,
    Brief,
    CallAsked,
    CallFinished,
    CallInherited,
    CallStarted,
    Event,
    ModelFinished,
    ModelStarted,
    OwnerReplaced,
    Prompt,
    SettledCall,
)
from planner_executor.graph.record.former_owner import FormerOwner
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.run_pass import Pass

SENT = StepResult("succeeded", "sent")
DOWN = StepResult("failed", error="down")


def started(calls: Calls, key: str = "k", step: str = "a", seq: int = 1, **fields: Any) -> Calls:
    args = Arguments({"to": "x"})
    data = CallStarted(
        **{"key": key, "call": 0, "tool": "send", "args": args, "repeatable": False, "revision": 1, **fields}
    )
    calls.call_started(Event(seq, "call_started", step, 0.0, {}), data, 0)
    return calls


def finished(calls: Calls, result: StepResult = SENT, step: str = "a", seq: int = 2, **fields: Any) -> Call:
    return calls.call_finished(
        Event(seq, "call_finished", step, 0.0, {}), CallFinished(**{"result": result, "call": 0, **fields})
    )


def elsewhere(**fields: Any) -> Call:
    other = Call("o", "a", "send", {}, "d", repeatable=False, within=Pass(0), number=0, begun_seq=3, run="t.1")
    return other._replace(**fields)


def test_an_attempt_that_another_was_to_follow_is_known_and_has_no_response() -> None:
    calls = Calls()
    calls.model_finished(ModelFinished(key="m1", role="step", error="down", again=True))
    calls.model_finished(ModelFinished(key="m2", role="step", response={"content": "ok"}))

    assert (calls.followed, calls.responses) == ({"m1"}, {"m2": {"content": "ok"}})


def test_looks_are_calls_of_no_step_and_are_named_by_their_numbers() -> None:
    calls = started(started(started(Calls(), "x"), "y", ""), "z", "")

    assert {name: call.key for name, call in calls.named_looks.items()} == {"look 1": "y", "look 2": "z"}


@pytest.mark.parametrize(("said", "known"), [(None, 1), (0, 0), (2, 2)])
def test_a_call_belongs_to_the_pass_that_its_event_names_or_else_to_that_of_its_time(
    said: int | None, known: int
) -> None:
    calls, args = Calls(), Arguments({})
    data = CallStarted(key="k", call=0, tool="send", args=args, repeatable=False, revision=3, reopened=said)

    calls.call_started(Event(1, "call_started", "a", 0.0, {}), data, 1)

    assert calls.by_key["k"].within == Pass(3, known)


def test_an_owner_that_is_replaced_left_the_calls_without_an_outcome_but_those_of_owners_before_it() -> None:
    calls = started(started(Calls(), "done"), "open", "b")
    finished(calls)

    calls.owner_replaced(OwnerReplaced(process="first", is_dead=False))
    started(calls, "later", "c")
    calls.owner_replaced(OwnerReplaced(process="second", is_dead=True))

    assert {key: call.left_by for key, call in calls.by_key.items()} == {
        "done": None,
        "open": FormerOwner("first", is_dead=False),
        "later": FormerOwner("second", is_dead=True),
    }


def test_a_call_is_uncertain_from_its_start_until_it_succeeds() -> None:
    calls = started(Calls())
    assert calls.by_key["k"].is_uncertain

    assert not finished(calls).is_uncertain


def test_an_outcome_belongs_to_the_call_that_was_started_last() -> None:
    calls = started(started(Calls(), "k1"), "k2")

    assert finished(calls).key == "k2"
    assert calls.by_key["k1"].result is None


def test_items_and_numbers_have_outcomes_of_their_own() -> None:
    calls = started(started(Calls(), "k0", item=0), "k1", item=1)

    assert finished(calls, item=0).key == "k0"
    assert calls.finished("k1") is None


def test_only_a_success_is_reused_and_only_under_its_key() -> None:
    calls = started(Calls())
    finished(calls, DOWN)
    assert calls.finished("k") is None

    finished(calls)

    assert calls.finished("k") is not None and calls.finished("other") is None


def test_a_call_that_is_started_again_counts_once_for_its_step() -> None:
    assert [call.key for call in started(started(Calls())).of_step("a")] == ["k"]


def test_an_effect_keeps_a_step_from_being_done_anew() -> None:
    assert started(Calls()).may_have_acted("a", None)
    assert not started(Calls()).may_have_acted("a", 1)
    assert not started(Calls(), repeatable=True).may_have_acted("a", None)


def test_criteria_that_are_not_met_free_a_read_and_mark_an_effect() -> None:
    calls = started(Calls(), "read", repeatable=True)
    finished(calls)
    started(calls, "act", call=1)
    finished(calls, call=1)

    calls.criteria_unmet("a", "not ok")

    assert calls.by_key["read"].result is None
    assert calls.by_key["act"].unmet == "not ok"
    assert calls.by_key["act"].is_uncertain

    calls.criteria_met("a")

    assert not calls.by_key["act"].is_uncertain


def test_a_call_that_happened_has_the_result_that_a_person_gave() -> None:
    calls = started(Calls())

    call = calls.settled(SettledCall("k", happened=True, result=7))

    assert call == calls.by_key["k"]
    assert (call.result, call.settled, call.is_uncertain) == (StepResult("succeeded", 7), True, False)


def test_a_call_that_did_not_happen_may_be_made() -> None:
    call = started(Calls()).settled(SettledCall("k", happened=False))

    assert (call.result, call.is_uncertain) == (None, False)


def test_a_call_that_asked_and_did_not_happen_may_go_on_with_the_answers_given() -> None:
    calls = started(Calls())
    calls.replied("k", {"q": 1})
    calls.replied("unknown", {"q": 1})
    assert calls.by_key["k"].asked is None and set(calls.by_key) == {"k"}

    calls.call_asked(CallAsked(key="k", call=0, tool="send", questions=(), revision=1), Pass(1))
    calls.replied("k", {"q": 1})
    assert started(calls).by_key["k"].may_go_on is False

    call = calls.settled(SettledCall("k", happened=False))
    assert call.asked is not None and (call.asked.forms, call.asked.anew, call.may_go_on) == ({"q": 1}, True, True)


def test_a_call_of_another_run_is_settled_apart_from_ones_own() -> None:
    calls = started(Calls(), "o")
    calls.found_elsewhere([elsewhere()])

    calls.settled(SettledCall("o", happened=True, result=7, run="t.1"))

    assert calls.by_key["o"].is_uncertain
    assert not calls.elsewhere["o"].is_uncertain


def test_a_settled_call_of_another_run_is_open_again_only_if_it_was_started_again() -> None:
    calls = Calls()
    calls.found_elsewhere([elsewhere(settled=True)])

    calls.found_elsewhere([elsewhere()])
    assert calls.elsewhere["o"].settled

    calls.found_elsewhere([elsewhere(begun_seq=8)])
    assert not calls.elsewhere["o"].settled


def test_the_work_of_a_step_is_its_own_last_call() -> None:
    calls = started(started(Calls(), "k1"), "k2")

    assert not calls.is_latest(calls.by_key["k1"])
    assert calls.is_latest(calls.by_key["k2"])
    assert not calls.is_latest(elsewhere(key="k2"))
    assert not calls.is_latest(calls.by_key["k2"]._replace(item=3))


def test_a_call_is_found_in_this_run_before_others() -> None:
    calls = started(Calls(), "o")
    calls.found_elsewhere([elsewhere(), elsewhere(key="p")])

    assert calls.find("o") == calls.by_key["o"]
    assert calls.find("p") == calls.elsewhere["p"]
    assert calls.find("q") is None


def test_a_call_that_surely_had_no_effect_neither_acted_nor_is_marked() -> None:
    calls = started(Calls())
    finished(calls, DOWN, nothing_happened=True)

    calls.criteria_unmet("a", "not ok")

    assert not calls.may_have_acted("a", None)
    assert (calls.by_key["k"].unmet, calls.by_key["k"].result) == (None, DOWN)


def test_reads_of_a_models_own_keep_their_results_if_its_criteria_are_not_met() -> None:
    calls = started(Calls(), repeatable=True, call=1)
    finished(calls, call=1)

    calls.criteria_unmet("a", "not ok")

    assert (calls.by_key["k"].result, calls.by_key["k"].unmet) == (SENT, None)


def test_one_effect_among_reads_is_enough_to_have_acted() -> None:
    assert started(started(Calls(), "read", repeatable=True), "act", call=1).may_have_acted("a", None)


@pytest.mark.parametrize(
    ("told", "status", "is_uncertain"),
    [
        ({"happened": True}, "succeeded", False),
        ({"happened": False}, None, True),
        ({"happened": False, "error": "down"}, "failed", True),
        ({"happened": False, "unmet": "will not do"}, "succeeded", True),
        ({"happened": False, "unmet": "will not do", "error": "down"}, "failed", True),
    ],
    ids=["it happened", "no outcome", "it failed", "its result will not do", "it failed after that"],
)
def test_a_fork_has_the_calls_of_its_source_as_they_stand_there(
    told: dict[str, Any], status: str | None, is_uncertain: bool
) -> None:
    calls, fields = Calls(), {"source": "t.1", "seq": 4, "at": 5.0, "key": "k", "tool": "send", "args": Arguments({})}

    calls.call_inherited("a", CallInherited(**{**fields, **told}))

    call = calls.elsewhere["k"]
    assert calls.inherited == {"k"}
    assert (call.result and call.result.status, call.is_uncertain, call.settled) == (
        status,
        is_uncertain,
        told["happened"],
    )
    assert (call.repeatable, call.within, call.number, call.run) == (False, Pass(0), 0, "t.1")


def test_inherited_calls_are_those_of_the_forked_run_in_their_order() -> None:
    calls, fields = Calls(), {"source": "t.1", "seq": 4, "at": 5.0, "tool": "send", "args": Arguments({})}
    for key in ("z", "a"):
        calls.call_inherited("a", CallInherited(**{**fields, "key": key, "happened": True}))
    calls.found_elsewhere([calls.elsewhere["a"]._replace(key="other")])

    assert [call.key for call in calls.inherited_calls] == ["z", "a"]


def test_calls_whose_last_attempt_failed_are_those_and_no_others() -> None:
    calls = started(started(started(Calls()), "done", "b"), "open", "c")
    finished(calls, DOWN)
    finished(calls, SENT, "b")

    assert [call.key for call in calls.failed] == ["k"]


def test_the_first_request_of_a_conversation_is_kept_by_its_brief_or_as_it_was_asked_before_there_were_any() -> None:
    calls, whole, more = Calls(), Prompt(), Prompt(continues="m1")

    for step, told in (
        ("a", ModelStarted(key="m1", role="executor", brief=Brief(), prompt=whole)),
        ("a", ModelStarted(key="m2", role="executor", prompt=more)),
        ("b", ModelStarted(key="m3", role="executor", brief=Brief(), prompt=more)),
        ("c", ModelStarted(key="m4", role="executor", prompt=whole)),
        ("d", ModelStarted(key="m5", role="executor")),
        ("e", ModelStarted(key="m6", role="judge", prompt=whole)),
        (None, ModelStarted(key="m7", role="executor", prompt=whole)),
    ):
        calls.model_started(step, told)

    assert calls.openings == {
        ("a", None): [Opening("m1", Brief(), whole)],
        ("b", None): [Opening("m3", Brief(), None)],
        ("c", None): [Opening("m4", None, whole)],
    }
