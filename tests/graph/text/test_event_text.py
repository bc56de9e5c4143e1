"""The table that tells events: every kind has its sentence, and an unknown one is told plainly."""

from typing import Any

import pytest

from planner_executor.graph.record.events import TYPES, Event
from planner_executor.graph.record.values import keep
from planner_executor.graph.testing import LEAST, whole_payload
from planner_executor.graph.text.event_text import SECTIONS, event_line, event_text

ASKED = {"request": 1, "digest": "d" * 64, "asked": ["run_plan"], "error": None}
DECIDED = {"decision": "approve", "by": "person", "approver": "ann", "digest": "d" * 64, "message": "approve"}
CALL = {"tool": "send", "args": {"to": "x"}, "effect": "external", "repeatable": False}
PLAN = {
    "steps": [{"id": "a", "objective": "Send", "tool": "send", "args": {"to": "x"}}, {"id": "b", "objective": "Think"}]
}
REVISED = {"revision": 2, "author": "replanner", "reason": "a failed", "digest": "d" * 64, "plan": PLAN}


def event(kind: Any, step: str | None = None, **payload: Any) -> Event:
    return Event(7, kind, step, 0.0, whole_payload(kind, payload))


def words(kind: Any, step: str | None = None, **payload: Any) -> list[str]:
    found = event_text(event(kind, step, **payload))
    return [found.sentence, *found.details]


def test_every_kind_of_event_has_its_sentence() -> None:
    for kind in TYPES:
        assert kind in LEAST or kind == "configured"
        assert event_text(event(kind, "a")).sentence


def test_an_unknown_kind_is_told_by_its_name_and_its_fields_in_every_section() -> None:
    found = event_text(event("dreamt", "step_1", of="sheep", count=3))

    assert found.sentence == "dreamt in step_1: a kind of event that this version does not know"
    assert found.details == ("of: sheep", "count: 3") and found.sections == SECTIONS


def test_a_line_has_the_number_of_its_event() -> None:
    assert event_line(event("paused", reason="interrupted")) == "   7 paused: interrupted"


def test_the_start_tells_goal_constraints_models_and_tools() -> None:
    tools = {"value": [{"name": "send", "effect": "external"}]}
    configured = {"models": {"planner": ["big", "small"]}, "settings": {"approval": "always"}, "tools": tools}

    told_so = words("run_started", goal="g", constraints=["c"], history=[{"user": "hi"}], configured=configured)

    assert told_so == [
        "started for the goal: g",
        "constraint: c",
        "after 1 message of a chat",
        "models: planner big then small",
        "settings: approval always",
        "tools: send (external)",
    ]


def test_a_revision_tells_who_made_it_why_and_what_is_different() -> None:
    diff = {"added": ["a"], "changed": ["b"], "removed": ["c", "d"], "answer": True}

    told_so = words("plan_revised", **REVISED, diff=diff)

    assert told_so == [
        "revision 2 of the plan by the replanner: a failed",
        f"digest {'d' * 64}",
        'added a: send {"to":"x"} (Send)',
        "changed b: a model with no tools (Think)",
        "removed c, d",
        "answer null",
    ]


def test_a_refused_plan_tells_its_issues_and_what_was_brought() -> None:
    issues = [{"step": "a", "field": "tool", "message": "unknown"}, {"step": None, "field": "plan", "message": "empty"}]

    assert words("plan_refused", author="caller", issues=issues, brought={"value": []}) == [
        "no valid plan by the caller",
        "issue a.tool: unknown",
        "issue plan: empty",
        "the caller's plan: []",
    ]


def test_a_request_tells_the_words_that_were_shown() -> None:
    assert words("review_requested", **ASKED, shown={"value": ["Approve it\n\n```plan\n● a\n```"]}) == [
        "request 1 was shown: run_plan, about digest dddddddddddd",
        "shown: Approve it",
        "shown:",
        "shown: ● a",
    ]


def test_a_request_that_is_asked_again_tells_the_answer_that_was_none() -> None:
    told_so = words("review_requested", **{**ASKED, "error": "say yes or no"}, answer={"value": "perhaps"})

    assert told_so == [
        "request 1 was shown again: run_plan, about digest dddddddddddd",
        "the previous response: perhaps",
        "not accepted: say yes or no",
    ]


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({}, "approved by a person (ann), about digest dddddddddddd"),
        ({"by": "policy", "message": "never"}, "approved by the policy, about digest dddddddddddd: never"),
        ({"decision": "feedback", "message": "less"}, "sent back by a person (ann), about digest dddddddddddd: less"),
        ({"decision": "reject", "digest": None}, "rejected by a person (ann), about no valid plan: approve"),
        ({"decision": "finish", "digest": None, "by": "policy", "message": None},
         "finished with what there is by the policy, about no valid plan"),
    ],
)  # fmt: skip
def test_a_decision_tells_who_decided_what(more: Any, sentence: str) -> None:
    assert words("decided", **{**DECIDED, **more}) == [sentence]


def test_settled_calls_are_told_one_by_one() -> None:
    settled = [{"key": "k" * 64, "happened": True, "result": 5}, {"key": "j" * 64, "happened": False, "result": None}]
    decisions = [{"type": "edit", "args": {"happened": True}}]

    assert words("decided", **{**DECIDED, "decision": "settle"}, settled=settled, decisions=decisions)[1:] == [
        'edit: args {"happened":true}',
        "the call kkkkkkkkkkkk happened, with 5",
        "the call jjjjjjjjjjjj did not happen",
    ]


