"""The record as it is played: what is next, what may come in another order, and what a call came to."""

from dataclasses import replace
from typing import Any

from planner_executor.graph.record.amendment import Amendment
from planner_executor.graph.record.events import Draft, Event, cancelled
from planner_executor.graph.replay.comparison import Divergence
from planner_executor.graph.replay.recording import Recording
from planner_executor.graph.testing import drafted, whole_payload

CANCELLED = cancelled().to_json()


def tape(*told: tuple[Any, str | None, dict[str, Any]], aside: str = "") -> Recording:
    events = [
        Event(seq, kind, step, 0.0, whole_payload(kind, payload)) for seq, (kind, step, payload) in enumerate(told, 1)
    ]
    return Recording(events, frozenset({aside} if aside else ()))


def call(step: str, number: int = 0) -> tuple[Any, str, dict[str, Any]]:
    return ("call_started", step, {"key": f"k{step}{number}", "call": number})


def end(step: str, number: int = 0, **more: Any) -> tuple[Any, str, dict[str, Any]]:
    return ("call_finished", step, {"call": number, **more})


def draft(told: tuple[Any, str | None, dict[str, Any]]) -> Draft:
    return drafted(told[0], told[2], told[1])


TWO = (("executing", None, {}), call("a"), call("b"), end("b"), end("a"), ("run_ended", None, {"status": "failed"}))


def test_events_of_steps_may_come_in_another_order_within_a_pass() -> None:
    played = tape(*TWO)

    for told in (TWO[0], TWO[2], TWO[1], TWO[4], TWO[3], TWO[5]):
        places, difference = played.place([draft(told)])
        assert difference is None
        played.play(places)

    assert played.next is None and played.count == 6


def test_other_events_come_in_their_turn() -> None:
    played = tape(*TWO)

    _, early = played.place([draft(TWO[5])])

    assert isinstance(early, Divergence) and (early.seq, early.field) == (1, "")


def test_an_event_comes_once() -> None:
    played = tape(TWO[0], call("a"), end("a"), call("a"), end("a"))
    played.play([0])

    places, difference = played.place([draft(call("a")), draft(call("a"))])
    assert (places, difference) == ([1, 3], None)
    _, more = played.place([draft(call("a"))] * 3)
    assert more is not None


def test_events_of_the_next_pass_do_not_come_early() -> None:
    played = tape(call("a"), ("executing", None, {}), call("b"))

    assert played.place([draft(call("b"))])[1] is not None


def test_what_is_placed_before_the_record_ends_is_told() -> None:
    played = tape(call("a"))

    places, difference = played.place([draft(call("a")), draft(call("b"))])

    assert places == [0] and difference is not None and difference.recorded is None


def test_an_outcome_belongs_to_the_latest_call_of_its_step_item_and_number() -> None:
    played = tape(
        call("a"),  # its process died
        call("a"),
        end("a"),
        call("b", 1),
        ("call_started", "b", {"key": "i", "call": 1, "item": 0}),
        end("b", 1, item=0),
        end("b", 1),
        ("model_started", "c", {"key": "m", "role": "executor"}),
        ("model_finished", "c", {"key": "m", "role": "executor"}),
    )

    assert [played.outcome_of(place) for place in (0, 1, 3, 4, 7)] == [None, 2, 6, 5, 8]


def test_calls_of_a_role_can_be_left_aside() -> None:
    asked = [("model_started", None, {"key": "m", "role": "planner"}), ("paused", None, {})]
    played = tape(*asked, aside="planner")

    assert len(played.events) == 1 and played.is_aside(draft(asked[0])) and not played.is_aside(draft(asked[1]))


def test_messages_for_the_run_are_seen_ahead() -> None:
    paused, interrupted = {"reason": "asked to pause"}, {"reason": "interrupted"}
    steered = {"added": ["c"], "withdrawn": [], "feedback": None, "approver": "ann", "constraints": ["c"]}
    steer = Amendment(("c",), (), None, "ann").to_text()

    assert tape(end("a"), ("paused", None, paused)).messages_ahead() == ["pause"]
    assert tape(end("a"), ("paused", None, interrupted)).messages_ahead() == []
    assert tape(end("a"), ("run_ended", None, {**CANCELLED, "checkpoint": "c"})).messages_ahead() == ["cancel"]
    assert tape(end("a"), ("run_ended", None, CANCELLED)).messages_ahead() == []
    assert tape(end("a"), ("steered", None, steered), ("paused", None, paused)).messages_ahead() == [steer, "pause"]
    assert tape(end("a"), ("steered", None, {**steered, "checkpoint": "c"})).messages_ahead() == []
    assert tape(end("a")).messages_ahead() == []


def test_work_is_interrupted_before_messages_are_read() -> None:
    paused = ("paused", None, {"reason": "interrupted"})
    steered = {"added": ["c"], "withdrawn": [], "feedback": None, "approver": "ann", "constraints": ["c"]}

    assert tape(paused).is_interrupted and tape(("steered", None, steered), paused).is_interrupted
    assert not tape(end("a"), paused).is_interrupted
    assert not tape(("steered", None, {**steered, "checkpoint": "c"}), paused).is_interrupted
    assert not tape(("paused", None, {"reason": "asked to pause"})).is_interrupted


def test_a_step_is_cut_off_if_its_next_event_says_that_its_time_was_over() -> None:
    late = ("step_finished", "a", {"status": "failed", "error": "the step did not end within 5 s"})
    other = ("step_finished", "b", {"status": "failed", "error": "none"})

    assert tape(late, other).is_cut_off("a") and not tape(late, other).is_cut_off("b")
    assert not tape(end("a", 1), late).is_cut_off("a") and not tape(late).is_cut_off(None)


def test_events_that_are_on_record_are_found_beside_others_that_are_not() -> None:
    played = tape(call("a"), call("b"), end("a"))

    (ended, started) = played.place_each([draft(end("a")), draft(call("c")), draft(call("a"))])

    assert (ended[0].kind, ended[1]) == ("call_finished", 2) and (started[0].step, started[1]) == ("a", 0)


def test_the_next_checkpoint_is_that_of_the_first_event_that_names_one() -> None:
    played = tape(call("a"), ("executing", None, {"checkpoint": "c1"}), ("executing", None, {"checkpoint": "c2"}))

    assert played.checkpoint_ahead == "c1" and tape(call("a")).checkpoint_ahead is None
    played.play([0, 1])
    assert (played.checkpoint_behind, played.checkpoint_ahead) == ("c1", "c2")


def test_a_cancelled_run_is_told_from_one_that_ended() -> None:
    assert cancelled("c").is_cancelled
    assert not replace(cancelled(), status="failed").is_cancelled


class Looked(list[bool]):
    """What was played, with how often that was asked."""

    times = 0

    def __getitem__(self, place: Any) -> Any:
        self.times += 1
        return super().__getitem__(place)


def test_the_items_of_a_list_are_found_without_a_look_at_all_those_before_and_after() -> None:
    told = [TWO[0], *(call("a", number) for number in range(100)), TWO[5]]
    played = tape(*told)
    looked = played._played = Looked(played._played)

    for one in told:
        played.play(played.place([draft(one)])[0])

    assert played.next is None and looked.times < 5 * len(told)
