"""Six alike refunds decided in one go; each is judged and written by itself, and what is not alike is left alone."""

import os
import re
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from desk_server import served
from rich.console import Console

from planner_executor import Agent
from planner_executor.graph.cli.inbox_decisions import table
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.errors import InputError
from planner_executor.graph.record.events import Draft, Event
from planner_executor.graph.record.person import Approver
from planner_executor.graph.review.response import ReviewResponse
from planner_executor.graph.runs.alike import alike_requests, decide_each
from planner_executor.graph.runs.inbox import inbox
from planner_executor.graph.runs.inbox_filter import InboxFilter
from planner_executor.graph.runs.run import Run
from planner_executor.graph.runs.runs import open_runs
from planner_executor.graph.runs.stored_responses import store_response
from planner_executor.graph.testing import LoggedTools, ScriptedModel, drafted, step

SNAPSHOTS = Path(__file__).parents[1] / "data" / "reviews" / "alike_refunds"
NAMES = ("ada", "bob", "cleo", "dan", "eve", "finn")


def refund(name: str, to: str = "customers", **more: Any) -> dict[str, Any]:
    return {"steps": [step("r", "refund", to=f"{to}/{name}", amount=len(name), **more)]}


def own_tools(log: LoggedTools) -> list[Any]:
    return [
        log.tool("refund", lambda **_: 1, effect="external", trusted=True),
        log.tool("page", lambda **_: "eve", effect="read", trusted=False),
    ]


@pytest.fixture
def agent(tmp_path: Path, tools: LoggedTools) -> Iterator[Agent]:
    with Agent.open(tmp_path / "runs.db", tools=own_tools(tools), planner=ScriptedModel([])) as opened:
        yield opened


def started(agent: Agent) -> list[str]:
    """Begin six alike refunds and a seventh to another kind of recipient."""
    six = [agent.start(f"refund {name}", plan=refund(name), thread=name).id for name in NAMES]
    return [*six, agent.start("refund mallory", plan=refund("mallory", to="strangers"), thread="mallory").id]


def test_six_refunds_are_approved_in_one_go_and_a_seventh_that_the_table_shows_is_left_out(
    agent: Agent, tools: LoggedTools
) -> None:
    runs = started(agent)

    (batch,) = agent.alike()
    assert batch.columns == (("r", "amount"), ("r", "to")) or batch.columns == (("r", "to"), ("r", "amount"))
    shown = {run: values[batch.columns.index(("r", "to"))] for run, _, values in batch.rows}
    assert list(shown) == runs and shown[runs[-1]] == '"strangers/mallory"'
    told = agent.decide_alike(batch, without=[runs[-1]], approve=True, reason="returned goods")

    assert [(one.run, one.fault) for one in told] == [(run, None) for run in runs[:-1]]
    assert sorted(args["to"] for args in tools.named("refund")) == [f"customers/{name}" for name in NAMES]
    assert agent.show(runs[-1]).status == "waiting"
    for run in runs[:-1]:
        (made,) = [event.payload for event in agent.log(run) if event.kind == "decided"]
        assert made["decisions"] == [{"type": "approve", "reason": "returned goods"}]
        assert agent.verify(run) and agent.replay(run).is_same


NIGHT = 300


@pytest.mark.slow
async def test_a_night_of_300_plans_is_decided_from_the_inbox_a_table_of_each_page(
    agent: Agent, tmp_path: Path
) -> None:
    events = [*agent.log(agent.start("refund ada", plan=refund("ada"), thread="first").id)]
    agent.cancel("first.1")

    def as_of(number: int, event: Event) -> Draft:
        payload = {**event.payload, "thread": f"night-{number}"} if event.kind == "run_started" else event.payload
        if event.kind == "plan_revised":
            payload = {**payload, "plan": refund(f"customer {number}")}
        return drafted(event.kind, payload, event.step)

    async with open_runs(tmp_path / "runs.db") as runs:
        for number in range(NIGHT):
            await runs.ledger.open_run(f"night-{number}", [as_of(number, event) for event in events])
        person, pages = Approver("ada", "token"), 0

        async def stored(run: str, answer: Mapping[str, Any]) -> Run:
            await store_response(runs, await runs.find(run), answer, person)
            return await runs.show(run)

        assert (await inbox(runs, InboxFilter(text="refund"))).total == NIGHT
        while found := await alike_requests(runs):
            for batch in found:
                told = await decide_each(batch, (), ReviewResponse(approve=True), stored)
                assert [one.fault for one in told] == [None] * len(batch.requests)
            pages += 1
        assert (len(await inbox(runs)), pages) == (0, 6)
        given = [(await runs.log(f"night-{number}.1")).events[-1].payload["approver"] for number in (0, NIGHT - 1)]
        assert given == [str(person)] * 2


