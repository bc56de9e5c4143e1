"""Which of the next events on record another process wrote while an answer was on its way."""

from typing import Any

import pytest

from planner_executor.graph.record.events import Event
from planner_executor.graph.replay.overlapping import answers_before
from planner_executor.graph.testing import drafted

VOTE = {"request": 1, "subject": "s", "says": "d", "decisions": [], "missing": "one more", "approver": "server:ada"}
ASKED = {"request": 1, "digest": "d", "subject": "s", "asked": ["run_plan"], "actions": [], "shown": {"value": []}}
DECIDED = {"digest": "d", "binding": "b", "decision": "approve", "by": "person", "message": None}
EDITED = {"revision": 2, "digest": "e", "plan": {"steps": []}, "author": "person", "reason": "edited in review"}


def event(kind: str, checkpoint: str, payload: dict[str, Any]) -> Event:
    draft = drafted(kind, {**payload, "checkpoint": checkpoint})
    return Event(1, kind, None, 0.0, draft.payload)


def voted(at: str) -> list[Event]:
    """A vote, and the request as it stands after it."""
    return [event("voted", at, VOTE), event("review_requested", at, {**ASKED, "answer": {"value": None}, "skip": 1})]


def shown(at: str) -> Event:
    return event("review_requested", at, ASKED)


def decided(at: str) -> Event:
    return event("decided", at, DECIDED)


REFUSED = event("review_requested", "c1", {**ASKED, "answer": {"value": "x"}, "error": "what?", "skip": 1})


@pytest.mark.parametrize(
    ("coming", "others"),
    [
        ([], 0),
        ([decided("c1")], 0),
        (voted("c1"), 0),
        ([*voted("c1"), shown("c2")], 0),
        ([*voted("c1"), shown("c2"), decided("c2")], 0),
        ([*voted("c1"), decided("c1")], 2),
        ([*voted("c1"), shown("c2"), decided("c1")], 3),
        ([*voted("c1"), *voted("c1"), shown("c2"), decided("c2")], 2),
        ([*voted("c1"), *voted("c1"), decided("c1")], 4),
        ([*voted("c1"), event("plan_revised", "c1", EDITED), decided("c1")], 2),
        ([*voted("c1"), REFUSED], 2),
        ([REFUSED], 0),
        ([REFUSED, shown("c2"), decided("c2")], 0),
        ([REFUSED, decided("c1")], 1),
        ([REFUSED, shown("c2"), decided("c1")], 2),
        ([REFUSED, REFUSED, *voted("c1"), decided("c1")], 4),
    ],
)
def test_an_answer_at_the_checkpoint_of_another_one_began_before_it(coming: list[Event], others: int) -> None:
    assert answers_before(coming) == others
