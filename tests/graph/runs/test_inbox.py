"""What waits for people: for all, for one of them, page by page, and what is over is not in it."""

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from planner_executor import Agent, Person
from planner_executor.graph.errors import InputError
from planner_executor.graph.ledger.sqlite.ledger import SqliteLedger
from planner_executor.graph.record.counters import Counters
from planner_executor.graph.runs.runs import open_runs
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

PAY = {"steps": [step("a", "pay", to="ann")]}
LOOK = {"steps": [step("a", "look", at="sky")]}
ADA, BOB = (Person(f"{name}@example.org", ["finance"], proof="token") for name in ("ada", "bob"))
EVE = Person("eve@example.org", ["guest"], proof="token")
RULES = {"tools": {"pay": {"roles": ["finance"], "quorum": 2, "decide_within": "1d"}}}


def counted(database: Path) -> Counters:
    async def read() -> Counters:
        async with open_runs(database) as runs:
            return await runs.counters()

    return asyncio.run(read())


def verified(by: Person | None) -> Person | None:
    return by if by is not None and by.proof == "token" else None


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Callable[..., Agent]]:
    opened: list[Agent] = []

    def made(approvers: Any) -> Agent:
        log = LoggedTools()
        tools = [log.tool("pay", effect="external", trusted=True), log.tool("look", effect="read", trusted=True)]
        policy = {"approvers": approvers}
        opened.append(
            Agent.open(tmp_path / "runs.db", planner=ScriptedModel([]), tools=tools, policy=policy, identity=verified)
        )
        return opened[-1]

    yield made
    for one in opened:
        one.close()


def test_the_inbox_says_what_is_asked_since_when_until_when_and_what_it_may_take(agent: Any) -> None:
    own = agent(RULES)
    paid, looked = own.start("pay ann", plan=PAY, tags=["money"], by=EVE), own.start("look", plan=LOOK)

    first, second = own.inbox()

    assert (first.run, first.goal, first.asks, first.tags) == (paid.id, "pay ann", ("run_plan",), ("money",))
    assert first.until == paid.request["until"] and first.since <= second.since
    assert first.asked == "a plan to approve" and first.may_take.startswith("To do: 1 step; at most 1 tool call")
    assert first.deciders == ("2 of the role finance",) and first.voters == ()
    assert (second.run, second.until, second.deciders) == (looked.id, None, ())


def test_for_a_person_is_what_the_rules_let_them_decide_and_they_have_not_approved(agent: Any) -> None:
    own = agent(RULES)
    paid, looked = own.start("pay", plan=PAY, by=EVE), own.start("look", plan=LOOK)

    def of(person: Person) -> list[str]:
        return [row.run for row in own.inbox(person)]

    assert of(ADA) == of(BOB) == [paid.id, looked.id] and of(EVE) == [looked.id]
    assert of(Person("ada@example.org", ["finance"])) == [looked.id], "a name that nobody verifies"
    own.resume(paid.id, {"type": "approve"}, by=ADA)
    assert of(ADA) == [looked.id] and of(BOB) == [paid.id, looked.id]
    assert own.inbox()[0].voters == ("server:ada@example.org",)


def test_under_four_eyes_the_inbox_of_who_asked_is_without_it(agent: Any) -> None:
    own = agent({"roles": ["finance"], "four_eyes": True})
    run = own.start("pay", plan=PAY, by=ADA)

    assert not own.inbox(ADA) and [row.run for row in own.inbox(BOB)] == [run.id]


