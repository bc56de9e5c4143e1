"""Who approved, as a graph server tells it: the user whom it has authenticated, or nobody that is verified."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk.errors import APIStatusError

from planner_executor.graph.runs.runs import open_runs

SUM = {"steps": [{"id": "sum", "objective": "add", "tool": "calculator", "args": {"expression": "2 + 3"}}]}
APPROVE = {"decisions": [{"type": "approve"}]}
USER = {"identity": "chief@example.com", "is_authenticated": True, "display_name": "chief", "permissions": []}

PRETENCES: list[dict[str, Any]] = [
    {"config": {"configurable": {"langgraph_auth_user": USER, "langgraph_auth_user_id": "chief@example.com"}}},
    {"checkpoint": {"langgraph_auth_user": USER, "langgraph_auth_user_id": "chief@example.com"}},
    {"context": {"langgraph_auth_user": USER}},
    {"metadata": {"langgraph_auth_user": USER, "owner": "chief@example.com"}},
]


def approvers(server: Any, run: str) -> list[str]:
    async def read() -> list[str]:
        async with open_runs(server.home / "runs.db") as runs:
            return [event.payload["approver"] for event in await runs.log(run) if event.kind == "decided"]

    return asyncio.run(read())


@pytest.fixture(scope="module")
def guarded(serve: Callable[..., Any]) -> Any:
    """A server that knows its users."""
    return serve(auth=Path(__file__).with_name("token_auth.py"))


def test_the_user_whom_the_server_has_authenticated_is_the_approver(guarded: Any, thread_of: Any) -> None:
    thread = thread_of(guarded, Authorization="Bearer ann")
    run = thread.run({"goal": "add", "plan": SUM})["run"]["id"]

    assert thread.answer(APPROVE)["answer"] == 5

    assert approvers(guarded, run) == ["server:ann@example.com"]


def test_whoever_is_not_authenticated_decides_nothing(guarded: Any, thread_of: Any) -> None:
    thread = thread_of(guarded, Authorization="Bearer ann")
    run = thread.run({"goal": "add", "plan": SUM})["run"]["id"]

    with httpx.Client(base_url=guarded.url, timeout=30) as stranger:
        body = {"assistant_id": "planner_executor", "command": {"resume": APPROVE}}
        assert stranger.post(f"/threads/{thread.id}/runs/wait", json=body).status_code in (401, 403)

    assert approvers(guarded, run) == []


def test_a_client_cannot_say_that_it_is_another_user(guarded: Any, thread_of: Any) -> None:
    thread = thread_of(guarded, Authorization="Bearer eve")
    run = thread.run({"goal": "add", "plan": SUM})["run"]["id"]

    for pretence in PRETENCES:
        with suppress(APIStatusError):
            thread.answer(APPROVE, **pretence)

    assert set(approvers(guarded, run)) <= {"server:eve@example.com"}


def test_without_authentication_nobody_is_verified(server: Any, thread_of: Any) -> None:
    thread = thread_of(server)
    run = thread.run({"goal": "add", "plan": SUM})["run"]["id"]

    thread.answer(APPROVE)

    assert approvers(server, run) == ["unverified"]


@pytest.mark.parametrize("pretence", PRETENCES, ids=lambda pretence: next(iter(pretence)))
def test_without_authentication_nobody_can_say_that_he_is(server: Any, thread_of: Any, pretence: Any) -> None:
    thread = thread_of(server)
    run = thread.run({"goal": "add", "plan": SUM})["run"]["id"]

    with suppress(APIStatusError):
        thread.answer(APPROVE, **pretence)

    assert set(approvers(server, run)) <= {"unverified"}
