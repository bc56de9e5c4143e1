"""Comments on steps: words beside a rejection, by step, and what became of each in the next plan."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.types import Command

from planner_executor import Agent
from planner_executor.graph.testing import LoggedTools, ScriptedModel, asked, on_thread, step

Build = Callable[..., Any]

PLAN = {
    "steps": [
        step("a", "search", query="wind"),
        step("b", "write", text="{a_result.items[0]}"),
        step("c", "write", text="end"),
    ]
}
NEXT = {"steps": [step("a", "search", query="wind 2025"), step("b", "write", text="{a_result.items[0]}")]}
ON_A = {"step": "a", "text": "only last year"}
ON_B = {"step": "b", "text": "in two lines"}
ON_C = {"step": "c", "text": "why?"}


def resumed(graph: Any, answer: Any) -> Any:
    graph.invoke({"goal": "g"}, on_thread())
    return graph.invoke(Command(resume=answer), on_thread())


def test_comments_reach_the_planner_by_step_and_the_next_plan_says_what_became_of_each(build: Build) -> None:
    graph = build(PLAN, NEXT)

    request = asked(resumed(graph, {"type": "reject", "comments": [ON_A, ON_B, ON_C]}))

    shown = request["action_requests"][0]["description"]
    assert "- `only last year`: a has another `args.query`." in shown
    assert "- `in two lines`: b is unchanged." in shown
    assert "- `why?`: c is gone." in shown
    assert "on a: only last year; on b: in two lines; on c: why?" in str(graph.model.prompts[1][-1].content)


def test_what_the_planner_says_of_comments_stands_beside_them_and_is_no_part_of_the_plan(build: Build) -> None:
    said = {"a": "It asks for\n{b_result} `2025`. ", "c": "x" * 999, "b": 7, "z": "no such step"}
    graph = build(PLAN, {**NEXT, "on_comments": said})

    request = asked(resumed(graph, {"type": "reject", "comments": [ON_A, ON_B, ON_C]}))

    shown, (content,) = request["action_requests"][0]["description"], request["review"]["actions"]
    assert "a has another `args.query`. The planner says: ``It asks for {b_result} `2025`.``" in shown
    assert "- `in two lines`: b is unchanged.\n" in shown
    assert [len(one.get("says", "")) for one in content["comments"]] == [30, 0, 300]
    assert request["digest"] == asked(resumed(build(PLAN, NEXT), "shorter"))["digest"]
    assert '"on_comments": {"step_2"' in str(graph.model.prompts[1][0].content)


def test_a_planner_that_nobody_commented_to_may_say_nothing_of_comments(build: Build) -> None:
    graph = build(PLAN, {**NEXT, "on_comments": {"a": "done"}}, NEXT)

    request = asked(resumed(graph, "shorter"))

    assert request["revision"] == 2
    assert "unknown key 'on_comments'" in str(graph.model.prompts[2][-1].content)
    assert "on_comments" not in str(graph.model.prompts[1][0].content)


def test_a_revision_of_a_plan_that_has_begun_says_something_of_comments_and_replays(tmp_path: Path) -> None:
    log = LoggedTools()
    own = [log.tool("search", lambda query: query, effect="read"), log.tool("broken", fails, effect="read")]
    begun = {"steps": [step("a", "search", query="wind"), step("b", "broken", after=["a"])]}
    other = {"keep": [], "steps": [step("b", "search", query="sun", after=["a"])]}
    said = {"steps": [step("b", "search", query="rain", after=["a"])], "on_comments": {"b": "It asks for rain."}}

    with Agent.open(tmp_path / "runs.db", tools=own, planner=ScriptedModel([begun, other, said])) as agent:
        run = agent.start("g", thread="t").id
        agent.resume(run, "approve")
        shown = agent.resume(run, {"type": "reject", "comments": [{"step": "b", "text": "not the sun"}]}).request

        assert shown is not None and shown["review"]["actions"][0]["comments"] == [
            {"step": "b", "text": "not the sun", "became": "changed", "says": "It asks for rain."}
        ]
        assert [event.payload.get("on_comments") for event in agent.log(run) if event.kind == "plan_revised"] == [
            None,
            None,
            {"b": "It asks for rain."},
        ]
        assert agent.verify(run) and agent.replay(run).is_same


def fails() -> None:
    raise OSError("no answer")


def test_what_a_planner_says_of_comments_is_of_one_revision(build: Build) -> None:
    graph = build(PLAN, {**NEXT, "on_comments": {"a": "done"}}, NEXT)
    resumed(graph, {"type": "reject", "comments": [ON_A]})

    request = asked(graph.invoke(Command(resume={"type": "reject", "comments": [ON_B]}), on_thread()))

    assert [one.get("says") for one in request["review"]["actions"][0]["comments"]] == [None]


@pytest.mark.parametrize(
    "answer",
    [
        {"type": "reject", "message": "shorter", "comments": [ON_A]},
        {"type": "reject", "message": "comment a: only last year\nshorter"},
        {"decisions": [{"type": "reject", "message": "shorter\ncomment  a :only last year"}]},
        "comment a: only last year\nshorter",
    ],
)
def test_a_chat_that_has_a_message_only_writes_comments_as_lines_of_it(build: Build, answer: Any) -> None:
    request = asked(resumed(build(PLAN, NEXT), answer))

    assert request["revision"] == 2 and request["error"] is None
    shown = request["action_requests"][0]["description"]
    assert "The previous plan was rejected: `shorter; on a: only last year`" in shown
    assert "- `only last year`: a has another `args.query`." in shown


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"type": "reject", "comments": [{"step": "z", "text": "x"}]}, "the plan has no step 'z'"),
        ({"type": "reject", "message": "comment z: x"}, "the plan has no step 'z'"),
        ({"type": "reject", "comments": [{"step": "a", "text": " "}]}, "the comment on a is empty"),
        ({"type": "reject", "comments": [{"step": "a"}]}, "comments must be a list"),
        ({"type": "reject", "comments": {"a": "x"}}, "comments must be a list"),
        ({"type": "approve", "comments": [ON_A]}, "unknown keys in approve: comments"),
        ({"type": "approve", "reason": 1}, "the reason must be text"),
        ({"type": "approve", "ask_later": "a"}, "ask_later must be a list"),
        ({"type": "approve", "ask_later": ["z"]}, "the plan has no step 'z'"),
        ({"type": "approve", "ask_later": ["b"]}, "the policy asks about no call of b; remove it"),
    ],
)
def test_a_comment_that_is_none_is_asked_again_and_approves_nothing(
    build: Build, tools: LoggedTools, answer: Any, words: str
) -> None:
    request = asked(resumed(build(PLAN, NEXT), answer))

    assert words in request["error"] and request["revision"] == 1
    assert not tools.calls


def test_comments_beside_a_final_rejection_end_the_run_and_are_on_record(build: Build) -> None:
    state = resumed(build(PLAN), {"type": "reject", "final": True, "comments": [ON_A]})

    assert state["status"] == "rejected"


def test_an_empty_list_of_comments_says_nothing(build: Build) -> None:
    assert resumed(build(PLAN), {"type": "reject", "comments": []})["status"] == "rejected"


def test_an_approval_says_why_and_the_comments_before_are_over(build: Build, tools: LoggedTools) -> None:
    graph = build(PLAN, NEXT)
    resumed(graph, {"type": "reject", "comments": [ON_A]})

    state = graph.invoke(Command(resume={"type": "approve", "reason": "it is small"}), on_thread())

    assert state["status"] == "succeeded" and len(tools.calls) == 2


def said(graph: Any, words: str) -> Any:
    return graph.invoke({"messages": [HumanMessage(words)]}, on_thread())


@pytest.mark.parametrize("answer", [{"type": "reject"}, "no", {"type": "reject", "message": "shorter"}])
def test_messages_of_comments_alone_are_kept_for_the_next_rejection(build: Build, answer: Any) -> None:
    graph = build(PLAN, NEXT)
    said(graph, "the goal")
    said(graph, "comment a: only last year")
    state = said(graph, "comment b: in two lines\ncomment c: why?")

    assert [message.text for message in state["messages"] if "Kept" in message.text] == [
        "Kept for your next rejection of this plan: a: `only last year`.",
        "Kept for your next rejection of this plan: b: `in two lines`; c: `why?`.",
    ]
    assert asked(state)["revision"] == 1 and state["messages"][-1].tool_calls
    request = asked(graph.invoke(Command(resume=answer), on_thread()))

    assert request["revision"] == 2 and request["error"] is None
    assert [one["text"] for one in request["review"]["actions"][0]["comments"]] == [
        "only last year",
        "in two lines",
        "why?",
    ]


def test_what_is_kept_stands_before_what_a_rejection_says_itself_and_is_sent_once(build: Build) -> None:
    graph = build(PLAN, NEXT, PLAN)
    said(graph, "the goal")
    said(graph, "comment a: only last year")
    graph.invoke(Command(resume={"type": "reject", "comments": [ON_B]}), on_thread())

    request = asked(graph.invoke(Command(resume="something else"), on_thread()))

    assert "on a: only last year; on b: in two lines" in str(graph.model.prompts[1][-1].content)
    assert "comments" not in request["review"]["actions"][0]


def test_a_kept_comment_on_an_unknown_step_is_refused_in_the_chat_and_sent_with_nothing(build: Build) -> None:
    graph = build(PLAN, NEXT)
    said(graph, "the goal")

    state = said(graph, "comment z: only last year")

    assert any("the plan has no step 'z'" in message.text for message in state["messages"])
    assert asked(state)["revision"] == 1
    assert graph.invoke(Command(resume={"type": "reject"}), on_thread())["status"] == "rejected"


def test_a_final_rejection_and_an_approval_take_no_kept_comment(build: Build, tools: LoggedTools) -> None:
    for answer, status in (({"type": "reject", "final": True}, "rejected"), ({"type": "approve"}, "succeeded")):
        graph = build(PLAN, NEXT)
        said(graph, "the goal")
        said(graph, "comment a: only last year")
        assert graph.invoke(Command(resume=answer), on_thread())["status"] == status


def test_under_rules_on_who_decides_no_message_is_kept_for_somebody_elses_rejection(build: Build) -> None:
    graph = build(PLAN, NEXT, policy={"approvers": {"roles": ["ops"]}})
    said(graph, "the goal")

    state = said(graph, "comment a: only last year")

    assert any("a message names nobody" in message.text for message in state["messages"])
