"""Questions of MCP servers: a person answers them between calls, in whatever process and however much later."""

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from planner_executor import Agent
from planner_executor.graph.review.response import ReviewResponse, build_response
from planner_executor.graph.runs.run import Run
from planner_executor.graph.testing import ScriptedModel, step

SERVER = Path(__file__).parents[1] / "tools" / "mcp" / "asking_server.py"
HAT: Any = {"steps": [step("a", "order", article="hat")]}
PRICE: Any = {"steps": [step("a", "price", article="hat")]}
BIG = {"size": "L", "count": 2}


@contextmanager
def over_stdio(folder: Path) -> Iterator[dict[str, Any]]:
    yield {"shop": {"command": sys.executable, "args": [str(SERVER), str(folder)]}}


@contextmanager
def over_http(folder: Path) -> Iterator[dict[str, Any]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = (folder / "server.log").open("wb")
    with log, subprocess.Popen([sys.executable, str(SERVER), str(folder), str(port)], stderr=log) as process:
        try:
            while not _listens(port):
                assert process.poll() is None, (folder / "server.log").read_text()
                with_patience(process)
            yield {"shop": {"url": f"http://127.0.0.1:{port}/mcp"}}
        finally:
            process.kill()


def with_patience(process: "subprocess.Popen[bytes]") -> None:
    """Wait a little, or until the process ends."""
    try:
        process.wait(timeout=0.1)
    except subprocess.TimeoutExpired:
        return


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def opened(tmp_path: Path) -> Callable[..., Agent]:
    def agent(mcp: Any, **options: Any) -> Agent:
        return Agent.open(tmp_path / "runs.db", mcp=mcp, **{"planner": ScriptedModel([]), **options})

    return agent


@dataclass(frozen=True)
class Shop:
    """A server over HTTP for tests that need no server of their own."""

    folder: Path
    mcp: dict[str, Any]


@pytest.fixture(scope="module")
def open_shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("shop")
    with over_http(folder) as mcp:
        yield Shop(folder, mcp)


@pytest.fixture
def shop(open_shop: Shop) -> Shop:
    (open_shop.folder / "orders").unlink(missing_ok=True)
    return open_shop


def orders(folder: Path) -> list[str]:
    file = folder / "orders"
    return file.read_text().splitlines() if file.exists() else []


def _asks(run: Run, name: str) -> bool:
    return run.request is not None and [one["name"] for one in run.request["action_requests"]] == [name]


def question(run: Run) -> dict[str, Any]:
    assert run.request is not None, (run.status, run.reason)
    (action,) = run.request["action_requests"]
    assert action["name"] == "answer_question"
    return dict(action)


@pytest.mark.e2e
@pytest.mark.parametrize("served", [over_stdio, over_http])
def test_what_a_server_asks_in_a_call_is_answered_by_a_person_and_the_call_goes_on(
    served: Any, opened: Any, tmp_path: Path
) -> None:
    with served(tmp_path) as mcp, opened(mcp) as agent:
        run = agent.resume(agent.start("Order", plan=HAT).id, "approve")
        asked = question(run)
        assert (asked["args"]["step"], asked["args"]["question"]) == ("a", "Which size of hat?")
        assert "- size (string)" in asked["description"] and "count (integer, may be left out)" in asked["description"]
        assert orders(tmp_path) == []

        run = agent.resume(run.id, run.decide(answers={"a": BIG}))

        assert (run.status, run.answer) == ("succeeded", {"result": "2 hat in L"})
        assert orders(tmp_path) == ["2 hat L"]
        kinds = [event.kind for event in agent.log(run.id) if event.kind.startswith("call_")]
        assert kinds == ["call_started", "call_asked", "call_started", "call_finished"]
        assert agent.verify(run.id) and agent.replay(run.id).is_same


@pytest.mark.e2e
def test_an_answer_on_another_day_reaches_a_server_that_was_started_anew(opened: Any, tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(b"0123456789abcdef0123456789abcdef")
    with over_stdio(tmp_path) as mcp:
        with opened(mcp) as agent:
            run = agent.resume(agent.start("Order", plan=HAT).id, "approve")
        with opened(mcp) as agent:
            run = agent.resume(run.id, agent.show(run.id).decide(answers={"a": BIG}))

    assert run.status == "succeeded" and orders(tmp_path) == ["2 hat L"]


@pytest.mark.e2e
def test_a_server_that_forgot_a_harmless_call_is_asked_anew_with_the_same_answer(opened: Any, tmp_path: Path) -> None:
    with over_stdio(tmp_path) as mcp:
        with opened(mcp) as agent:
            run = agent.resume(agent.start("Price", plan=PRICE).id, "approve")
        with opened(mcp) as agent:
            run = agent.resume(run.id, agent.show(run.id).decide(answers={"a": BIG}))

    assert (run.status, run.answer) == ("succeeded", {"result": "hat in L: 8"})


@pytest.mark.e2e
def test_a_server_that_forgot_a_call_with_an_effect_is_asked_anew_only_if_a_person_says_that_nothing_came_of_it(
    opened: Any, tmp_path: Path
) -> None:
    with over_stdio(tmp_path) as mcp:
        with opened(mcp) as agent:
            run = agent.resume(agent.start("Order", plan=HAT).id, "approve")
        with opened(mcp, planner=ScriptedModel([HAT])) as agent:
            run = agent.resume(run.id, agent.show(run.id).decide(answers={"a": BIG}))
            assert orders(tmp_path) == [] and run.request is not None
            assert any("started anew since it asked" in one["description"] for one in run.request["action_requests"])
            run = agent.resume(run.id, "approve") if _asks(run, "run_plan") else run
            assert _asks(run, "settle_effect")

            run = agent.resume(run.id, run.decide(happened=[False]))

    assert run.status == "succeeded" and orders(tmp_path) == ["2 hat L"]


def test_an_answer_that_does_not_fill_the_form_is_asked_again(opened: Any, shop: Shop) -> None:
    answers = [
        ({"size": 5}, "5 is not"),
        ({"count": 1}, "size"),
        ({"size": "L", "colour": "red"}, "colour"),
        ([1], "[1]"),
    ]
    with opened(shop.mcp) as agent:
        run = agent.resume(agent.start("Order", plan=HAT).id, "approve")
        for answer, fault in answers:
            run = agent.resume(run.id, run.decide(answers={"a": answer}))

            assert run.request is not None and fault in run.request["error"]
            assert orders(shop.folder) == []


def test_a_person_may_decline_and_the_server_is_told(opened: Any, shop: Shop) -> None:
    with opened(shop.mcp, replan="never") as agent:
        run = agent.resume(agent.start("Order", plan=HAT).id, "approve")
        run = agent.resume(run.id, run.decide(answers={"a": "decline"}))

    assert run.status == "failed" and "decline" in run.reason and orders(shop.folder) == []


def test_an_address_to_open_is_refused_in_words(opened: Any, shop: Shop) -> None:
    with opened(shop.mcp, replan="never") as agent:
        run = agent.resume(agent.start("Sign in", plan={"steps": [step("a", "sign_in")]}).id, "approve")

    assert run.status == "failed" and "https://example.com/sign-in" in run.reason and "not opened here" in run.reason


def test_each_item_of_a_list_has_a_question_of_its_own(opened: Any, shop: Shop) -> None:
    each = {"for_each": ["hat", "scarf"], "max_items": 2}
    plan: Any = {"steps": [{**step("a", "order", article="{item_result}"), **each}]}
    with opened(shop.mcp) as agent:
        run = agent.resume(agent.start("Order", plan=plan).id, "approve")
        assert run.request is not None
        assert sorted(one["args"]["step"] for one in run.request["action_requests"]) == ["a[0]", "a[1]"]

        run = agent.resume(run.id, run.decide(answers={"a[0]": BIG, "a[1]": "S"}))

    assert run.status == "succeeded" and sorted(orders(shop.folder)) == ["1 scarf S", "2 hat L"]


def test_stopping_at_a_question_makes_no_call(opened: Any, shop: Shop) -> None:
    with opened(shop.mcp) as agent:
        run = agent.resume(agent.start("Order", plan=HAT).id, "approve")
        assert run.request is not None
        run = agent.resume(run.id, build_response(run.request, ReviewResponse(stop=True)))

    assert run.status == "rejected" and orders(shop.folder) == []


def test_a_model_goes_on_with_its_step_after_the_answer_and_is_asked_nothing_twice(opened: Any, shop: Shop) -> None:
    executor = ScriptedModel(
        [AIMessage("", tool_calls=[{"name": "order", "args": {"article": "hat"}, "id": "1"}]), "done"]
    )
    plan: Any = {"steps": [{"id": "a", "objective": "Order a hat", "tools": ["order"]}]}
    with opened(shop.mcp, executor=executor) as agent:
        run = agent.resume(agent.start("Order", plan=plan).id, "approve")
        question(run)
        run = agent.resume(run.id, run.decide(answers={"a": "M"}))

    assert (run.status, run.answer) == ("succeeded", "done")
    assert orders(shop.folder) == ["1 hat M"] and len(executor.prompts) == 2
