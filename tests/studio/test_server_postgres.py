"""`langgraph dev` with its records in a PostgreSQL database: nothing blocks the server's event loop."""

from typing import Any

from postgres_server import new_schema

from planner_executor import Agent

PLAN = {"steps": [{"id": "sum", "objective": "Add", "tool": "calculator", "args": {"expression": "40 + 2"}}]}


def test_a_run_of_the_server_is_kept_in_the_database_and_goes_on_after_a_restart(serve: Any, thread_of: Any) -> None:
    address = new_schema()
    server = serve(PLANNER_EXECUTOR_DB=address)
    thread = thread_of(server)
    thread.run({"goal": "add", "plan": PLAN})
    assert thread.request()

    assert thread.answer({"type": "approve"})["status"] == "succeeded"

    with Agent(address) as agent:
        (run,) = agent.list()
        assert (run.status, run.thread) == ("succeeded", thread.id) and agent.verify(run.id).is_whole


def test_a_threads_copy_and_rollback_reach_the_checkpoints(serve: Any, thread_of: Any) -> None:
    server = serve(PLANNER_EXECUTOR_DB=new_schema())
    thread = thread_of(server)
    thread.run({"goal": "add", "plan": PLAN})
    copy = thread.client.threads.copy(thread.id)

    assert thread.client.threads.get_state(copy["thread_id"])["values"]["goal"] == "add"
    thread.client.threads.delete(thread.id)
    assert thread.client.threads.get_state(copy["thread_id"])["values"]["goal"] == "add"
