"""What the decisions on a request come to, all of them together."""

from dataclasses import replace
from typing import Any

import pytest

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.policy.policy import Policy
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.review.decision import Decision, InvalidResponse, rejection
from planner_executor.graph.review.human_steps import PASSED
from planner_executor.graph.review.request import ReviewAction, ReviewRequest
from planner_executor.graph.review.request_json import GATE
from planner_executor.graph.review.verdict import ReviewVerdict, verdict_of

TERMS = ExecutionTerms(
    {"send": ToolSpec("send", "", {})}, policy=Policy(limits=Budget(tool_calls=10, calls={"send": 5}))
)
APPROVE = Decision("approve")


def edit(**args: Any) -> Decision:
    return Decision("edit", args=args)


RUN_PLAN = ReviewAction("run_plan", {"plan": {"steps": []}}, "")
RUN_STEP = ReviewAction("run_step", {"step": "a", "tool": "send", "args": {}}, "", "key")
AT_GATE = ReviewAction("run_step", {"step": "look", "tool": GATE, "args": {}}, "")
QUESTION = ReviewAction(
    "answer_question", {"step": "q", "question": "?", "answer": None}, "", answer_schema={"type": "integer"}
)
EFFECT = ReviewAction(
    "settle_effect", {"step": "a", "tool": "send", "args": {}, "happened": None, "result": None}, "", "key"
)
SPENT = {"budget": {"tool_calls": 3, "calls": {"send": 2}}, "spent": {"tool_calls": 3}}
BUDGET = ReviewAction("raise_budget", SPENT, "", "tool_calls")


def verdict(*pairs: tuple[ReviewAction, Decision], terms: ExecutionTerms = TERMS) -> ReviewVerdict:
    request = ReviewRequest("t.1", 1, "d", "b", tuple(action for action, _ in pairs))
    return verdict_of(request, [decision for _, decision in pairs], terms)


def test_all_that_was_asked_may_be_decided_at_once() -> None:
    found = verdict(
        (RUN_PLAN, APPROVE),
        (AT_GATE, APPROVE),
        (RUN_STEP, APPROVE),
        (QUESTION, edit(answer=5)),
        (EFFECT, edit(happened=True, result="r")),
        (BUDGET, edit(budget={"tool_calls": 9, "calls": {"send": 2}})),
    )

    assert (found.plan, found.calls, found.stop, found.feedback) == (APPROVE, ("key",), None, None)
    assert found.given == {"look": PASSED, "q": 5}
    assert found.settled == ({"key": "key", "happened": True, "result": "r"},)
    assert found.budget == Budget(tool_calls=9, calls={"send": 2})


def test_one_decision_that_ends_the_run_stands_above_all_others() -> None:
    found = verdict((RUN_PLAN, APPROVE), (RUN_STEP, rejection("not this way")), (EFFECT, rejection(None)))

    assert found.stop is not None and (found.plan, found.calls, found.feedback) == (None, (), None)


def test_an_uncertain_call_rejected_with_words_stays_uncertain_and_what_was_said_of_others_stands() -> None:
    found = verdict((EFFECT, rejection("ask the bank")), (EFFECT, edit(happened=True)), (RUN_PLAN, APPROVE))

    assert (found.stop, found.plan, found.feedback, len(found.settled)) == (None, None, "ask the bank", 1)


def test_feedback_approves_nothing_and_keeps_what_was_found_out() -> None:
    raised = edit(budget={"tool_calls": 4, "calls": {"send": 2}})
    found = verdict(
        (RUN_PLAN, rejection("another way")),
        (RUN_STEP, APPROVE),
        (AT_GATE, APPROVE),
        (EFFECT, edit(happened=False)),
        (BUDGET, raised),
    )

    assert found.feedback == "another way" and (found.plan, found.calls, found.given) == (None, (), {})
    assert found.settled and found.budget == Budget(tool_calls=4, calls={"send": 2})


@pytest.mark.parametrize(
    ("decision", "ends", "finishes"),
    [
        (rejection(None), True, True),
        (rejection("   "), True, True),
        (rejection("too dear", final=True), True, True),
        (rejection("stop"), True, False),
        (rejection("No"), True, False),
        (rejection("use fewer calls"), False, False),
    ],
)
def test_a_rejected_budget_finishes_ends_or_sends_back(decision: Decision, ends: bool, finishes: bool) -> None:
    found = verdict((BUDGET, decision))

    assert (found.stop is not None) is ends
    assert (found.stop is not None and found.stop.finishes) is finishes
    assert (found.feedback is None) is ends


