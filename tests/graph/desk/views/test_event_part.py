"""Which events end a wait for people, follow from a decision, and are listed on the page about a closed request."""

import pytest

from planner_executor.graph.desk.views.event_part import Part, part_of_event
from planner_executor.graph.record.events import TYPES, Event
from planner_executor.graph.testing import drafted

KINDS = {
    Part.ANSWERS: {
        "decided", "steered", "run_ended", "response_given", "step_skipped", "result_supplied", "review_expired"
    },
    Part.FOLLOWS: {"decided", "steered", "run_ended", "voted", "late_answer", "run_reopened", "paused"},
    Part.LISTED: {
        "decided", "steered", "run_ended", "voted", "late_answer", "run_reopened", "response_given", "step_skipped",
        "plan_revised", "review_requested", "review_escalated", "review_expired", "result_supplied",
    },
}  # fmt: skip


@pytest.mark.parametrize("part", KINDS, ids=str)
def test_each_kind_of_event_is_told_where_it_belongs(part: Part) -> None:
    found = {kind for kind in TYPES if part in part_of_event(drafted(kind).data)}

    assert found == KINDS[part]


def test_an_event_of_a_newer_release_is_nothing_to_a_request() -> None:
    assert part_of_event(Event(1, "of_tomorrow", None, 0.0, {}).data_if_known) == Part.NONE == Part(0)