def test_one_that_was_decided_meanwhile_is_refused_and_leaves_the_others(agent: Agent, tools: LoggedTools) -> None:
    runs = started(agent)
    (batch,) = agent.alike()
    agent.cancel(runs[1])

    told = {one.run: one.fault for one in agent.decide_alike(batch, approve=True)}

    assert told.pop(runs[1]) is not None and set(told.values()) == {None}
    assert len(tools.named("refund")) == 6


def test_a_request_that_changed_since_the_table_was_shown_is_not_approved(agent: Agent, tools: LoggedTools) -> None:
    runs = started(agent)[:2]
    (batch,) = agent.alike()
    other = {"type": "edit", "edited_action": {"name": "run_plan", "args": {"plan": refund("mallory")}}}
    agent.resume(runs[0], other)

    told = {one.run: one.fault for one in agent.decide_alike(batch, approve=True)}

    assert told[runs[0]] is not None and told[runs[1]] is None


def test_other_plans_and_what_is_untrusted_or_has_begun_is_decided_by_itself(agent: Agent) -> None:
    plans = {
        "alike1": refund("ada"),
        "alike2": refund("bob"),
        "more": {"steps": [*refund("ada")["steps"], step("s", "refund", to="x", amount=1)]},
        "named": {"steps": [step("z", "refund", to="customers/ada", amount=3)]},
        "other argument": refund("ada", why="late"),
        "read1": {"steps": [step("p", "page"), step("r", "refund", to="{p_result}", amount=1)]},
        "read2": {"steps": [step("p", "page"), step("r", "refund", to="{p_result}", amount=2)]},
    }
    for name, plan in plans.items():
        agent.start(name, plan=plan, thread=name)

    assert [[goal for _, goal, _ in batch.rows] for batch in agent.alike()] == [["alike1", "alike2"]]


def test_only_one_decision_for_all_is_taken_and_only_runs_of_the_table_are_left_out(agent: Agent) -> None:
    started(agent)
    (batch,) = agent.alike()

    wrong: list[dict[str, Any]] = [{}, {"reason": "x"}, {"approve": True, "without": ["no such run"]}]
    for said in wrong:
        with pytest.raises(InputError):
            agent.decide_alike(batch, **said)
    assert all(one.fault is None for one in agent.decide_alike(batch, stop=True))
    assert {run.status for run in agent.list()} == {"rejected"}


def test_the_desk_has_a_table_to_tick_and_untick(tmp_path: Path) -> None:
    with served(tmp_path / "desk.db", tools=own_tools) as server, server.agent() as agent:
        runs = started(agent)
        with server.visit() as visit:
            assert "/alike" in visit.get("/").text
            page = visit.get("/alike").text
            fields = dict(re.findall(r'name="(run:[^"]+)" value="(\w+)"', page))
            assert list(fields) == [f"run:{run}" for run in runs] and "strangers/mallory" in page
            del fields[f"run:{runs[-1]}"]
            fields[f"run:{runs[0]}"] = "0" * 64
            told = visit.send("/alike", "/alike", decision="approve", reason="returned", **fields).text
            assert told.count("decided") >= 5 and "another request by now" in told
            assert visit.send("/alike", "/alike", decision="approve").status_code == 422

        made = {run: [event.payload for event in agent.log(run) if event.kind == "decided"] for run in runs}
        assert [len(events) for events in made.values()] == [0, 1, 1, 1, 1, 1, 0]
        assert all(one["decisions"][0]["reason"] == "returned" for events in made.values() for one in events)


def test_what_people_read_of_six_refunds_and_a_seventh_is_what_was_looked_at(tmp_path: Path) -> None:
    with served(tmp_path / "desk.db", tools=own_tools) as server, server.agent() as agent:
        runs, (batch,) = started(agent), agent.alike()
        shown = {f"terminal_{width}.txt": terminal(batch, width) for width in (60, 80, 120)}
        with server.visit() as visit:
            page = visit.get("/alike").text
            fields = dict(re.findall(r'name="(run:[^"]+)" value="(\w+)"', page))
            del fields[f"run:{runs[-1]}"]
            shown["desk.html"] = main_of(page)
            shown["desk_decided.html"] = main_of(visit.send("/alike", "/alike", decision="approve", **fields).text)

    SNAPSHOTS.mkdir(exist_ok=True)
    for name, text in shown.items():
        if os.environ.get("RENEW_SNAPSHOTS"):
            (SNAPSHOTS / name).write_text(text, "utf-8")
        assert (SNAPSHOTS / name).read_text("utf-8") == text, f"{name} differs; `make snapshots` writes it anew"


def terminal(batch: Any, width: int) -> str:
    file = StringIO()
    console = Console(file=file, width=width, color_system=None, markup=False, emoji=False, highlight=False)
    for line in table(batch):
        Screen(console, console).show_fact(line)
    return file.getvalue()


def main_of(page: str) -> str:
    """Return what a page has between head and foot, without what is another on each visit."""
    (shown,) = re.findall(r"<main[^>]*>(.*)</main>", page, re.DOTALL)
    return re.sub(r'(?<= value=")[\w.-]{40,}', "...", shown).strip() + "\n"
