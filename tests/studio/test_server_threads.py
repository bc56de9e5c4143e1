"""What a client may do with threads and with runs that are under way: the worker goes on, and the state is truthful."""

from collections.abc import Callable
from typing import Any

import pytest
from langgraph_sdk.errors import APIStatusError

APPROVE = {"decisions": [{"type": "approve"}]}
LOOK = {"steps": [{"id": "a", "objective": "look", "tool": "look"}]}


def waits(tool: str) -> dict[str, Any]:
    """Return a plan whose first step is quick and whose second waits at the gate."""
    second = {"id": "b", "objective": "wait", "tool": tool, "depends_on": ["a"]}
    return {"steps": [{"id": "a", "objective": "look", "tool": "look"}, second]}


@pytest.fixture
def at_work(waiting: Callable[..., Any], waiting_server: Any) -> Callable[[str], Any]:
    """Return how to get a thread whose approved run waits within a tool, and the run of the server that does it."""

    def thread(tool: str) -> Any:
        thread = waiting()
        thread.run({"goal": "wait for it", "plan": waits(tool)})
        begun = thread.client.runs.create(thread.id, thread.graph, command={"resume": APPROVE})
        waiting_server.until(lambda: tool in waiting_server.effects(), "the tool is called")
        return thread, begun["run_id"]

    return thread


def new_goal(thread: Any, strategy: str) -> Any:
    given = {"goal": "look once", "plan": LOOK}
    return thread.client.runs.create(thread.id, thread.graph, input=given, multitask_strategy=strategy)


def works_on(thread: Any, waiting: Callable[..., Any]) -> None:
    """The server's only worker takes up other work."""
    other = waiting()
    other.run({"goal": "look", "plan": LOOK})
    assert other.answer(APPROVE)["status"] == "succeeded"


def test_reject_leaves_the_run_that_is_under_way(at_work: Any, waiting: Any, waiting_server: Any) -> None:
    thread, begun = at_work("ask")

    with pytest.raises(APIStatusError):
        new_goal(thread, "reject")
    waiting_server.open_gate("the answer")
    thread.client.runs.join(thread.id, begun)

    assert thread.state()["values"]["status"] == "succeeded" and waiting_server.effects() == ["look", "ask"]
    works_on(thread, waiting)


def test_enqueue_begins_when_the_run_before_has_ended(at_work: Any, waiting: Any, waiting_server: Any) -> None:
    thread, _ = at_work("ask")

    queued = new_goal(thread, "enqueue")
    waiting_server.open_gate("the answer")
    thread.client.runs.join(thread.id, queued["run_id"])

    assert thread.request()["run"].endswith(".2") and thread.answer(APPROVE)["answer"] == "did look"
    works_on(thread, waiting)


@pytest.mark.parametrize("strategy", ["interrupt", "rollback"])
@pytest.mark.parametrize("tool", ["ask", "pay"])
def test_a_goal_that_comes_in_between_is_a_run_of_its_own_and_inherits_nothing(
    at_work: Any, waiting: Any, strategy: str, tool: str
) -> None:
    thread, _ = at_work(tool)

    second = new_goal(thread, strategy)
    thread.client.runs.join(thread.id, second["run_id"])

    assert thread.request()["run"].endswith(".2") and thread.state()["values"]["results"] == {}
    assert thread.answer(APPROVE)["answer"] == "did look"
    works_on(thread, waiting)


@pytest.mark.parametrize("action", ["interrupt", "rollback"])
def test_a_payment_under_way_when_its_run_is_cancelled_is_asked_about_and_never_repeated(
    at_work: Any, waiting: Any, waiting_server: Any, action: str
) -> None:
    thread, begun = at_work("pay")

    thread.client.runs.cancel(thread.id, begun, action=action, wait=True)
    thread.run({"messages": [{"role": "user", "content": "continue"}]})

    (asked,) = thread.request()["action_requests"]
    assert (asked["name"], asked["args"]["step"]) == ("settle_effect", "b")
    assert waiting_server.effects() == ["look", "pay"]
    works_on(thread, waiting)


