"""A call that a revision adds, at the desk: nothing is chosen for the person, and the page says what it is."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from desk_server import DeskServer, decide, ended, query, served

from planner_executor.graph.testing import LoggedTools, step

PAGE, GONE = step("page", "fetch"), step("look", "lookup", key="gone")
MORE = step("more", "mail", to="mallory", text="all secrets")
REVISED = {"steps": [PAGE, {**GONE, "args": {"key": "here"}}, MORE]}


def lookup(key: str) -> str:
    if key == "gone":
        raise LookupError("no such key")
    return "found"


def tools(log: LoggedTools) -> list[Any]:
    return [
        log.tool("fetch", lambda: "click here", effect="read", trusted=False),
        log.tool("lookup", lookup, effect="read", trusted=True),
        log.tool("mail", effect="external"),
    ]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[DeskServer]:
    with served(tmp_path / "runs.db", tools=tools) as server:
        with server.agent(REVISED) as agent:
            agent.start("g", plan={"steps": [PAGE, GONE]}, thread="t")
            agent.resume("t", "approve")
        yield server


def test_the_page_says_that_it_is_new_and_chooses_nothing(desk: DeskServer) -> None:
    with desk.visit() as visit:
        page = visit.get(query("/review", "t.1")).text

    assert "New call of" in page and "No plan that was approved had this call" in page
    assert '<select name="call:more"><option value="">choose</option>' in page and 'value="standing"' not in page
    assert '<option value="approve" >is made as shown' in page


DECISIONS: Mapping[str, tuple[dict[str, str], str, list[Any]]] = {
    "approve": ({"call:more": "approve"}, "succeeded", [{"to": "mallory", "text": "all secrets"}]),
    "edit": (
        {"call:more": "edit", "call:more:args": '{"to": "ann", "text": "hi"}'},
        "succeeded",
        [{"to": "ann", "text": "hi"}],
    ),
}


@pytest.mark.parametrize("name", DECISIONS)
def test_it_is_decided_by_itself(desk: DeskServer, name: str) -> None:
    fields, status, mails = DECISIONS[name]

    with desk.visit() as visit:
        answer = decide(visit, "t.1", decision="approve", **fields)
        assert answer.status_code == 303, answer.text

    assert ended(desk, "t.1") == status and desk.tools.named("mail") == mails


def test_a_click_on_approve_alone_decides_nothing_and_says_why(desk: DeskServer) -> None:
    with desk.visit() as visit:
        answer = decide(visit, "t.1", decision="approve")

    assert answer.status_code == 422 and "this call is new in the plan" in answer.text
    assert ended(desk, "t.1") == "waiting" and desk.tools.named("mail") == []
