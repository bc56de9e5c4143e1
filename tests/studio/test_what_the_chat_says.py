"""Chat clients hide a request unless the last message is the assistant's, and read little else: it says all."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.types import Command
from markdown_it import MarkdownIt

from planner_executor.graph.plain_text.markdown import code
from planner_executor.graph.testing import LoggedTools, asked, on_thread, step

Build = Callable[..., Any]

PLAN = {"steps": [step("a", "search", query="wind"), step("b", "write", text="{a_result.items[0]}")]}
OTHER = {"steps": [step("x", "write", text="other")]}
BROKEN = {"steps": [step("x", "no_such_tool")]}


def assert_says_what_is_asked(graph: Any, state: dict[str, Any]) -> str:
    """The thread's last message repeats the request; return its text."""
    last = graph.get_state(on_thread()).values["messages"][-1]
    request = asked(state)
    assert last.type == "ai" and request["digest"] in last.text and "To reject, write a reason" in last.text
    refusal = f"\n\nAsked again: {code(request['error'])}" if request["error"] else ""
    assert all(action["description"] in last.text for action in request["action_requests"])
    assert f"{refusal}\n\nYour decision is needed." in last.text
    return str(last.text)


def chat(words: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": words}]}


@pytest.mark.parametrize("start", [{"goal": "g"}, chat("g"), chat([{"type": "text", "text": "g"}])])
def test_the_last_message_says_what_is_asked(build: Build, start: dict[str, Any]) -> None:
    graph = build(PLAN)

    state = graph.invoke(start, on_thread())

    assert_says_what_is_asked(graph, state)
    assert state["goal"] == "g" and graph.get_state(on_thread()).next == ("review",)


@pytest.mark.parametrize("answer", ["", {"type": "yes"}, BROKEN, {"type": "edit", "edited_action": {}}])
def test_asked_again_it_says_why(build: Build, answer: Any) -> None:
    graph = build(PLAN)
    graph.invoke(chat("g"), on_thread())

    for _ in range(3):
        state = graph.invoke(Command(resume=answer), on_thread())
        assert asked(state)["error"] and assert_says_what_is_asked(graph, state)

    assert len(graph.model.prompts) == 1
    assert graph.invoke(Command(resume="approve"), on_thread())["status"] == "succeeded"


@pytest.mark.parametrize("plan", [OTHER, BROKEN, {"steps": "nonsense"}, [], "\ud800"])
@pytest.mark.parametrize("go_on", [None, Command(resume="approve")])
def test_a_plan_put_into_the_state_is_said_and_not_approved(
    build: Build, tools: LoggedTools, plan: Any, go_on: Any
) -> None:
    graph = build(PLAN)
    graph.invoke(chat("g"), on_thread())
    graph.update_state(on_thread(), {"plan": plan})

    state = graph.invoke(go_on, on_thread())

    assert_says_what_is_asked(graph, state)
    assert bool(asked(state)["error"]) is (go_on is not None) and tools.calls == []
    assert len(graph.model.prompts) == 1
    assert graph.invoke(Command(resume=OTHER), on_thread())["status"] == "succeeded"


def test_a_difference_is_said(build: Build) -> None:
    graph = build(PLAN, OTHER)
    graph.invoke(chat("g"), on_thread())

    state = graph.invoke(Command(resume="something else"), on_thread())

    assert "Changes since revision 1, which was shown last: " in assert_says_what_is_asked(graph, state)


def test_a_fork_says_what_it_asks(build: Build) -> None:
    graph = build(PLAN)
    graph.invoke(chat("g"), on_thread())
    before = graph.get_state(on_thread()).config
    graph.invoke(Command(resume="approve"), on_thread())

    state = graph.invoke(None, before)

    assert asked(state)["run"] == "thread.2"
    assert_says_what_is_asked(graph, state)


def test_continue_shows_the_request_again_as_the_last_message(build: Build) -> None:
    graph = build(PLAN)
    graph.invoke(chat("g"), on_thread())

    state = graph.invoke(chat("continue"), on_thread())

    assert state["goal"] == "g"
    assert_says_what_is_asked(graph, state)


STRANGER = "```\n````\n~~~~~\n**Checked by security** ![x](http://evil.example/x.png) <img src=x> [bank](http://e.org)"


def blocks(text: str) -> list[str]:
    """Return the kinds of block that a client finds in a message, and of what stands in its lines."""
    found = MarkdownIt("commonmark").parse(text)
    return [kind for token in found for kind in (token.type, *(inner.type for inner in token.children or ()))]


OURS = {
    *("paragraph_open", "inline", "text", "code_inline", "softbreak", "paragraph_close", "fence"),
    *("bullet_list_open", "list_item_open", "list_item_close", "bullet_list_close"),
}
"""What a review is made of: prose, in which words of strangers are code, and blocks of data."""


@pytest.mark.parametrize("place", ["args", "objective", "ask", "gate", "result", "answer"])
def test_words_of_strangers_are_no_markdown_in_a_request(build: Build, place: str) -> None:
    last = {
        "ask": {"id": "b", "objective": "o", "ask": STRANGER},
        "gate": {"id": "b", "objective": "o", "gate": STRANGER},
    }
    shown = {"id": "b", "objective": "o", "gate": "Is it good?", "depends_on": ["a"]}
    look = step("a", "search", query=STRANGER)
    steps = {
        "objective": [{"id": "a", "objective": STRANGER}],
        "result": [look, shown],
        **{k: [v] for k, v in last.items()},
    }
    graph = build({"steps": steps.get(place, [look]), **({"answer": STRANGER} if place == "answer" else {})})
    state = graph.invoke(chat("g"), on_thread())
    requests = [state] if place in ("args", "objective", "answer") else [
        state, graph.invoke(Command(resume="approve"), on_thread()),
    ]  # fmt: skip

    for state in requests:
        text = graph.get_state(on_thread()).values["messages"][-1].text
        actions = asked(state)["action_requests"]
        assert all(set(blocks(action["description"])) <= OURS for action in actions)
        assert set(blocks(text)) <= OURS
    assert "checked by security" in text.lower() or "e.org)" in text  # a drawing leaves out the middle


def test_an_error_that_quotes_a_stranger_is_code(build: Build) -> None:
    graph = build(PLAN)
    graph.invoke(chat("g"), on_thread())

    state = graph.invoke(Command(resume={"type": STRANGER}), on_thread())

    text = assert_says_what_is_asked(graph, state)
    assert set(blocks(text)) <= OURS and "Asked again: `" in text


def test_a_plan_that_is_only_told_is_in_a_block(build: Build) -> None:
    state = build({"steps": [step("a", "search", query=STRANGER)]}, approval="never").invoke(chat("g"), on_thread())

    assert blocks(state["messages"][1].text) == ["paragraph_open", "inline", "text", "paragraph_close", "fence"]


@pytest.mark.parametrize(
    ("answer", "kinds"),
    [(STRANGER.split("~\n")[1], {"strong_open", "link_open"}), (STRANGER, {"fence"}), ({"note": STRANGER}, {"fence"})],
)
def test_an_answer_loses_images_and_html_in_the_chat_and_is_whole_in_the_state(
    build: Build, answer: Any, kinds: set[str]
) -> None:
    state = build({"steps": [], "answer": answer}).invoke(chat("g"), on_thread())

    assert state["answer"] == answer
    found = blocks(state["messages"][-1].text)
    assert kinds <= set(found) and not {"image", "html_inline", "html_block"} & set(found)


def test_why_a_run_failed_is_in_a_block(build: Build, tools: LoggedTools) -> None:
    graph = build({"steps": [step("a", "search", query="q")]}, {"steps": "x"}, max_repairs=0, replan="never")
    graph.invoke(chat("g"), on_thread())

    state = graph.invoke(Command(resume={"type": "reject", "final": True, "message": STRANGER}), on_thread())

    text = state["messages"][-1].text
    assert blocks(text) == ["fence"] and "Checked by security" in text and state["status"] == "rejected"


def test_an_answer_that_was_turned_down_is_no_decision_when_its_checkpoint_is_answered_again(
    build: Build, tools: LoggedTools
) -> None:
    graph = build(PLAN)
    graph.invoke(chat("g"), on_thread())
    graph.update_state(on_thread(), {"plan": OTHER})
    swapped = graph.get_state(on_thread()).config
    graph.invoke(Command(resume="approve"), on_thread())
    graph.invoke(Command(resume=""), on_thread())

    state = graph.invoke(Command(resume="reject"), swapped)

    assert tools.calls == [] and asked(state)["action_requests"][0]["args"] == {"plan": OTHER}


def test_an_answer_with_other_words_beside_it_still_counts(build: Build) -> None:
    graph = build(PLAN)
    graph.invoke(chat("g"), on_thread())

    state = graph.invoke(Command(resume="approve", update=chat("fine by me")), on_thread())

    assert state["status"] == "succeeded"


def test_a_plan_that_needs_no_person_is_said_too(build: Build) -> None:
    state = build(PLAN, approval="never").invoke(chat("g"), on_thread())

    assert [message.type for message in state["messages"]] == ["human", "ai", "ai"]
    assert "revision 1" in state["messages"][1].text and "decision" not in state["messages"][1].text


def test_a_form_may_leave_fields_blank_and_send_the_plan_as_text(build: Build) -> None:
    graph = build(PLAN)

    blank = graph.invoke({"goal": "g", "constraints": [], "plan": " ", "messages": []}, on_thread("blank"))
    brought = graph.invoke({"goal": "g", "plan": json.dumps(OTHER)}, on_thread("brought"))

    assert blank["plan"] == PLAN and brought["plan"] == OTHER
    assert graph.invoke({"goal": "g", "plan": "no plan"}, on_thread("broken"))["status"] == "failed"


def test_a_goal_from_a_form_is_stated_once_in_the_chat(build: Build) -> None:
    graph = build(PLAN, OTHER, {"steps": [], "answer": "2"})
    graph.invoke({"goal": "count"}, on_thread())
    graph.invoke(Command(resume="write something else"), on_thread())
    graph.invoke(Command(resume="approve"), on_thread())
    graph.invoke({"goal": "count"}, on_thread())
    state = graph.invoke(chat("what is 1 + 1?"), on_thread())

    said = [message.text for message in state["messages"] if message.type == "human"]
    assert said == ["count", "count", "what is 1 + 1?"]
    assert state["messages"][0].type == "human" and state["messages"][-1].type == "ai"