def test_an_approval_that_is_sent_again_after_a_rollback_goes_on_with_the_run(
    at_work: Any, waiting: Any, waiting_server: Any
) -> None:
    thread, begun = at_work("ask")
    thread.client.runs.cancel(thread.id, begun, action="rollback", wait=True)

    again = thread.client.runs.create(thread.id, thread.graph, command={"resume": APPROVE})
    waiting_server.until(lambda: waiting_server.effects().count("ask") == 2, "the tool is called again")
    waiting_server.open_gate("the answer")
    thread.client.runs.join(thread.id, again["run_id"])

    assert thread.state()["values"]["status"] == "succeeded" and waiting_server.effects() == ["look", "ask", "ask"]


def test_a_rollback_of_the_first_run_of_a_thread_leaves_a_thread_that_works(waiting: Any, waiting_server: Any) -> None:
    thread = waiting()
    first = thread.client.runs.create(thread.id, thread.graph, input={"goal": "look", "plan": LOOK})
    thread.client.runs.join(thread.id, first["run_id"])
    thread.client.runs.delete(thread.id, first["run_id"])
    assert not thread.state()["values"]

    thread.run({"messages": [{"role": "user", "content": "continue"}]})

    assert thread.request()["action_requests"][0]["args"] == {"plan": LOOK}
    assert thread.answer(APPROVE)["status"] == "succeeded"


def test_a_finished_run_whose_checkpoints_are_deleted_is_not_run_again(waiting: Any, waiting_server: Any) -> None:
    thread = waiting()
    thread.run({"goal": "look", "plan": LOOK})
    second = thread.client.runs.create(thread.id, thread.graph, command={"resume": APPROVE})
    thread.client.runs.join(thread.id, second["run_id"])
    thread.client.runs.delete(thread.id, second["run_id"])

    values = thread.answer(APPROVE)

    assert (values["status"], values["answer"]) == ("succeeded", "did look")
    assert values["results"]["a"]["status"] == "succeeded" and waiting_server.effects() == ["look"]


@pytest.mark.parametrize("moment", ["waiting", "at work", "finished"])
def test_a_copy_of_a_thread_inherits_no_approval_and_no_result(
    at_work: Any, waiting: Any, waiting_server: Any, moment: str
) -> None:
    if moment == "at work":
        thread, begun = at_work("ask")
    else:
        thread = waiting()
        thread.run({"goal": "look", "plan": LOOK})
        if moment == "finished":
            thread.answer(APPROVE)
    before = waiting_server.effects()

    copy = waiting(thread.client.threads.copy(thread.id)["thread_id"])
    assert copy.state()["values"]["goal"] == thread.state()["values"]["goal"]
    if moment == "at work":
        waiting_server.open_gate("the answer")
        thread.client.runs.join(thread.id, begun)
        before = waiting_server.effects()
    copy.run({"goal": "look", "plan": LOOK} if moment == "finished" else None)

    shown = copy.request()
    assert shown["run"] == f"{copy.id}.1" and copy.state()["values"]["results"] == {}
    assert shown["action_requests"][0]["name"] == "run_plan" and waiting_server.effects() == before


def test_a_copy_that_is_asked_to_go_on_goes_on_with_the_goal_it_was_copied_with(client: Any, thread: Any) -> None:
    thread.run({"goal": "What is 2 * (3 + 4)?"})
    copy = type(thread)(client, thread.graph, client.threads.copy(thread.id)["thread_id"])

    values = copy.run({"messages": [{"role": "user", "content": "continue"}]})

    assert values["goal"] == "What is 2 * (3 + 4)?" and copy.request()["run"] == f"{copy.id}.1"
    assert copy.answer(APPROVE)["answer"] == 14 and thread.answer(APPROVE)["answer"] == 14


def test_pruning_and_deleting_threads_leaves_the_others_and_the_worker(waiting: Any) -> None:
    threads = [waiting() for _ in range(3)]
    for thread in threads:
        thread.run({"goal": "look", "plan": LOOK})
    client, (pruned, deleted, kept) = threads[0].client, threads

    with pytest.raises(APIStatusError) as refused:  # the development server has no such strategy
        client.threads.prune([pruned.id], strategy="keep_latest")
    assert refused.value.response.status_code == 422
    assert client.threads.prune([pruned.id], strategy="delete") == {"pruned_count": 1}
    client.threads.delete(deleted.id)

    for gone in (pruned, deleted):
        again = waiting(gone.id)
        assert not again.state()["values"]
        again.run({"goal": "look again", "plan": LOOK})
        assert again.answer(APPROVE)["run"]["n"] == 2
    assert kept.answer(APPROVE)["status"] == "succeeded"
