"""How far a run is, for who joins in mid-run: told to whoever may read the thread, and to nobody else."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

APPROVE = {"decisions": [{"type": "approve"}]}
SUM = {"steps": [{"id": "sum", "objective": "add", "tool": "calculator", "args": {"expression": "2 + 3"}}]}
WAIT = {
    "steps": [
        {"id": "a", "objective": "look", "tool": "look"},
        {"id": "b", "objective": "wait", "tool": "ask", "depends_on": ["a"]},
        {"id": "c", "objective": "look again", "tool": "look", "args": {"after": "{b_result}"}},
    ]
}


@pytest.fixture(scope="module")
def owned(serve: Callable[..., Any]) -> Any:
    """A server on which everybody has threads of their own."""
    return serve(auth=Path(__file__).with_name("owner_auth.py"))


def asked(server: Any, thread: str, name: str | None = None, method: str = "GET") -> httpx.Response:
    headers = {"Authorization": f"Bearer {name}"} if name else {}
    with httpx.Client(base_url=server.url, timeout=30, headers=headers) as http:
        return http.request(method, f"/threads/{thread}/progress")


def statuses(told: dict[str, Any]) -> list[str]:
    return [step["status"] for step in told["steps"]]


def test_who_joins_in_mid_run_sees_where_every_step_stands(waiting: Callable[..., Any], waiting_server: Any) -> None:
    thread = waiting()
    thread.run({"messages": [{"role": "user", "content": "wait for it"}], "plan": WAIT})
    asked_for = asked(waiting_server, thread.id).json()
    run = thread.client.runs.create(thread.id, thread.graph, command={"resume": APPROVE})
    waiting_server.until(lambda: "ask" in waiting_server.effects(), "the tool is called")

    at_work = asked(waiting_server, thread.id).json()
    todos = thread.state()["values"]["todos"]
    waiting_server.open_gate("it rained")
    thread.client.runs.join(thread.id, run["run_id"])
    done = asked(waiting_server, thread.id).json()

    assert (asked_for["status"], statuses(asked_for)) == ("waiting", ["pending"] * 3)
    assert (at_work["status"], statuses(at_work)) == ("running", ["succeeded", "running", "pending"])
    assert at_work["line"] == "1 of 3 steps done. Running: b."
    assert [todo["status"] for todo in todos] == ["in_progress", "pending", "pending"]
    assert (done["status"], statuses(done)) == ("succeeded", ["succeeded"] * 3)
    assert done["steps"][1]["preview"] == "it rained" and done["steps"][1]["cost"]["tool_calls"] == 1
    assert asked_for["sequence"] < at_work["sequence"] < done["sequence"]


def test_it_is_told_to_whoever_may_read_the_thread_and_nobody_else(owned: Any, thread_of: Any) -> None:
    thread = thread_of(owned, Authorization="Bearer ann")
    thread.run({"goal": "add", "plan": SUM})

    own, strangers, nobodys = (asked(owned, thread.id, name) for name in ("ann", "bob", None))

    assert own.status_code == 200 and own.json()["goal"] == "add"
    assert strangers.status_code in (403, 404) and nobodys.status_code in (401, 403)
    assert "add" not in strangers.text + nobodys.text


def test_a_state_that_names_a_run_of_another_thread_tells_nothing_of_it(owned: Any, thread_of: Any) -> None:
    thread, other = (thread_of(owned, Authorization=f"Bearer {name}") for name in ("ann", "bob"))
    run = thread.run({"goal": "add in secret", "plan": SUM})["run"]
    other.run({"goal": "mine", "plan": SUM})
    other.client.threads.update_state(other.id, {"run": {**run, "n": 2, "seq": 10**6}}, as_node="planner")

    told = asked(owned, other.id, "bob")

    assert told.status_code == 404 and "secret" not in told.text


def test_a_copy_of_a_thread_tells_nothing_of_the_run_it_was_copied_from(client: Any, thread: Any, server: Any) -> None:
    thread.run({"goal": "add", "plan": SUM})

    copied = client.threads.copy(thread.id) or client.threads.search(limit=1)[0]

    assert asked(server, copied["thread_id"]).status_code == 404
    assert asked(server, thread.id).status_code == 200


def test_a_thread_without_a_run_has_no_progress_and_nothing_can_be_written(client: Any, server: Any) -> None:
    empty = client.threads.create()["thread_id"]

    assert asked(server, empty).status_code == 404
    assert asked(server, "00000000-0000-4000-8000-000000000000").status_code == 404
    assert asked(server, "not-a-thread").status_code in (404, 422)
    assert {asked(server, empty, method=method).status_code for method in ("POST", "PUT", "DELETE")} <= {404, 405, 415}


@pytest.mark.parametrize("mode", ["messages", "messages-tuple"])
def test_the_line_of_a_chat_is_never_joined_with_the_one_before(
    waiting: Callable[..., Any], waiting_server: Any, mode: Any
) -> None:
    thread = waiting()
    thread.run({"messages": [{"role": "user", "content": "wait for it"}], "plan": WAIT})

    said = []
    for part in thread.client.runs.stream(thread.id, thread.graph, command={"resume": APPROVE}, stream_mode=mode):
        for message in part.data if isinstance(part.data, list) else []:
            if str(message.get("id")).endswith("-progress") and message["type"] != "remove":
                said.append(message["content"])
        if said and said[-1].endswith("Running: b.") and "ask" in waiting_server.effects():
            waiting_server.open_gate("it rained")
            (waiting_server.home / "effects.log").unlink()

    assert said[0] == "0 of 3 steps done. Running: a." and said[1] == "1 of 3 steps done. Running: b."
    assert all(words.count("steps done") == 1 for words in said)
