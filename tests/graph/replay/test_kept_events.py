"""The order of the events of a replay."""

from planner_executor.graph.record.events import Event
from planner_executor.graph.replay.kept_events import KeptEvents
from planner_executor.graph.testing import whole_payload


def test_events_stand_as_they_do_on_record_in_whatever_order_they_come() -> None:
    kept = KeptEvents()
    for place, step in ((0, "a"), (3, "b"), (1, "c"), (2, "d"), (None, "e"), (4, "f")):
        kept.add(place, Event(9, "executing", step, 0.0, {}), whole_payload("executing", {}))

    assert [(event.seq, event.step) for event in kept.after(0)] == list(enumerate("acdbef", 1))
    assert [event.step for event in kept.after(4)] == ["e", "f"] and len(kept) == 6
