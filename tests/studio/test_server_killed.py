"""kill -9 of the server, or a tab that is closed: the run goes on, and what is finished is not done again."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

APPROVE = {"decisions": [{"type": "approve"}]}


def plan(tool: str) -> dict[str, Any]:
    steps = [
        {"id": "a", "objective": "look", "tool": "look"},
        {"id": "b", "objective": "wait", "tool": tool, "depends_on": ["a"]},
        {"id": "c", "objective": "look again", "tool": "look", "args": {"after": "{b_result}"}},
    ]
    return {"steps": steps, "answer": ["{a_result}", "{b_result}", "{c_result}"]}


def approved(thread: Any, server: Any, tool: str) -> None:
    """Approve a plan and return while its tool waits."""
    thread.run({"messages": [{"role": "user", "content": "wait for it"}], "plan": plan(tool)})
    thread.client.runs.create(thread.id, thread.graph, command={"resume": APPROVE})
    server.until(lambda: tool in server.effects(), "the tool is called")


def test_a_request_outlives_the_server(thread: Any, server: Any) -> None:
    thread.run({"goal": "What is 2 * (3 + 4)?"})
    shown = thread.request()

    server.kill()
    server.start()
    thread.client.threads.create(thread_id=thread.id, if_exists="do_nothing", graph_id=thread.graph)

    assert thread.request()["digest"] == shown["digest"]
    assert thread.answer(APPROVE)["answer"] == 14


def test_a_killed_run_goes_on_and_no_finished_step_runs_again(waiting: Callable[..., Any], waiting_server: Any) -> None:
    thread = waiting()
    approved(thread, waiting_server, "ask")

    waiting_server.kill()
    waiting_server.start()
    again = waiting(thread.id)
    again.client.runs.create(again.id, again.graph, input=None)
    waiting_server.open_gate("the answer")
    waiting_server.until(lambda: again.state()["next"] == [], "the run ends")

    values = again.state()["values"]
    assert (values["status"], values["answer"]) == ("succeeded", ["did look", "the answer", "did look"])
    assert waiting_server.effects() == ["look", "ask", "ask", "look"]


def test_a_worker_has_the_server_go_on_with_a_killed_run(waiting: Callable[..., Any], waiting_server: Any) -> None:
    thread = waiting()
    approved(thread, waiting_server, "ask")
    waiting_server.kill()
    waiting_server.start()
    again = waiting()
    again.client.threads.create(thread_id=thread.id, if_exists="do_nothing", graph_id=thread.graph)
    command = [sys.executable, "-m", "planner_executor", "work", "--once", "--server", waiting_server.url]

    with subprocess.Popen(command, env=waiting_server.environment(), stdout=subprocess.PIPE, text=True) as worker:
        waiting_server.open_gate("the answer")
        told, _ = worker.communicate()

    assert worker.returncode == 0 and f"{thread.id}.1" in told and "succeeded" in told, told
    assert waiting_server.effects() == ["look", "ask", "ask", "look"]


def test_a_payment_in_flight_is_asked_about_and_not_repeated(waiting: Callable[..., Any], waiting_server: Any) -> None:
    thread = waiting()
    approved(thread, waiting_server, "pay")

    waiting_server.kill()
    waiting_server.start()
    again = waiting(thread.id)
    again.run(None)

    (action,) = again.request()["action_requests"]
    assert (action["name"], action["args"]["tool"]) == ("settle_effect", "pay")
    filled = {**action["args"], "happened": "true", "result": "paid"}
    values = again.answer({"decisions": [{"type": "edit", "edited_action": {"name": "settle_effect", "args": filled}}]})
    assert (values["status"], values["answer"]) == ("succeeded", ["did look", "paid", "did look"])
    assert waiting_server.effects() == ["look", "pay", "look"]


def test_a_closed_tab_cancels_the_run_and_continue_takes_it_up(
    waiting: Callable[..., Any], waiting_server: Any
) -> None:
    thread = waiting()
    thread.run({"messages": [{"role": "user", "content": "wait for it"}], "plan": plan("ask")})
    tab = thread.client.runs.stream(
        thread.id, thread.graph, command={"resume": APPROVE}, stream_mode="custom", on_disconnect="cancel"
    )
    next(part for part in tab if part.event == "custom" and part.data["step"] == "b")
    tab.close()
    waiting_server.until(
        lambda: all(run["status"] != "running" for run in thread.client.runs.list(thread.id)), "the run is cancelled"
    )

    said = {"messages": [{"role": "user", "content": "continue"}]}
    thread.client.runs.create(thread.id, thread.graph, input=said)
    waiting_server.until(lambda: waiting_server.effects().count("ask") == 2, "the step is begun again")
    waiting_server.open_gate("the answer")
    waiting_server.until(lambda: thread.state()["next"] == [], "the run ends")

    values = thread.state()["values"]
    assert values["status"] == "succeeded" and values["goal"] == "wait for it"
    assert waiting_server.effects().count("look") == 2
