"""The time to decide a request, as the record keeps it."""

from typing import Any

import pytest

from planner_executor.graph.record.deadline import Deadline

WHOLE = Deadline(1_000.0, 100.0, (10.0, 60.0), (20.0,), "end")
LEAST = {"since": 1_000.0, "within_s": 100.0, "on_expire": "reject"}


@pytest.mark.parametrize("deadline", [WHOLE, Deadline(0, 1)])
def test_it_is_the_same_after_it_was_kept(deadline: Deadline) -> None:
    assert Deadline.from_json(deadline.to_json()) == deadline


def test_moments_that_are_not_set_are_left_out() -> None:
    assert Deadline(1_000.0, 100.0).to_json() == LEAST


@pytest.mark.parametrize(("handled_s", "due"), [(0.0, 1_010.0), (10.0, 1_020.0), (20.0, 1_060.0), (60.0, 1_100.0)])
def test_what_falls_due_next_was_not_done_and_the_end_comes_last(handled_s: float, due: float) -> None:
    assert WHOLE.next_due(handled_s) == due and WHOLE.until == 1_100.0
    assert WHOLE.next_due() == 1_010.0


@pytest.mark.parametrize("moment", ["[redacted]", None, True])
def test_a_moment_that_a_redaction_replaced_is_left_out_and_a_bound_that_it_replaced_is_refused(moment: Any) -> None:
    found = Deadline.from_json({**LEAST, "reminders_s": [moment, 10], "escalations_s": [20.5, moment]})
    assert (found.reminders_s, found.escalations_s) == ((10,), (20.5,))

    for bound in ("since", "within_s"):
        with pytest.raises(TypeError, match="is not a number"):
            Deadline.from_json({**LEAST, bound: moment})


def test_another_word_for_the_end_rejects() -> None:
    assert Deadline.from_json({**LEAST, "on_expire": "[redacted]"}).on_expire == "reject"