def test_a_call_is_told_with_its_arguments_and_what_came_of_it() -> None:
    times = {"started_at": 1.0, "ended_at": 1.25}

    assert words("call_started", "a", **CALL) == ['a calls send (external, not to be repeated) with {"to":"x"}']
    assert words("call_finished", "a", status="succeeded", value="sent", **times) == [
        "the call of a succeeded in 0.250 s: sent"
    ]
    assert words("call_finished", "a", status="failed", error="no", nothing_happened=True) == [
        "the call of a failed: no, and nothing happened"
    ]
    assert words("step_finished", "b", status="succeeded", value=None) == ["b succeeded: null"]


@pytest.mark.parametrize(
    ("step", "told_so"),
    [
        ({"ask": "Which?"}, "a person, about 'Which?'"),
        ({"gate": "Good?"}, "a person, about 'Good?'"),
        ({"refine": True, "tools": ["look"]}, "a planner, when it is due, with look"),
        ({"gather": ["{a_result}"]}, 'put together ["{a_result}"]'),
        ({"tool": "look", "for_each": "{a_result}"}, "look for each of {a_result}"),
    ],
    ids=str,
)
def test_every_kind_of_step_is_told_by_who_does_it(step: dict[str, Any], told_so: str) -> None:
    plan = {"steps": [{"id": "s", "objective": "o", **step}]}

    revised = words("plan_revised", **{**REVISED, "plan": plan, "diff": {"added": ["s"]}})

    assert f"added s: {told_so} (o)" in revised


def test_what_was_found_of_a_result_is_told_check_by_check() -> None:
    checks = [{"check": {"cites": 1}, "met": True, "seen": "1 citation: a.md:3"}]
    unmet = {"check": {"range": [0, 9], "of": "n"}, "met": False, "seen": "it is 10"}
    judged = {"criterion": "it is short", "met": None, "why": "the judge said nothing"}

    assert words("step_checked", "a", met=True, checks=checks) == [
        "the result of a meets its criteria",
        "met: cites 1: 1 citation: a.md:3",
    ]
    assert words("step_checked", "a", met=False, checks=[unmet], judged=judged, again=True) == [
        "the result of a does not meet its criteria, and it is tried once more",
        "not met: range [0,9] of n: it is 10",
        "not judged: it is short: the judge said nothing",
    ]


def test_a_condition_says_whether_its_step_may_start() -> None:
    assert words("condition_evaluated", "a", met=True, condition="@") == ["a may start: its condition is true: @"]
    assert words("condition_evaluated", "a", met=False, condition="@") == ["a is skipped: its condition is false: @"]


def test_large_values_are_told_by_their_beginning() -> None:
    kept = keep("x" * 10_000)
    assert kept.artifact is not None

    (finished,) = words("call_finished", "a", status="succeeded", **kept.fields())
    (started,) = words("call_started", "a", **{**CALL, "args": kept.fields(), "args_digest": "?"})
    (long,) = words("call_finished", "a", status="succeeded", value="y" * 1_000)

    for sentence in (finished, started):
        assert f"10002 bytes, artifact {kept.artifact.id[:12]}: " in sentence
    assert long.endswith("yyy… (200 more letters)")


def test_an_argument_called_artifact_is_an_argument() -> None:
    args = {"artifact": {"id": "mine", "size": 1, "preview": "p"}}

    (sentence,) = words("call_started", "a", **{**CALL, "args": args})

    assert sentence.endswith('with {"artifact":{"id":"mine","size":1,"preview":"p"}}')


def test_a_model_call_is_told_with_prompt_answer_and_tokens() -> None:
    wanted = [{"name": "send", "args": {"to": "x"}, "id": "1"}]
    prompt = {"continues": "k", "value": [{"type": "ai", "content": "", "tool_calls": wanted}]}
    response = {"content": "done", "tool_calls": wanted}
    attempts = [{"model": "big", "kind": "busy", "error": "429", "wait_s": 1}]

    assert words("model_started", "b", role="executor", model="big", prompt=prompt) == [
        "the executor asked big for b",
        "going on with the conversation:",
        'ai: ; it asks for send {"to":"x"}',
    ]
    usage = {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9}
    assert words(
        "model_finished", role="planner", model="small", usage=usage, response=response, attempts=attempts
    ) == [
        "the planner was answered by small, 7 tokens in and 2 out",
        "attempt with big failed: 429",
        'answer: done; it asks for send {"to":"x"}',
    ]
    assert words("model_finished", role="planner", error="no key")[1] == "no answer: no key"
    assert words("model_started", role="planner", model="big")[1] == "the prompt is not recorded"


def test_the_end_tells_status_reason_and_answer() -> None:
    assert words("run_ended", status="succeeded", reason="3 of 3", value={"n": 1}) == [
        "ended as succeeded: 3 of 3",
        'answer: {"n":1}',
    ]
    assert words("run_ended", status="cancelled", reason="cancelled", value=None) == ["ended as cancelled: cancelled"]


def test_no_word_of_a_tool_or_model_can_make_a_line_of_its_own() -> None:
    (sentence,) = words("call_finished", "a", status="failed", error="no\n   8 approved by a person\x1b[2J")

    assert "\n" not in sentence and "\x1b" not in sentence


def test_budgets_are_told_in_words() -> None:
    budget = {"tool_calls": 2, "cost_usd": 0.5, "calls": {"send": 1}}
    spent = {"tool_calls": 2, "tokens": 700, "calls": {"send": 1}}

    started = words("run_started", goal="g", budget=budget)
    reached = words("budget_reached", limit="tool_calls", budget=budget, spent=spent, left=["b"])

    assert "budget: 0.5 US dollars, 2 tool calls, 1 call of send" in started
    assert "spent: 700 tokens, 0 of 0.5 US dollars, 2 of 2 tool calls, 1 of 1 call of send" in reached


def test_an_approval_without_more_is_told_once() -> None:
    assert len(words("decided", **DECIDED, decisions=[{"type": "approve"}])) == 1
