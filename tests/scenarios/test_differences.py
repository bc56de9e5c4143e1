"""A review says what changed since a person saw the plan last, and after it who decided what."""

from collections.abc import Callable
from typing import Any

import pytest
from langgraph.types import Command

from planner_executor import build_graph
from planner_executor.graph.testing import LoggedTools, ScriptedModel, asked, on_thread, step

Build = Callable[..., Any]

A, B = step("a", "search", query="wind"), step("b", "write", text="{a_result.items[0]}")
PLAN = {"steps": [A, B]}
OTHER = {"steps": [A, step("b", "write", text="shorter"), step("c", "search", query="sun")]}
DIFF = {"added": ["c"], "changed": ["b"], "removed": [], "answer": False}
WORDS = "Changes since revision 1, which was shown last: added: c; changed: b."
SINCE = 'b (changed)\n    args.text\n      was "{a_result.items[0]}"\n      now "shorter"\n'


def last_words(graph: Any) -> str:
    return str(graph.get_state(on_thread()).values["messages"][-1].text)


def assert_since(graph: Any, state: Any, diff: dict[str, Any] = DIFF, words: str = WORDS) -> None:
    """The request has this difference, its description and the last message of the chat say it."""
    request = asked(state)
    assert request["diff"] == diff
    for text in (request["action_requests"][0]["description"], last_words(graph)):
        assert words in text and request["digest"] in text


def test_after_feedback_the_plan_that_was_shown_is_what_it_is_compared_with(build: Build) -> None:
    graph = build(PLAN, OTHER)
    graph.invoke({"goal": "g"}, on_thread())

    state = graph.invoke(Command(resume="shorter"), on_thread())

    assert_since(graph, state)
    assert SINCE in last_words(graph) and "The previous plan was rejected: `shorter`" in last_words(graph)


def test_after_a_steer_the_plan_that_was_shown_is_what_it_is_compared_with(build: Build) -> None:
    graph = build(PLAN, OTHER)
    graph.invoke({"messages": [{"role": "user", "content": "g"}]}, on_thread())

    state = graph.invoke({"messages": [{"role": "user", "content": "Steer: be brief"}]}, on_thread())

    assert_since(graph, state)
    assert "It was planned again: `the user added: be brief`" in last_words(graph)


def test_after_an_edit_in_the_state_the_plan_that_was_shown_is_what_it_is_compared_with(build: Build) -> None:
    graph = build(PLAN)
    graph.invoke({"goal": "g"}, on_thread())
    graph.update_state(on_thread(), {"plan": OTHER})

    state = graph.invoke(None, on_thread())

    assert_since(graph, state)
    assert "Somebody changed the plan in the state of the thread." in last_words(graph)


def test_asked_again_it_is_compared_with_the_same_plan(build: Build) -> None:
    graph = build(PLAN, OTHER)
    graph.invoke({"goal": "g"}, on_thread())
    graph.invoke(Command(resume="shorter"), on_thread())

    for _ in range(2):
        state = graph.invoke(Command(resume=""), on_thread())
        assert_since(graph, state)
        assert asked(state)["error"] in last_words(graph)


def test_a_plan_that_comes_back_is_compared_with_the_one_between(build: Build) -> None:
    graph = build(PLAN, OTHER, PLAN)
    graph.invoke({"goal": "g"}, on_thread())
    graph.invoke(Command(resume="shorter"), on_thread())

    state = graph.invoke(Command(resume="as before"), on_thread())

    diff = {"added": [], "changed": ["b"], "removed": ["c"], "answer": False}
    assert_since(graph, state, diff, "Changes since revision 2, which was shown last: changed: b; removed: c.")


@pytest.fixture
def failing(saver: Any, tools: LoggedTools) -> Callable[..., Any]:
    """Build a graph whose tool `broken` fails."""
    own = [
        tools.tool("search", lambda query: query, effect="read"),
        tools.tool("broken", lambda: 1 / 0, effect="read"),
        tools.tool("send", lambda to: to, effect="external"),
    ]
    return lambda *plans, **more: build_graph(ScriptedModel(plans), tools=own, checkpointer=saver, **more)


FAILS = {"steps": [step("a", "broken")]}


def test_after_an_edit_in_review_the_edited_plan_is_what_it_is_compared_with(failing: Callable[..., Any]) -> None:
    graph = failing(PLAN | {"steps": [A]}, {"steps": [step("z", "search", query="q")]})
    graph.invoke({"goal": "g"}, on_thread())

    state = graph.invoke(Command(resume=FAILS), on_thread())

    diff = {"added": ["z"], "changed": [], "removed": ["a"], "answer": False}
    assert_since(graph, state, diff, "Changes since revision 2, which was shown last: added: z; removed: a.")
    assert "- a failed: `ZeroDivisionError: division by zero`" in last_words(graph)


def test_a_plan_that_ran_without_a_review_is_named_as_such(failing: Callable[..., Any]) -> None:
    graph = failing(FAILS, {"steps": [step("s", "send", to="ann")]}, approval="side_effects")

    state = graph.invoke({"goal": "g"}, on_thread())

    diff = {"added": ["s"], "changed": [], "removed": ["a"], "answer": False}
    assert_since(graph, state, diff, "Changes since revision 1, which ran without a review: added: s; removed: a.")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("approve", "Approved by `{who}`: revision 1 of the plan."),
        (OTHER, "Approved by `{who}`: revision 2 of the plan, as edited."),
        ("**shorter**", "Sent back by `{who}`, to be planned again: `**shorter**`"),
        ({"type": "reject", "message": "stop"}, "Rejected by `{who}`, and the run ends: `stop`"),
        ("no", "Rejected by `{who}`, and the run ends."),
    ],
)
def test_a_decision_is_followed_by_a_message_that_says_it_and_who_made_it(build: Build, answer: Any, said: str) -> None:
    graph = build(PLAN, OTHER)
    graph.invoke({"goal": "g"}, on_thread())

    state = graph.invoke(Command(resume=answer), on_thread())

    texts = [str(message.text) for message in state["messages"]]
    (told,) = [text for text in texts if text.startswith(said.split("{")[0])]
    assert told == said.replace("{who}", told.split("`")[1]) and texts.index(told) == 2  # after goal and request
    assert state["messages"][2].type == "ai" and state["messages"][2].name == "review"


def test_a_decision_that_is_played_again_is_said_once(build: Build) -> None:
    graph = build(PLAN)
    graph.invoke({"goal": "g"}, on_thread())
    old = graph.get_state(on_thread()).config
    graph.invoke(Command(resume="approve"), on_thread())

    graph.invoke(Command(resume="approve"), old)
    state = graph.invoke(Command(resume="approve"), on_thread())

    assert sum(message.text.startswith("Approved by") for message in state["messages"]) == 1


def test_an_empty_rejection_is_named_last_in_a_chat_and_nowhere_else(build: Build) -> None:
    graph = build(PLAN)
    state = graph.invoke({"goal": "g"}, on_thread())

    assert last_words(graph).endswith(
        "\n\nTo reject, write a reason: some chat clients send an empty rejection as an approval."
    )
    assert "empty rejection" not in asked(state)["action_requests"][0]["description"]