def test_what_nobody_decided_in_time_is_closed_and_not_listed(agent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def tomorrow(_: SqliteLedger) -> float:
        return time.time() + 90_000.0

    own = agent(RULES)
    paid, looked = own.start("pay", plan=PAY), own.start("look", plan=LOOK)
    monkeypatch.setattr(SqliteLedger, "now", tomorrow)

    assert [row.run for row in own.inbox()] == [looked.id] and own.show(paid.id).status == "rejected"


def test_an_inbox_is_read_page_by_page_also_for_a_person(agent: Any) -> None:
    own = agent(RULES)
    runs = [own.start("g", plan=plan).id for plan in (LOOK, PAY, LOOK, PAY, LOOK)]

    def pages(person: Person | None) -> list[list[str]]:
        found, after = [], None
        while True:
            page = own.inbox(person, limit=2, after=after)
            found.append([row.run for row in page])
            if (after := page.next) is None:
                return found

    assert pages(None) == [runs[:2], runs[2:4], runs[4:]]
    assert pages(EVE) == [[runs[0], runs[2]], [runs[4]]]


def test_an_inbox_is_searched_by_effect_and_starter_counted_and_put_in_another_order(agent: Any) -> None:
    own = agent({"tools": {"pay": {"decide_within": "1d"}}})
    looked, paid = own.start("look", plan=LOOK, by=BOB), own.start("for ann", plan=PAY, by=ADA)

    (row,) = own.inbox(text="PAY ann ada@example")
    assert (row.run, row.started_by, row.does, row.left_out) == (paid.id, "server:ada@example.org", "pay to: ann", 0)
    assert own.inbox()[0].does == "", "what only reads has no effect"
    assert [one.run for one in own.inbox(order="deadline")] == [paid.id, looked.id]
    first = own.inbox(order="deadline", limit=1)
    assert [one.run for one in own.inbox(order="deadline", limit=1, after=first.next)] == [looked.id]
    assert (own.inbox(limit=1, asks=["run_plan", "died"]).total, own.inbox(asks=["died"]).total) == (2, 0)
    for wrong in ({"asks": ["run_plam"]}, {"order": "sideways"}):
        with pytest.raises(InputError):
            own.inbox(**wrong)


def test_for_a_person_so_many_rows_are_read_for_a_page_and_it_goes_on_at_the_next(
    agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planner_executor.graph.runs.inbox_page.CHUNK", 1)
    monkeypatch.setattr("planner_executor.graph.runs.inbox_page.MOST_READ", 2)
    own = agent(RULES)
    *_, last = (own.start("g", plan=plan).id for plan in (PAY, PAY, PAY, PAY, LOOK))

    first = own.inbox(EVE)
    assert (len(first), first.total, first.next is not None) == (0, None, True)
    second = own.inbox(EVE, after=first.next)
    assert [row.run for row in own.inbox(EVE, after=second.next)] == [last]


@pytest.mark.parametrize(
    ("limit", "after"), [(0, None), (1, "x"), (1, "1.5@noNumber"), (1, "soon@a.1"), (1, "nan@a.1")]
)
def test_an_odd_page_is_refused(agent: Any, limit: int, after: str | None) -> None:
    with pytest.raises(InputError):
        agent({}).inbox(limit=limit, after=after)


def test_a_notebook_and_a_program_read_it_too(agent: Any) -> None:
    own = agent(RULES)
    run = own.start("pay <b>ann</b>", plan=PAY)
    page = own.inbox()

    assert "<b>" not in page._repr_mimebundle_()["text/html"] and run.id in page._repr_mimebundle_()["text/plain"]
    assert page.to_json()["inbox"][0]["run"] == run.id and page.to_json()["next"] is None


def test_runs_that_failed_or_are_paused_stand_beside_the_requests_until_a_later_run_of_their_thread(
    tmp_path: Path,
) -> None:
    def failing(**_: object) -> str:
        raise ValueError("no sky")

    tools = [LoggedTools().tool("look", failing, effect="read", trusted=True)]
    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([]), tools=tools, approval="never") as own:
        own.start("look", plan=LOOK, thread="sky")
        (stopped,) = own.inbox().stopped
        assert (stopped.run, stopped.how, stopped.since > 0) == ("sky.1", "failed", True)
        assert own.inbox().to_json()["stopped"][0]["run"] == "sky.1"
        assert counted(tmp_path / "runs.db").value("runs_stopped", how="failed") == 1
        assert own.inbox(asks=["paused", "run_plan"]).stopped == ()
        own.start("look again", plan=LOOK, thread="sky")

        assert [row.run for row in own.inbox().stopped] == ["sky.2"]
