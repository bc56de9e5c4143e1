"""The review contract, from outside: what a decision is, and that nothing else runs anything."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.types import Command

from planner_executor.graph.errors import OtherTermsError
from planner_executor.graph.testing import LoggedTools, asked, on_thread, step

Build = Callable[..., Any]

PLAN = {"steps": [step("a", "search", query="wind"), step("b", "write", text="{a_result.items[0]}")]}
OTHER = {"steps": [step("x", "write", text="other")]}
EVIL = {"steps": [step("x", "send", to="mallory")]}


def test_the_interrupt_value_has_the_shape_of_a_hitl_request(build: Build) -> None:
    request = asked(build(PLAN).invoke({"goal": "g"}, on_thread()))

    (action,) = request["action_requests"]
    assert action["name"] == "run_plan"
    assert action["args"] == {"plan": PLAN}
    assert request["digest"] in action["description"]
    assert request["review_configs"] == [
        {"action_name": "run_plan", "allowed_decisions": ["approve", "edit", "reject"]}
    ]
    assert request["revision"] == 1 and request["error"] is None and request["issues"] == []
    assert request["diff"]["added"] == ["a", "b"] and request["run"] == "thread.1"


@pytest.mark.parametrize(
    "answer",
    [
        True, "approve", "yes", " Y ", "OK", "true", '"approve"',
        {"type": "approve"}, '{"type": "approve"}', {"decisions": [{"type": "approve"}]},
        json.dumps({"decisions": [{"type": "approve", "digest": None}]}),
    ],
)  # fmt: skip
def test_every_form_of_approval_runs_the_plan_once(build: Build, tools: LoggedTools, answer: Any) -> None:
    graph = build(PLAN)
    graph.invoke({"goal": "g"}, on_thread())

    state = graph.invoke(Command(resume=answer), on_thread())

    assert state["status"] == "succeeded" and state["answer"] == 4
    assert tools.calls == [("search", {"query": "wind"}), ("write", {"text": "WIND"})]


ODD: list[Any] = [
    "", "  ", [], 1, 0, 1.5, "1", "null", "[]", "{}", [1], ["approve"], {"foo": 1}, {"type": "yes"}, {"type": True},
    {"decisions": []}, {"decisions": True}, {"decisions": [True]}, {"decisions": ["approve"]},
    {"decisions": [{"type": "approve"}, {"type": "approve"}]}, {"decisions": [{"type": "approve"}], "more": 1},
    {"type": "approve", "steps": OTHER["steps"]}, {"type": "approve", "edited_action": {"name": "run_plan"}},
    {"type": "approve", "digest": "0" * 64}, {"type": "edit"}, {"type": "edit", "edited_action": {}},
    {"type": "edit", "edited_action": {"name": "run_step", "args": {"plan": OTHER}}},
    {"type": "edit", "edited_action": {"name": "run_plan", "args": {}}},
    {"type": "edit", "edited_action": {"name": "run_plan", "args": {"plan": None}}},
    {"type": "edit", "edited_action": {"name": "run_plan", "args": {"plan": "{broken"}}},
    {"type": "reject", "message": 1}, {"type": "reject", "final": "yes"}, {"type": "respond", "args": "approve"},
    2**70, {"type": "approve", "more": 2**70}, {1: 2}, {"\ud800": True}, object(), {"type": object()},
]  # fmt: skip


def test_an_odd_answer_is_asked_again_and_runs_nothing(build: Build, tools: LoggedTools) -> None:
    graph = build(PLAN)
    graph.invoke({"goal": "g"}, on_thread())

    for answer in ODD:
        again = asked(graph.invoke(Command(resume=answer), on_thread()))

        assert again["error"] and again["action_requests"][0]["args"] == {"plan": PLAN}, answer
        assert again["error"] in again["action_requests"][0]["description"], answer
        assert tools.calls == [] and len(graph.model.prompts) == 1, answer
    assert graph.invoke(Command(resume="approve"), on_thread())["status"] == "succeeded"


def test_broken_json_in_an_edit_is_answered_with_the_place_where_it_breaks(build: Build) -> None:
    graph = build(PLAN)
    graph.invoke({"goal": "g"}, on_thread())
    broken = '{"steps": [\n  {"id": "a" "tool": "search"}]}'
    edit = {"type": "edit", "edited_action": {"name": "run_plan", "args": {"plan": broken}}}

    again = asked(graph.invoke(Command(resume=edit), on_thread()))

    assert "not valid JSON: line 2, column 14: Expecting ',' delimiter, near" in again["error"]
    assert '"tool": "search"}' in again["error"]


def test_broken_json_that_a_caller_brings_as_a_plan_is_refused_with_the_place(build: Build) -> None:
    state = build(PLAN).invoke({"goal": "g", "plan": '{"steps": ['}, on_thread())

    assert state["status"] == "failed" and "line 1, column 12" in state["reason"]
    assert "where the text ends" in state["reason"]


@pytest.mark.parametrize("answer", [False, "no", " N ", "reject", "stop", "cancel", {"type": "reject"},
                                    {"type": "reject", "message": "  "}, {"type": "reject", "message": "Stop"},
                                    {"type": "reject", "message": "too risky", "final": True}])  # fmt: skip
def test_a_rejection_ends_the_run(build: Build, tools: LoggedTools, answer: Any) -> None:
    graph = build(PLAN)
    graph.invoke({"goal": "g"}, on_thread())

    state = graph.invoke(Command(resume=answer), on_thread())

    assert state["status"] == "rejected" and tools.calls == []


@pytest.mark.parametrize("answer", ["use fewer steps", {"type": "reject", "message": "use fewer steps"}])
def test_feedback_reaches_the_planner_and_its_new_plan_is_shown(build: Build, tools: LoggedTools, answer: Any) -> None:
    graph = build(PLAN, OTHER)
    graph.invoke({"goal": "g"}, on_thread())

    request = asked(graph.invoke(Command(resume=answer), on_thread()))

    assert request["action_requests"][0]["args"] == {"plan": OTHER}
    assert request["revision"] == 2 and request["diff"]["added"] == ["x"]
    assert "use fewer steps" in str(graph.model.prompts[1][-1].content)
    assert tools.calls == []


def test_feedback_is_bounded(build: Build) -> None:
    graph = build(PLAN, OTHER, PLAN, max_feedback=1)
    graph.invoke({"goal": "g"}, on_thread())
    graph.invoke(Command(resume="other"), on_thread())

    assert graph.invoke(Command(resume="and another"), on_thread())["status"] == "rejected"


@pytest.mark.parametrize(
    "answer",
    [
        OTHER, OTHER["steps"], json.dumps(OTHER),
        {"type": "edit", "edited_action": {"name": "run_plan", "args": {"plan": OTHER}}},
        {"type": "edit", "edited_action": {"name": "run_plan", "args": {"plan": json.dumps(OTHER)}}},
        {"type": "edit", "edited_action": {"name": "run_plan", "args": {"plan": OTHER["steps"]}}},
    ],
)  # fmt: skip
def test_a_valid_edit_is_a_revision_and_thereby_approved(build: Build, tools: LoggedTools, answer: Any) -> None:
    graph = build(PLAN)
    graph.invoke({"goal": "g"}, on_thread())

    state = graph.invoke(Command(resume=answer), on_thread())

    assert (state["status"], state["revision"], state["plan"]) == ("succeeded", 2, OTHER)
    assert tools.calls == [("write", {"text": "other"})]


def test_an_invalid_edit_is_asked_again_with_its_issues(build: Build, tools: LoggedTools) -> None:
    graph = build(PLAN)
    graph.invoke({"goal": "g"}, on_thread())

    bad = {"steps": [step("x", "no_such_tool"), step("y", "write", after=["z"], text="t")]}
    again = asked(graph.invoke(Command(resume=bad), on_thread()))

    assert {(issue["step"], issue["field"]) for issue in again["issues"]} == {("x", "tool"), ("y", "depends_on")}
    assert again["error"] and tools.calls == []


def test_goto_the_executor_runs_nothing_and_the_thread_can_still_be_answered(build: Build, tools: LoggedTools) -> None:
    graph = build(PLAN)
    graph.invoke({"goal": "g"}, on_thread())

    graph.invoke(Command(goto="executor"), on_thread())
    assert tools.calls == []
    state = graph.invoke(Command(resume="approve"), on_thread())

    assert state["status"] == "succeeded" and len(tools.calls) == 2


@pytest.mark.parametrize("node", ["executor", ["executor", "planner"], ["executor", "replanner"]])
def test_goto_with_an_update_lets_two_nodes_run_and_they_meet_at_the_review(
    build: Build, tools: LoggedTools, node: Any
) -> None:
    graph = build(PLAN)
    graph.invoke({"goal": "g"}, on_thread())

    state = graph.invoke(Command(goto=node, update={"reason": "mine"}), {**on_thread(), "recursion_limit": 20})

    assert asked(state)["action_requests"][0]["args"] == {"plan": PLAN} and tools.calls == []


def test_posing_as_review_runs_nothing(build: Build, tools: LoggedTools) -> None:
    graph = build(PLAN)
    graph.invoke({"goal": "g"}, on_thread())

    graph.update_state(on_thread(), {"route": "execute", "status": "running"}, as_node="review")
    request = asked(graph.invoke(None, on_thread()))

    assert tools.calls == [] and request["action_requests"][0]["args"] == {"plan": PLAN}


@pytest.mark.parametrize("through", ["update_state", "command"])
def test_a_plan_swapped_before_the_answer_is_shown_and_not_approved(
    build: Build, tools: LoggedTools, through: str
) -> None:
    graph = build(PLAN)
    graph.invoke({"goal": "g"}, on_thread())

    if through == "update_state":
        graph.update_state(on_thread(), {"plan": EVIL})
        state = graph.invoke(Command(resume="approve"), on_thread())
    else:
        state = graph.invoke(Command(resume="approve", update={"plan": EVIL}), on_thread())

    request = asked(state)
    assert tools.calls == [] and request["action_requests"][0]["args"] == {"plan": EVIL} and request["error"]
    assert graph.invoke(Command(resume="approve"), on_thread())["status"] == "succeeded"
    assert tools.calls == [("send", {"to": "mallory"})]


def test_after_update_state_the_new_plan_is_shown_when_the_thread_goes_on(build: Build, tools: LoggedTools) -> None:
    graph = build(PLAN)
    graph.invoke({"goal": "g"}, on_thread())

    of_a_server = graph.with_config({"tags": ["web"]})  # a copy of the graph, as servers make one
    of_a_server.update_state(on_thread(), {"plan": OTHER})
    request = asked(of_a_server.invoke(None, on_thread()))

    assert request["action_requests"][0]["args"] == {"plan": OTHER} and request["revision"] == 2
    assert graph.invoke(Command(resume=True), on_thread())["answer"] == 5
    assert tools.calls == [("write", {"text": "other"})]


def test_a_broken_plan_put_into_the_state_cannot_be_approved(build: Build, tools: LoggedTools) -> None:
    graph = build(PLAN)
    graph.invoke({"goal": "g"}, on_thread())
    graph.update_state(on_thread(), {"plan": {"steps": [step("x", "no_such_tool")]}})

    request = asked(graph.invoke(None, on_thread()))
    assert [issue["field"] for issue in request["issues"]] == ["tool"]
    again = asked(graph.invoke(Command(resume="approve"), on_thread()))

    assert again["error"] and tools.calls == []
    assert graph.invoke(Command(resume=OTHER), on_thread())["status"] == "succeeded"


def test_the_digest_beside_a_decision_must_be_the_one_shown(build: Build, tools: LoggedTools) -> None:
    graph = build(PLAN)
    first = asked(graph.invoke({"goal": "g"}, on_thread()))["digest"]
    graph.update_state(on_thread(), {"plan": OTHER})
    second = asked(graph.invoke(None, on_thread()))["digest"]

    again = asked(graph.invoke(Command(resume={"type": "approve", "digest": first}), on_thread()))
    assert again["error"] and tools.calls == []

    state = graph.invoke(Command(resume={"type": "approve", "digest": second}), on_thread())
    assert state["status"] == "succeeded"


def test_an_answer_sent_to_an_old_checkpoint_is_no_decision(build: Build, tools: LoggedTools) -> None:
    graph = build(PLAN)
    graph.invoke({"goal": "g"}, on_thread())
    old = graph.get_state(on_thread()).config
    graph.invoke(Command(resume="reject"), on_thread())

    state = graph.invoke(Command(resume="approve"), old)

    assert tools.calls == [] and state.get("status") != "succeeded"


def test_a_second_approval_of_a_finished_run_repeats_nothing(build: Build, tools: LoggedTools) -> None:
    graph = build(PLAN)
    graph.invoke({"goal": "g"}, on_thread())
    old = graph.get_state(on_thread()).config
    graph.invoke(Command(resume="approve"), on_thread())

    graph.invoke(Command(resume="approve"), old)
    graph.invoke(Command(resume="approve"), on_thread())

    assert len(tools.calls) == 2


def test_a_fork_from_before_a_decision_is_a_run_of_its_own_and_is_asked(build: Build, tools: LoggedTools) -> None:
    graph = build(PLAN)
    graph.invoke({"goal": "g"}, on_thread())
    before = graph.get_state(on_thread()).config
    graph.invoke(Command(resume="approve"), on_thread())

    request = asked(graph.invoke(None, before))
    assert request["run"] == "thread.2" and len(tools.calls) == 2

    state = graph.invoke(Command(resume="approve"), on_thread())
    assert state["status"] == "succeeded" and len(tools.calls) == 4


def test_a_finished_thread_stays_finished(build: Build, tools: LoggedTools) -> None:
    graph = build(PLAN)
    graph.invoke({"goal": "g"}, on_thread())
    graph.invoke(Command(resume="approve"), on_thread())

    state = graph.invoke(None, on_thread())
    graph.invoke(Command(goto="executor"), on_thread())

    assert state["status"] == "succeeded" and len(tools.calls) == 2


def test_a_new_goal_on_a_thread_is_a_new_run_without_the_old_results(build: Build, tools: LoggedTools) -> None:
    graph = build(PLAN, PLAN)
    graph.invoke({"goal": "g"}, on_thread())
    graph.invoke(Command(resume="approve"), on_thread())

    state = graph.invoke({"goal": "g"}, on_thread())
    assert asked(state)["run"] == "thread.2" and state["results"] == {} and state["answer"] is None

    graph.invoke(Command(resume="approve"), on_thread())
    assert len(tools.calls) == 4


def test_a_new_goal_while_a_request_is_open_is_no_approval(build: Build, tools: LoggedTools) -> None:
    graph = build(PLAN, OTHER)
    graph.invoke({"goal": "g"}, on_thread())

    state = graph.invoke({"messages": [{"role": "user", "content": "approve"}]}, on_thread())

    assert asked(state)["run"] == "thread.2" and state["goal"] == "approve" and tools.calls == []


def test_continue_takes_an_unfinished_run_up(build: Build, tools: LoggedTools) -> None:
    graph = build(PLAN)
    graph.invoke({"messages": [{"role": "user", "content": "find wind"}]}, on_thread())

    state = graph.invoke({"messages": [{"role": "user", "content": "Continue"}]}, on_thread())

    assert asked(state)["run"] == "thread.1" and state["goal"] == "find wind" and len(graph.model.prompts) == 1
    assert graph.invoke(Command(resume=True), on_thread())["status"] == "succeeded"


@pytest.mark.parametrize(
    ("mode", "plan", "is_asked"),
    [
        ("always", {"steps": [step("a", "search", query="q")]}, True),
        ("side_effects", {"steps": [step("a", "search", query="q")]}, False),
        ("side_effects", PLAN, True),
        ("side_effects", EVIL, True),
        ("never", PLAN, False),
    ],
)
def test_approval_modes(build: Build, mode: str, plan: Any, is_asked: bool) -> None:
    state = build(plan, approval=mode).invoke({"goal": "g"}, on_thread())

    assert ("__interrupt__" in state) is is_asked
    assert is_asked or state["status"] == "succeeded"


@pytest.mark.parametrize("when", ["before the answer", "after the approval"])
def test_a_run_whose_tool_changes_its_face_is_left(build: Build, saver: Any, tools: LoggedTools, when: str) -> None:
    plan = {"steps": [step("a", "look", name="x")]}
    quiet = tools.tool("look", lambda name: name, effect="read")
    loud = tools.tool("look", lambda name: name, effect="external")
    build(plan, tools=[quiet]).invoke({"goal": "g"}, on_thread())

    changed = build(tools=[loud])
    if when == "after the approval":
        build(tools=[quiet]).invoke(Command(resume="approve"), on_thread(), interrupt_after=["review"])
    with pytest.raises(OtherTermsError, match="look has changed"):
        changed.invoke(Command(resume="approve"), on_thread())

    assert tools.calls == []