def test_rejecting_a_plan_never_finishes() -> None:
    found = verdict((RUN_PLAN, rejection(None)), (BUDGET, rejection(None)))

    assert found.stop is not None and not found.stop.finishes


@pytest.mark.parametrize(
    "budget",
    [
        {"tool_calls": 3, "calls": {"send": 2}},
        {"tool_calls": 2, "calls": {"send": 2}},
        {"tool_calls": 3.0, "calls": {"send": 5}},
        {"tool_calls": 11, "calls": {"send": 2}},
        {"calls": {"send": 2}},
        {"tool_calls": 5, "calls": {"send": 6}},
        {"tool_calls": 5},
        {"tool_calls": 5, "calls": {"send": 2, "sned": 1}},
        {"tool_calls": 5, "calls": {"send": 2}, "cost_usd": 1.0},
        {"tool_calls": 5, "calls": {"send": 2}, "tool_cals": 1},
        {"tool_calls": True, "calls": {"send": 2}},
        {},
        None,
        "more",
        [],
    ],
    ids=str,
)
def test_a_budget_that_is_not_raised_or_too_far_or_not_understood_is_asked_about_again(budget: Any) -> None:
    with pytest.raises(InvalidResponse):
        verdict((BUDGET, edit(budget=budget)))


@pytest.mark.parametrize("budget", [{}, {"calls": {}}, {"calls": None}], ids=str)
def test_an_empty_budget_takes_no_limit_away_and_null_takes_one(budget: Any) -> None:
    with pytest.raises(InvalidResponse, match="the budget is empty; name the limit tool_calls and its new value"):
        verdict((BUDGET, edit(budget=budget)), terms=ExecutionTerms(TERMS.tools))

    found = verdict((BUDGET, edit(budget={"tool_calls": None})), terms=ExecutionTerms(TERMS.tools))
    assert found.budget == Budget()


def test_the_limit_that_is_reached_may_be_taken_away_where_no_hard_one_stands() -> None:
    found = verdict((BUDGET, edit(budget={"calls": {"send": 2}})), terms=ExecutionTerms(TERMS.tools))

    assert found.budget == Budget(calls={"send": 2})


@pytest.mark.parametrize("happened", [None, "yes", 1, "true"])
def test_a_call_is_settled_by_true_or_false_only(happened: Any) -> None:
    with pytest.raises(InvalidResponse):
        verdict((EFFECT, edit(happened=happened)))


def test_an_answer_has_to_fit_what_was_asked() -> None:
    with pytest.raises(InvalidResponse):
        verdict((QUESTION, edit(answer="five")))


def beforehand(*pairs: tuple[ReviewAction, Decision]) -> ReviewVerdict:
    request = ReviewRequest("t.1", 1, "d", "b", tuple(action for action, _ in pairs))
    return verdict_of(request, [decision for _, decision in pairs], TERMS, unseen=True)


def test_an_approval_given_beforehand_approves_the_plan_and_is_known_to_be_unseen() -> None:
    assert beforehand((RUN_PLAN, APPROVE)) == ReviewVerdict(plan=APPROVE, decisions=(APPROVE,), unseen=True)
    assert not verdict((RUN_PLAN, APPROVE)).unseen


@pytest.mark.parametrize(
    "pairs",
    [
        [(RUN_STEP, APPROVE)],
        [(AT_GATE, APPROVE)],
        [(RUN_PLAN, edit(plan={"steps": []}))],
        [(RUN_PLAN, rejection("another way"))],
        [(QUESTION, edit(answer=5))],
        [(RUN_PLAN, APPROVE), (RUN_STEP, APPROVE)],
    ],
)
def test_nothing_but_an_approval_of_the_plan_may_be_given_beforehand(
    pairs: list[tuple[ReviewAction, Decision]],
) -> None:
    with pytest.raises(InvalidResponse):
        beforehand(*pairs)


