"""A request is handed on while nothing changes that it rests on; why an answer is none to one that is shown by now."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from planner_executor.graph.ledger.known_runs import Handed
from planner_executor.graph.nodes.review import request
from planner_executor.graph.nodes.review.request import cause_of_asking_anew, leave_request, request_of
from planner_executor.graph.nodes.review.subject import Subject
from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.schema import Plan, Step
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


STEP = Step(id="a", objective="o", tool="pay", args={"n": 1})
SUBJECT = Subject({}, Plan(steps=(STEP,)))
SAME: dict[str, Any] = {"seq": 4, "services": "s", "terms_here": None, "subject": SUBJECT}


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"seq": 5},
        {"services": "stricter"},
        {"terms_here": TIGHTER},
        {"subject": replace(SUBJECT, plan=Plan(steps=(STEP.model_copy(update={"args": {"n": True}}),)))},
        {"subject": replace(SUBJECT, plan=None)},
        {"subject": replace(SUBJECT, issues=(Issue("a", "args", "no"),))},
        {"subject": replace(SUBJECT, planned=False)},
        {"subject": replace(SUBJECT, uncertain=("a call",))},
    ],
)
def test_a_request_is_handed_on_unless_what_it_rests_on_has_changed(
    monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any]
) -> None:
    handed = Handed()

    def run(seq: int, services: str, terms_here: Any, **_: Any) -> Any:
        record = SimpleNamespace(seq=seq)
        return SimpleNamespace(record=record, services=services, terms_here=terms_here, request=handed)

    monkeypatch.setattr(request, "request_about", lambda *_: "another one")
    now = {**SAME, **changed}
    leave_request(run(**SAME), SUBJECT, PLAN)

    assert request_of(run(**now), now["subject"]) == ("another one" if changed else PLAN)
