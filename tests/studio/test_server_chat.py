"""The graph in a chat client: agent-chat-ui sends goals as content blocks, texts for edits, and old checkpoints."""

import json
from typing import Any

OTHER = {"steps": [{"id": "other", "objective": "add", "tool": "calculator", "args": {"expression": "40 + 2"}}]}
APPROVE = {"decisions": [{"type": "approve"}]}


def said(words: str) -> dict[str, Any]:
    return {"messages": [{"type": "human", "content": [{"type": "text", "text": words}]}]}


def test_a_goal_in_content_blocks_an_edit_as_text_and_the_tabs_checkpoint(thread: Any) -> None:
    values = thread.run(said("What is 2 * (3 + 4)?"))
    assert values["goal"] == "What is 2 * (3 + 4)?"
    (action,) = thread.request()["action_requests"]
    assert action["name"] == "run_plan" and isinstance(action["args"]["plan"], dict)

    edit = {"type": "edit", "edited_action": {"name": "run_plan", "args": {"plan": json.dumps(OTHER)}}}
    tab = thread.state()["checkpoint"]
    values = thread.answer({"decisions": [edit]}, checkpoint=tab)

    assert (values["status"], values["answer"]) == ("succeeded", 42)
    assert values["messages"][-1]["content"].split("\n")[0] == "42"


def test_a_tab_that_lags_behind_cannot_decide_what_it_did_not_show(thread: Any) -> None:
    thread.run(said("What is 2 * (3 + 4)?"))
    tab = thread.state()["checkpoint"]
    thread.answer({"decisions": [{"type": "approve", "digest": "0" * 64}]})

    thread.answer(APPROVE, checkpoint=tab)

    assert thread.request()["error"] and thread.state()["values"]["results"] == {}
    assert thread.answer(APPROVE, checkpoint=thread.state()["checkpoint"])["answer"] == 14


def test_another_message_is_a_new_goal_and_no_approval(thread: Any) -> None:
    first = thread.run(said("What is 2 * (3 + 4)?"))["run"]["id"]

    values = thread.run(said("What is 5 * (6 + 7)?"))

    assert values["run"]["id"] != first and values["results"] == {}
    assert "5 *" in json.dumps(thread.request()["action_requests"][0]["args"])
    assert thread.answer(APPROVE)["answer"] == 65


def test_marking_as_resolved_runs_nothing_and_continue_shows_the_request_again(thread: Any) -> None:
    first = thread.run(said("What is 2 * (3 + 4)?"))["run"]["id"]

    thread.run(command={"goto": "__end__"})
    assert thread.state()["values"]["results"] == {}
    values = thread.run(said("continue"))

    assert values["run"]["id"] == first and thread.request()["run"] == first
    assert thread.answer(APPROVE)["answer"] == 14