def test_a_call_rejected_with_words_leaves_the_other_decisions_as_they_are() -> None:
    other = ReviewAction("run_step", {"step": "b", "tool": "send", "args": {}}, "", "other")
    third = ReviewAction("run_step", {"step": "c", "tool": "send", "args": {}}, "", "third")

    found = verdict(
        (RUN_STEP, rejection("to bob")), (other, APPROVE), (third, edit(args={"to": "x"})), (AT_GATE, APPROVE)
    )

    assert (found.calls, found.edits, found.rejected) == (("other",), {"third": {"to": "x"}}, {"key": "to bob"})
    assert found.feedback is None and found.stop is None and found.given == {"look": PASSED}


def test_a_question_that_is_sent_back_needs_no_answer() -> None:
    assert verdict((QUESTION, rejection("ask ann"))).feedback == "ask ann"


def test_what_was_not_asked_is_not_decided() -> None:
    found = verdict((QUESTION, edit(answer=5)))

    assert (found.plan, found.calls, found.given) == (None, (), {"q": 5})
    assert verdict((RUN_STEP, APPROVE), (RUN_PLAN, APPROVE)).plan == APPROVE


def test_a_call_of_a_tool_that_is_called_like_a_gate_is_no_gate() -> None:
    held = ReviewAction("run_step", {"step": "a", "tool": GATE, "args": {}}, "", "key")

    assert verdict((held, APPROVE)).given == {}


@pytest.mark.parametrize("action", [EFFECT, QUESTION, BUDGET], ids=lambda action: action.name)
def test_a_decision_without_arguments_is_no_answer_to_what_needs_some(action: ReviewAction) -> None:
    with pytest.raises(InvalidResponse):
        verdict((action, Decision("edit")))


def test_a_bound_on_money_may_be_raised_and_is_not_set_in_mid_run() -> None:
    open_terms = ExecutionTerms(TERMS.tools)
    dear = ReviewAction("raise_budget", {"budget": {"cost_usd": 1.0}, "spent": {}}, "", "cost_usd")

    assert verdict((dear, edit(budget={"cost_usd": 2.0})), terms=open_terms).budget == Budget(cost_usd=2.0)
    with pytest.raises(InvalidResponse, match="cost_usd cannot be set during a run"):
        verdict((BUDGET, edit(budget={"tool_calls": 4, "cost_usd": 2.0})), terms=open_terms)


@pytest.mark.parametrize("before", [{"tool_calls": 0}, {}], ids=["a limit of nothing", "the policy's limit"])
def test_one_more_than_nothing_is_a_higher_limit(before: dict[str, int]) -> None:
    action = ReviewAction("raise_budget", {"budget": before, "spent": {}}, "", "tool_calls")
    found = verdict((action, edit(budget={"tool_calls": 1})), terms=ExecutionTerms(TERMS.tools))

    assert found.budget == Budget(tool_calls=1)


FORM = {"type": "object", "properties": {"size": {"type": "string"}}, "required": ["size"]}
ASKED = ReviewAction("answer_question", {"step": "fit", "question": "Which?", "answer": None}, "", "k1", FORM)


def test_the_answer_to_a_call_is_a_filled_form_under_its_key_and_that_to_a_step_is_given() -> None:
    found = verdict((ASKED, edit(answer={"size": "M"})), (QUESTION, edit(answer=3)))

    assert found.replies == {"k1": {"size": "M"}}
    assert found.given == {QUESTION.args["step"]: 3}


@pytest.mark.parametrize("decision", [edit(answer={"size": 5}), edit(answer={}), Decision("edit")], ids=str)
def test_a_form_that_is_not_filled_is_asked_again(decision: Decision) -> None:
    with pytest.raises(InvalidResponse, match="the answer to fit does not fill its form"):
        verdict((ASKED, decision))


def test_calls_are_approved_with_further_ones_edited_or_rejected_under_their_keys() -> None:
    calls = [replace(RUN_STEP, key=key) for key in ("k1", "k2", "k3", "k4")]
    further = Decision("approve", standing={"at_most": 2})
    no = Decision("reject", message="no")

    found = verdict(*zip(calls, [APPROVE, further, edit(args={"to": "y"}), no], strict=True))

    assert (found.calls, found.standing) == (("k1", "k2"), {"k2": {"at_most": 2}})
    assert (found.edits, found.rejected) == ({"k3": {"to": "y"}}, {"k4": "no"})
