"""A form about an open request as a response: only what a person chose is decided."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from planner_executor.graph.desk.decisions import (
    EDITED,
    call_faults,
    check_fields,
    edited_arguments,
    edited_plan,
    limits_in,
    named_calls,
    response_in,
)
from planner_executor.graph.errors import InputError
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.review.response import ReviewResponse
from planner_executor.graph.testing import step

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}, "why": {"type": "string"}}, "required": ["n"]}
ASKS = {"id": "q", "objective": "o", "ask": "How many?", "output": NUMBER}
PLAN = {"steps": [step("a", "send", to="x"), ASKS]}
SHOWN: Any = SimpleNamespace(record=RunState(), run=SimpleNamespace(plan=Plan.model_validate(PLAN)))
A_PLAN = ("run_plan", {"plan": PLAN})
CALLS = [
    ("run_step", {"step": "a", "tool": "send", "args": {}}),
    ("run_step", {"step": "b", "tool": "send", "args": {}}),
]
QUESTION = ("answer_question", {"step": "q", "question": "How many?"})
UNCERTAIN = [("settle_effect", {"step": "a", "tool": "send"}), ("settle_effect", {"step": "b", "tool": "pay"})]
BUDGET = ("raise_budget", {"budget": {"steps": 1}, "spent": {}})
NEW_PLAN = {"steps": [{**PLAN["steps"][0], "objective": "p"}, ASKS]}
EDITS_A: dict[str, Any] = {"edit_as": "form", "step__a__objective": "p"}
TO_TEXT = {"properties": {"to": {"type": "string", "maxLength": 3}}}
TOOLS = {"send": ToolSpec("send", "", TO_TEXT)}


def request(*actions: tuple[str, Any], **more: Any) -> Any:
    return {"action_requests": [{"name": name, "args": args, **more} for name, args in actions]}


def decided(*actions: tuple[str, Any], of: Any = None, **fields: str) -> ReviewResponse:
    named = {name.replace("__", ":"): text for name, text in fields.items()}
    made = response_in(SHOWN, of or request(*actions), named, TOOLS)
    return replace(made, happened=tuple(made.happened), results=tuple(made.results))


def faulty(*actions: tuple[str, Any], **fields: Any) -> tuple[str, str]:
    with pytest.raises(InputError) as refused:
        decided(*actions, **fields)
    return refused.value.field, str(refused.value)


@pytest.mark.parametrize(
    ("actions", "fields", "response"),
    [
        ((A_PLAN,), {"decision": "stop"}, ReviewResponse(stop=True)),
        ((A_PLAN,), {"decision": "approve"}, ReviewResponse(approve=True)),
        ((CALLS[0],), {"decision": "approve"}, ReviewResponse(approve=True)),
        ((QUESTION,), {"decision": "answer", "answer__q__/n": "4"}, ReviewResponse(answers={"q": {"n": 4}})),
        (
            (QUESTION,),
            {"decision": "answer", "answer__q__/n": "4", "answer__q__/why": ""},
            ReviewResponse(answers={"q": {"n": 4}}),
        ),
        ((QUESTION,), {"decision": "answer", "answer__q__/n": ""}, ReviewResponse()),
        ((A_PLAN,), {"decision": "feedback", "message": "cheaper"}, ReviewResponse(feedback="cheaper")),
        (
            (BUDGET, QUESTION),
            {"decision": "finish", "answer__q__/n": "4"},
            ReviewResponse(finish=True, answers={"q": {"n": 4}}),
        ),
        ((BUDGET,), {"decision": "approve", "limit__steps": "5"}, ReviewResponse(limits={"steps": 5})),
        ((A_PLAN,), {"decision": "approve", "limit__steps": "5"}, ReviewResponse(approve=True)),
        (
            (A_PLAN,),
            {"decision": "edit", "edit_as": "text", "plan": '{"steps": []}'},
            ReviewResponse(approve=True, plan={"steps": []}),
        ),
        ((A_PLAN,), {"decision": "approve", "edit_as": "text", "plan": "{"}, ReviewResponse(approve=True)),
        ((A_PLAN,), {"decision": "approve", "edit_as": "form"}, ReviewResponse(approve=True)),
        ((CALLS[0],), {"decision": "approve", "edit_as": "form"}, ReviewResponse(approve=True)),
        ((A_PLAN,), {"decision": "edit", **EDITS_A}, ReviewResponse(approve=True, plan=NEW_PLAN)),
        (
            (A_PLAN,),
            {"decision": "feedback", "message": "", "comment__a": "why?", "comment__q": " "},
            ReviewResponse(comments=(("a", "why?"),)),
        ),
        (
            (A_PLAN,),
            {"decision": "approve", "ahead__at_most": "3"},
            ReviewResponse(approve=True, standing_runs={"at_most": 3}),
        ),
        ((A_PLAN,), {"decision": "approve", "reason": "r", "message": "m"}, ReviewResponse(approve=True, reason="r")),
        ((A_PLAN,), {"decision": "approve", "message": "m"}, ReviewResponse(approve=True, reason="m")),
        ((A_PLAN,), {"decision": "approve", "reason": "", "message": ""}, ReviewResponse(approve=True)),
        ((QUESTION,), {"decision": "answer", "message": "m"}, ReviewResponse()),
        (
            (CALLS[0],),
            {"decision": "refuse", "message": "not him"},
            ReviewResponse(approve=True, rejected={"a": "not him"}),
        ),
        ((CALLS[0],), {"decision": "approve", "call__a": "approve"}, ReviewResponse(approve=True)),
        (UNCERTAIN[:1], {"decision": "happened"}, ReviewResponse(happened=(True,), results=(None,))),
        (UNCERTAIN[:1], {"decision": "not_happened"}, ReviewResponse(happened=(False,))),
        (
            UNCERTAIN[:1],
            {"decision": "answer", "happened__0": "true"},
            ReviewResponse(happened=(True,), results=(None,)),
        ),
    ],
    ids=[
        *("stop", "a plan", "a call", "an answer", "part of an answer", "no answer", "feedback", "finish", "a budget"),
        *(
            "limits nobody asked about",
            "an edit",
            "no edit",
            "an untouched form",
            "a form of no plan",
            "an edited form",
        ),
        *("comments", "further runs", "a reason", "words as a reason", "no reason", "words beside an answer"),
        *("the only call refused", "a call approved", "it happened", "it did not", "said of the only call"),
    ],
)
def test_a_form_is_the_response_that_a_person_chose(actions: Any, fields: Any, response: ReviewResponse) -> None:
    assert decided(*actions, **fields) == response


def test_feedback_leaves_an_uncertain_call_open_if_nothing_is_said_of_it() -> None:
    assert decided(*UNCERTAIN, decision="feedback", message="m") == ReviewResponse(feedback="m")


def test_each_call_has_a_decision_of_its_own() -> None:
    made = decided(
        *CALLS, decision="approve", call__a="edit", call__a__args='{"to": "y"}', call__b="reject", call__b__why="no"
    )
    assert made == ReviewResponse(approve=True, args={"a": {"to": "y"}}, rejected={"b": "no"})

    further = decided(*CALLS, decision="approve", call__a="standing", call__a__at_most="3", until="2026-12-01")
    assert further == ReviewResponse(approve=True, standing={"a": {"at_most": 3}})


def test_uncertain_calls_are_settled_in_the_order_shown_with_the_results_of_those_that_happened() -> None:
    fields = {"happened__0": "false", "happened__1": "true", "result__0": "", "result__1": '{"id": 7}'}
    for more in ({"decision": "approve"}, {"decision": "feedback", "message": "m"}, {"decision": "finish"}):
        made = decided(*UNCERTAIN, **fields, **more)
        assert (made.happened, made.results) == ((False, True), ({"id": 7},))

    empty = decided(*UNCERTAIN, decision="approve", happened__0="true", happened__1="true")
    assert (empty.happened, empty.results) == ((True, True), (None, None))


@pytest.mark.parametrize(
    ("actions", "fields", "field", "words"),
    [
        ((A_PLAN,), {}, "decision", "choose what to decide"),
        ((A_PLAN,), {"decision": "aprove"}, "decision", "choose what to decide"),
        ((A_PLAN,), {"decision": "feedback"}, "message", "say what to change"),
        ((BUDGET,), {"decision": "approve"}, "budget", "give a higher limit"),
        ((BUDGET,), {"decision": "approve", "limit__steps": "many"}, "steps", "integer >= 0"),
        ((CALLS[0],), {"decision": "approve", "call__a": "reject"}, "a", "say why"),
        ((CALLS[0],), {"decision": "approve", "call__a": "edit", "call__a__args": "x"}, "a", "a JSON object"),
        ((CALLS[0],), {"decision": "approve", "call__a": "Reject"}, "a", "choose what to decide about this call"),
        (UNCERTAIN, {"decision": "approve"}, "happened", "a's call of send happened"),
        (UNCERTAIN, {"decision": "approve", "happened__0": "true"}, "happened", "b's call of pay happened"),
        (UNCERTAIN, {"decision": "approve", "happened__0": "perhaps"}, "happened", "a's call of send happened"),
        (
            (UNCERTAIN[0],),
            {"decision": "approve", "happened__0": "false", "result__0": "9"},
            "result",
            "send has no result",
        ),
        ((CALLS[0],), {"decision": "edit"}, "plan", "no plan is asked about"),
        ((("run_plan", {"plan": "text"}),), {"decision": "edit"}, "plan", "edit it as text"),
        ((A_PLAN,), {"decision": "approve", **EDITS_A}, "plan", EDITED),
        ((A_PLAN,), {"decision": "edit", **EDITS_A, "ahead__at_most": "3"}, "plan", "no approval of further runs"),
        (CALLS, {"decision": "refuse", "message": "no"}, "decision", "decide each thing"),
        ((A_PLAN,), {"decision": "refuse", "message": "no"}, "decision", "decide each thing"),
        (UNCERTAIN, {"decision": "happened"}, "decision", "decide each thing"),
        ((CALLS[0],), {"decision": "not_happened"}, "decision", "decide each thing"),
        ((QUESTION,), {"decision": "answer", "answer__q__/n": "x"}, "q", "n: "),
        ((CALLS[0],), {"decision": "approve", "call__a": "edit", "call__a__args/to": "long"}, "a", "to: "),
    ],
)
def test_a_form_that_leaves_something_open_decides_nothing(actions: Any, fields: Any, field: str, words: str) -> None:
    found, said = faulty(*actions, **fields)

    assert found == field and words in said


def test_a_call_that_a_revision_adds_is_decided_by_itself() -> None:
    new = request(CALLS[0], digest="d")

    assert decided(of=new, decision="approve", call__a="approve").approved == ("a",)
    assert faulty(of=new, decision="approve")[0] == faulty(of=new, decision="approve", call__a="")[0] == "a"


def test_an_argument_that_is_left_as_it_is_stays_and_a_call_without_any_gets_them() -> None:
    call = {"tool": "send", "args": {"to": "x", "n": 1}}

    assert edited_arguments("a", call, {"call:a:args/to": "y"}, TOOLS) == {"to": "y", "n": 1}
    assert edited_arguments("a", {"tool": "send"}, {}, {}) == {}
    assert call_faults({"tool": "gone"}, {"to": "x"}, TOOLS) == []


def test_calls_alone_have_names_and_faults_are_told_with_their_fields() -> None:
    assert list(named_calls(request(A_PLAN, *CALLS))) == ["a", "b"]
    with pytest.raises(InputError, match="something is missing; too long"):
        check_fields("a", [(None, "something is missing"), (None, "too long")])


def test_limits_are_read_by_name_and_empty_ones_are_left_out() -> None:
    fields = {"limit:steps": "5", "limit:calls.send": "2", "limit:calls.pay": "1", "limit:tokens": "", "steps": "9"}

    assert limits_in(fields) == {"steps": 5, "calls": {"send": 2, "pay": 1}}


def test_a_plan_is_edited_in_its_form_unless_its_text_was_sent() -> None:
    assert edited_plan(request(A_PLAN), {}) == PLAN
