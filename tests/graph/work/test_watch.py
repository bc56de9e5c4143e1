"""A run is abandoned if its owner is dead, or if nothing of it moves for as long as an owner may be silent."""

import pytest

from planner_executor.graph.ledger.lease import Holder
from planner_executor.graph.ledger.run_index import Unfinished
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.work.watch import is_abandoned, seen

FOUND = Unfinished(RunKey("t", 1), 3, Holder("somebody", 1, 5), is_dead=False)


@pytest.mark.parametrize(
    ("later", "is_left"),
    [
        (FOUND, True),
        (FOUND._replace(holder=Holder("somebody", 1, 6)), False),
        (FOUND._replace(holder=Holder("", 1, 5)), False),
        (FOUND._replace(seq=4), False),
        (FOUND._replace(is_dead=True), True),
    ],
)
def test_what_has_moved_since_is_watched_anew(later: Unfinished, is_left: bool) -> None:
    sights = seen(seen({}, [FOUND], 100.0), [later], 110.0)

    assert is_abandoned(sights[FOUND.run], 110.0, silent_s=10.0) is is_left


def test_a_run_is_not_abandoned_at_first_sight_and_not_remembered_once_it_is_finished() -> None:
    sights = seen({}, [FOUND], 100.0)

    assert not is_abandoned(sights[FOUND.run], 109.9, silent_s=10.0)
    assert seen(sights, [], 110.0) == {}
