"""Why an answer is none to the request that is shown by now: each cause has words of its own."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from planner_executor.graph.nodes.review.request import cause_of_asking_anew
from planner_executor.graph.record.events import ReviewRequested
from planner_executor.graph.record.review_state import RecordedRequest
from planner_executor.graph.review.request import ReviewAction, ReviewRequest

PLAN = ReviewRequest(
    run="t.1", revision=1, digest="d", binding="b", actions=(ReviewAction("run_plan", {}, "the plan"),)
)
BEFORE = RecordedRequest(ReviewRequested(request=1, subject=PLAN.subject, asked=("run_plan",), digest="d"))
TIGHTER = SimpleNamespace(stricter="policy: on record limits.tool_calls is not set")
QUESTION = ReviewAction("answer_question", {"step": "q"}, "How much?")


@pytest.mark.parametrize(
    ("before", "now", "terms", "cause"),
    [
        (None, PLAN, None, "is no longer asked"),
        (BEFORE, PLAN, None, "came before this request was shown"),
        (BEFORE, replace(PLAN, digest="e"), None, "the plan has changed"),
        (BEFORE, replace(PLAN, binding="c"), TIGHTER, "the terms are stricter: policy: on record limits.tool_calls"),
        (BEFORE, replace(PLAN, actions=(QUESTION,)), None, "something else is asked"),
        (BEFORE, replace(PLAN, binding="c"), None, "the terms or the calls in question have changed"),
    ],
)
def test_a_request_that_is_asked_again_names_its_own_cause(before: Any, now: Any, terms: Any, cause: str) -> None:
    record = SimpleNamespace(review_state=SimpleNamespace(request=before))
    run: Any = SimpleNamespace(record=record, terms_here=terms)

    assert cause in cause_of_asking_anew(run, now)
