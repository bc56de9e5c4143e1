"""An open request on the desk: what is asked, the fields and buttons to answer it, where its values come from."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from recorded_run import recorded

from planner_executor.graph.desk.records import ShownRun
from planner_executor.graph.desk.views.request import RequestView, answer_schema, request_view
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.review.request_json import digest_of_all
from planner_executor.graph.testing import drafted, step

REQUESTS = Path(__file__).parents[3] / "data" / "reviews"
EMAIL = {"type": "string", "format": "email"}
ASKS = {
    "steps": [
        {"id": "free", "objective": "o", "ask": "What?", "output": "json"},
        {"id": "who", "objective": "o", "ask": "Whom?", "output": EMAIL},
        step("find", "search"),
    ]
}
TOOLS = {"send_mail": ToolSpec("send_mail", "", {"properties": {"to": {"type": "string"}, "cc": {"type": "string"}}})}


def request(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((REQUESTS / name / "studio.json").read_text("utf-8"))
    return found


def shown(asked: dict[str, Any] | None, *drafts: Any) -> ShownRun:
    run = recorded(drafted("run_started"), drafted("plan_revised", {"plan": ASKS}), drafted("decided"), *drafts)
    return replace(run, run=run.run.with_request(asked)) if asked is not None else run  # type: ignore[arg-type]


def view(asked: dict[str, Any], tools: Any = TOOLS) -> RequestView:
    found = request_view(shown(asked), tools)
    assert found is not None
    return found


def words(found: RequestView) -> list[str]:
    return [one.words for one in found.answers]


def test_a_run_that_waits_for_nobody_has_none() -> None:
    assert request_view(shown(None)) is None


def test_a_plan_is_shown_with_the_origin_of_each_argument() -> None:
    asked = request("first_plan")
    found = view(asked)

    assert (found.digest, found.revision, found.error, found.names) == (digest_of_all(asked), 1, None, {"run_plan"})
    assert found.plan == asked["action_requests"][0]["args"]["plan"] and found.can_approve and not found.issues
    assert words(found)[0] == "Approve and run" and found.head is not None and found.head.chips
    assert found.people is not None and not found.settled and not found.reason_for
    assert found.origins["mail"]["to"] == "the plan, user"
    assert found.origins["log"] == {"url": "the plan, user"}
    (action,) = found.actions
    assert (action.name, action.step, action.tool, action.call, action.args, action.fields, action.limits) == (
        "run_plan", "", "", "", (), (), ()
    )  # fmt: skip
    assert action.tables[0].rows[0] == ("Written by", "planner") and not action.is_gate and action.origins == {}


def test_a_held_call_has_a_field_for_each_argument() -> None:
    (action,) = (found := view(request("held_call"))).actions
    (bare,) = view(request("held_call"), {}).actions

    assert (action.step, action.tool, action.call, action.arg_names) == ("mail", "send_mail", "mail", ("to", "body"))
    assert [field.name for field in action.args] == ["/to", "/cc", "/body"]
    assert [field.label for field in bare.args] == ["Arguments"] or [field.name for field in bare.args] == [
        "/to",
        "/body",
    ]
    assert action.origins == {"to": "result, untrusted, by page"}
    assert words(found)[:2] == ["Make this call", "Do not make it"] and found.plan is None and found.origins == {}


@pytest.mark.parametrize("args", [{}, {"args": {}}])
def test_a_call_without_arguments_has_an_empty_field_for_all(args: dict[str, Any]) -> None:
    asked = request("held_call")
    asked["action_requests"][0]["args"] = {"step": "mail", "tool": "send_mail", **args}

    (action,) = view({key: value for key, value in asked.items() if key != "review"}, {}).actions

    assert action.arg_names == () and [(field.name, field.text) for field in action.args] == [("", "")]


def test_a_gate_opens_a_question_has_the_fields_of_its_answer_and_a_limit_its_amount() -> None:
    gate, question, budget = (view(request(name)) for name in ("gate", "question", "spent_budget"))

    assert gate.actions[0].is_gate and words(gate)[0] == "Open the gate"
    assert [field.name for field in question.actions[0].fields] == [""] and words(question)[0] == "Answer"
    assert budget.actions[0].limits == [("tool_calls", "1")] and words(budget)[0] == "Go on with the new limit"
    assert gate.actions[0].arg_names == () and gate.actions[0].args == ()
    assert (gate.actions[0].fields, budget.actions[0].fields, question.actions[0].limits) == ((), (), ())


def together(*names: str) -> dict[str, Any]:
    """Return one request with the actions of several."""
    asked = [request(name) for name in names]
    review = {**asked[0]["review"], "actions": [one for each in asked for one in each["review"]["actions"]]}
    return {**asked[0], "review": review, "action_requests": [one for each in asked for one in each["action_requests"]]}


def test_of_several_actions_each_has_its_own_and_the_buttons_are_those_of_all() -> None:
    found = view(together("question", "first_plan", "held_call"))

    assert found.plan == request("first_plan")["action_requests"][0]["args"]["plan"]
    assert [one.name for one in found.actions] == ["answer_question", "run_plan", "run_step"]
    assert words(view(together("held_call", "held_call")))[0] == "Make these calls"
    assert words(view(together("gate", "held_call")))[0] == "Make these calls"


def test_uncertain_calls_are_numbered() -> None:
    asked = request("uncertain_effect")
    (one,), (content,) = asked["action_requests"], asked["review"]["actions"]
    twice = {**asked, "action_requests": [one] * 3, "review": {**asked["review"], "actions": [content] * 3}}

    found = view(twice)

    assert [action.number for action in found.actions] == [0, 1, 2] and words(found)[0] == "Decide"
    assert words(view(asked))[:2] == ["It happened", "Nothing happened"] and not view(asked).actions[0].is_gate


def test_a_request_of_an_earlier_release_is_shown_in_its_words() -> None:
    asked = {key: value for key, value in request("first_plan").items() if key != "review"}
    found = view(asked)

    ((text,),) = found.actions[0].tables[0].rows
    assert isinstance(text, str) and text.startswith("Plan, revision 1") and "```" not in text
    assert (found.head, found.people, found.origins) == (None, None, {})


def test_a_redacted_plan_is_none() -> None:
    asked = request("first_plan")
    asked["action_requests"][0]["args"] = {"plan": "[redacted]"}

    assert view({key: value for key, value in asked.items() if key != "review"}).plan is None


def action(name: str) -> dict[str, Any]:
    return {"args": {"step": name}}


def test_the_answer_to_a_question_has_the_schema_of_its_step() -> None:
    assert answer_schema(shown(None), action("who")) == EMAIL
    assert answer_schema(shown(None), action("free")) is None
    assert answer_schema(shown(None), action("find")) is None and answer_schema(shown(None), action("gone")) is None
    assert answer_schema(recorded(drafted("run_started")), action("who")) is None


def test_the_answer_to_a_call_has_the_fields_that_the_call_asks_for() -> None:
    questions = [
        {"id": "q", "text": "How many?", "schema": {"type": "object", "properties": {"n": {"type": "integer"}}}}
    ]
    started = drafted("call_started", {"tool": "search"}, "find")
    run = shown(None, started, drafted("call_asked", {"tool": "search", "questions": questions}, "find"))

    assert list(answer_schema(run, action("find"))["properties"]) == ["n"]
    assert answer_schema(run, action("who")) == EMAIL


@pytest.mark.parametrize(
    ("budget", "spent", "limits"),
    [
        ({"steps": 2, "tool_calls": 5}, {"steps": 2, "tool_calls": 1}, [("steps", "2")]),
        ({"steps": 2, "tool_calls": 5}, {"steps": 1, "tool_calls": 1}, [("steps", "2"), ("tool_calls", "5")]),
        ({"steps": 2, "tool_calls": 0}, {"steps": 3}, [("steps", "2"), ("tool_calls", "0")]),
    ],
)
def test_the_limits_that_are_reached_can_be_raised_or_all_if_the_next_call_would_pass_one(
    budget: Any, spent: Any, limits: Any
) -> None:
    asked = request("spent_budget")
    asked["action_requests"][0]["args"] = {"budget": budget, "spent": spent}

    assert sorted(view(asked).actions[0].limits) == limits
