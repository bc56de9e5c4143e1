"""What a row of a list says of its run."""

from typing import Any

import pytest

from planner_executor.graph.record.asked_effect import AskedEffect
from planner_executor.graph.record.deadline import Deadline
from planner_executor.graph.record.open_review import OpenReview
from planner_executor.graph.record.summary import RunSummary

REFUNDS = tuple(AskedEffect(f"Refund {amount} EUR", "external") for amount in (20, 129.5, 7))


def row(**fields: Any) -> RunSummary:
    return RunSummary("t", 3, 9, "running", **fields)


def test_a_run_has_done_and_spent_nothing_before_it_has_a_plan() -> None:
    found = row()

    assert (found.id, found.done) == ("t.3", "-")
    assert (found.revision, found.steps, found.succeeded) == (0, 0, 0)
    assert (found.tool_calls, found.model_calls, found.tokens, found.cost_usd) == (0, 0, 0, 0.0)


@pytest.mark.parametrize(("succeeded", "steps", "done"), [(0, 3, "0/3"), (2, 3, "2/3"), (0, 0, "0/0")])
def test_of_a_plan_it_is_said_how_many_steps_are_done(succeeded: int, steps: int, done: str) -> None:
    assert row(revision=1, succeeded=succeeded, steps=steps).done == done


@pytest.mark.parametrize(("ended_at", "took_s"), [(None, 30.0), (25.0, 15.0), (0.0, -10.0)])
def test_a_run_took_until_its_end_or_until_its_last_event_if_it_goes_on(ended_at: float | None, took_s: float) -> None:
    assert row(started_at=10.0, updated_at=40.0, ended_at=ended_at).took_s == took_s


@pytest.mark.parametrize(
    ("review", "until", "amount"),
    [
        (None, None, None),
        (OpenReview(1), None, None),
        (OpenReview(1, deadline=Deadline(60.0, 100.0)), Deadline(60.0, 100.0).until, None),
        (OpenReview(1, effects=REFUNDS), None, 129.5),
    ],
    ids=["no request", "a request", "with a deadline", "with effects"],
)
def test_an_open_request_says_until_when_and_about_how_much_it_is(
    review: OpenReview | None, until: float | None, amount: float | None
) -> None:
    assert (row(review=review).until, row(review=review).amount) == (until, amount)


def test_searches_look_through_goal_name_tags_who_started_it_and_effects() -> None:
    about: Any = {"goal": "Pay Ann", "tags": ("Nightly", "eu"), "started_by": "os:Ada"}

    assert row(**about).told == "pay ann t.3 nightly eu os:ada"
    assert row(**about, review=OpenReview(1, effects=REFUNDS[:1])).told == "pay ann t.3 nightly eu os:ada refund 20 eur"
