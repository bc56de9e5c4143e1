"""Requests that nobody decides in time: reminders, escalation, the end, and the answers that come after it."""

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from planner_executor import Agent, Person, build_graph
from planner_executor.graph.errors import NothingToDecideError
from planner_executor.graph.ledger.sqlite.ledger import SqliteLedger
from planner_executor.graph.ledger.sqlite.memory import MemoryLedger
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.runs.run import Run
from planner_executor.graph.runs.runs import Runs, open_runs
from planner_executor.graph.testing import LoggedTools, ScriptedModel, on_thread, step
from planner_executor.graph.work.chores import look_after_reviews

PAY = {"steps": [step("a", "pay", to="ann", amount=150)]}
TWO_CALLS = {"steps": [step("a", "pay", to="ann"), step("b", "pay", after=["a"], to="bob")]}
AT_ONCE, DAY = {"decide_within": "0.001s"}, {"decide_within": "1d"}
FINANCE = {"roles": ["finance"], **DAY}
ADA, BOB = (Person(f"{name}@example.org", ["finance"], proof="token") for name in ("ada", "bob"))
LEA = Person("lea@example.org", ["lead"], proof="token")
APPROVE = {"type": "approve"}
HOUR = 3_600.0


class Clock:
    """The clock of the database, `ahead_s` of that of the events."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    async def now(self, _: object = None) -> float:
        return time.time() + self.ahead_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(SqliteLedger, "now", found.now)
    return found


Make = Callable[..., Agent]


@pytest.fixture
def agent(tmp_path: Path, tools: LoggedTools) -> Iterator[Make]:
    opened: list[Agent] = []

    def made(approvers: Any, *answers: Any, **options: Any) -> Agent:
        own = [tools.tool("pay", effect="external", trusted=True)]
        policy = {"approvers": approvers, **options.pop("policy", {})}
        given = {"planner": ScriptedModel(answers), "tools": own, "policy": policy, "replan": "never", **options}
        opened.append(Agent.open(tmp_path / "runs.db", identity=lambda by: by, **given))
        return opened[-1]

    yield made
    for one in opened:
        one.close()


def kinds(agent: Agent, run: Run) -> list[str]:
    return [event.kind for event in agent.log(run.id)]


def events(agent: Agent, run: Run, kind: str) -> list[Any]:
    return [event.payload for event in agent.log(run.id) if event.kind == kind]


def work(folder: Path, times: int = 1) -> list[str]:
    """Do what a worker does about requests, by several workers at a time, and return what they say."""

    async def done() -> list[str]:
        async with open_runs(folder / "runs.db") as runs:
            told = await asyncio.gather(*(look_after_reviews(runs) for _ in range(times)))
            assert await runs.ledger.misindexed() == []
            return [sentence for found in told for sentence in found]

    return asyncio.run(done())


def described(run: Run) -> str:
    assert run.request is not None
    return str(run.request["action_requests"][0]["description"])


@pytest.mark.parametrize("on_expire", ["reject", "end"])
def test_a_plan_that_nobody_decides_about_is_rejected_by_whoever_opens_the_run(
    agent: Make, tools: LoggedTools, on_expire: str
) -> None:
    own = agent({**AT_ONCE, "on_expire": on_expire})
    run = own.start("g", plan=PAY)

    shown = own.show(run.id)
    assert shown.status == "rejected" and str(shown.reason).startswith("rejected: nobody decided until 20")
    assert kinds(own, run)[-3:] == ["review_requested", "review_expired", "run_ended"] and tools.calls == []
    assert own.verify(run.id).fault is None and own.replay(run.id).is_same
    assert "and the run ends" in str(own.audit(run.id, "decisions"))


def test_a_worker_closes_what_is_over_once_however_many_there_are(agent: Make, clock: Clock, tmp_path: Path) -> None:
    own = agent(DAY)
    runs = [own.start("g", plan=PAY) for _ in range(3)]

    clock.ahead_s = 25 * HOUR
    told = work(tmp_path, times=3)

    assert sorted(line.partition(":")[0] for line in told) == sorted(run.id for run in runs)
    assert all(kinds(own, run).count("review_expired") == 1 for run in runs)
    assert work(tmp_path) == []


def test_the_request_says_until_when_and_keeps_its_time_whatever_is_answered(agent: Make, clock: Clock) -> None:
    own = agent({**FINANCE, "quorum": 2, "on_expire": "end"})
    run = own.start("g", plan=PAY, by=LEA)
    until = run.request["until"]  # type: ignore[index]
    assert abs(until - time.time() - 24 * HOUR) < HOUR
    assert "Decide until 20" in described(run) and "after that the run ends as rejected" in described(run)

    clock.ahead_s = 12 * HOUR
    for answer, by in ((APPROVE, LEA), (APPROVE, ADA), (1, BOB)):
        run = own.resume(run.id, answer, by=by)
        assert run.request is not None and run.request["until"] == until
    assert own.replay(run.id).is_same


def test_an_approval_after_the_end_is_refused_on_record_however_often_it_is_sent(
    agent: Make, tools: LoggedTools, clock: Clock
) -> None:
    own = agent(FINANCE)
    run = own.start("g", plan=PAY)
    answer = run.decide(approve=True)

    clock.ahead_s = 25 * HOUR
    for _ in range(2):
        with pytest.raises(NothingToDecideError, match="came too late: nobody decided until"):
            own.resume(run.id, answer, by=ADA)

    late = events(own, run, "late_answer")
    assert [one["approver"] for one in late] == ["server:ada@example.org"] * 2 and late[0]["roles"] == ["finance"]
    assert late[0]["answer"]["value"] == answer and tools.calls == []
    assert own.verify(run.id).fault is None and own.replay(run.id).is_same


def test_votes_before_the_end_approve_nothing_after_it(agent: Make, tools: LoggedTools, clock: Clock) -> None:
    own = agent({**FINANCE, "quorum": 2})
    run = own.start("g", plan=PAY)
    assert own.resume(run.id, APPROVE, by=ADA).status == "waiting"

    clock.ahead_s = 25 * HOUR
    with pytest.raises(NothingToDecideError, match="too late"):
        own.resume(run.id, APPROVE, by=BOB)

    assert own.show(run.id).status == "rejected" and tools.calls == [] and own.replay(run.id).is_same


ESCALATED = {**FINANCE, "remind_before": ["4h", "1h"], "escalate_after": "12h", "escalate_to": {"roles": ["lead"]}}


def test_others_decide_once_it_is_escalated_and_not_before(
    agent: Make, tools: LoggedTools, clock: Clock, tmp_path: Path
) -> None:
    own = agent(ESCALATED)
    run = own.start("g", plan=PAY)
    assert "on also: `the role lead`" in described(run)

    run = own.resume(run.id, APPROVE, by=LEA)
    assert "may not decide this" in run.request["error"] and work(tmp_path) == []  # type: ignore[index]
    clock.ahead_s = 12.5 * HOUR
    assert own.resume(run.id, APPROVE, by=LEA).status == "succeeded" and len(tools.calls) == 1
    assert "review_escalated" in kinds(own, run) and own.replay(run.id).is_same


def test_each_reminder_and_escalation_is_written_once(agent: Make, clock: Clock, tmp_path: Path) -> None:
    own = agent(ESCALATED)
    run = own.start("g", plan=PAY)
    told: list[list[str]] = []
    for hours in (1, 13, 19, 20.5, 21, 23.5):
        clock.ahead_s = hours * HOUR
        told.append([line.split(" ", 1)[1].split(" until")[0] for line in work(tmp_path, times=2)])

    assert told == [[], ["escalated, to be decided"], [], ["to be decided"], [], ["to be decided"]]
    assert [one["after_s"] / HOUR for one in events(own, run, "review_reminded")] == [20, 23]
    assert own.show(run.id).status == "waiting" and own.replay(run.id).is_same


def test_a_worker_that_comes_late_reminds_once_and_escalates(agent: Make, clock: Clock, tmp_path: Path) -> None:
    own = agent(ESCALATED)
    run = own.start("g", plan=PAY)

    clock.ahead_s = 23.5 * HOUR
    work(tmp_path)

    assert kinds(own, run)[-2:] == ["review_escalated", "review_reminded"]


ASK = {"tools": {"pay": {"verdict": "ask"}}, "approval": "never"}


@pytest.mark.usefixtures("quick_workers")
def test_a_run_goes_on_without_a_call_that_nobody_decided_about(
    agent: Make, tools: LoggedTools, clock: Clock, tmp_path: Path
) -> None:
    called = [AIMessage("", tool_calls=[{"name": "pay", "args": {"to": "ann"}, "id": "1"}]), "done without it"]
    model = ScriptedModel(called)
    own = agent(DAY, policy=ASK, executor=model)
    run = own.start("g", plan={"steps": [{"id": "a", "objective": "pay", "tools": ["pay"]}]})
    assert run.status == "waiting"

    clock.ahead_s = 25 * HOUR
    assert len(work(tmp_path)) == 1 and own.show(run.id).status == "paused"
    own.work(once=True)

    assert own.show(run.id).answer == "done without it" and tools.calls == []
    assert "nobody decided until" in str(model.prompts[-1]) and own.replay(run.id).is_same


@pytest.mark.parametrize(("on_expire", "status"), [("reject", "budget_exhausted"), ("end", "rejected")])
def test_a_budget_that_nobody_raises_is_exhausted(agent: Make, clock: Clock, on_expire: str, status: str) -> None:
    own = agent({**DAY, "on_expire": on_expire}, policy={"approval": "never"}, budget={"tool_calls": 1})
    run = own.start("g", plan={**TWO_CALLS, "answer": "{a_result.to}"})
    assert run.request is not None and run.request["action_requests"][0]["name"] == "raise_budget"

    clock.ahead_s = 25 * HOUR
    ended = own.show(run.id)

    assert (ended.status, ended.results["a"].status) == (status, "succeeded") and own.replay(run.id).is_same


def test_a_question_that_nobody_answers_ends_the_run(agent: Make, clock: Clock) -> None:
    own = agent(DAY, policy={"approval": "never"})
    run = own.start("g", plan={"steps": [{"id": "city", "objective": "know it", "ask": "Which city?"}]})

    clock.ahead_s = 25 * HOUR

    assert own.show(run.id).status == "rejected" and own.replay(run.id).is_same


class LateLedger(MemoryLedger):
    """A ledger whose clock may be ahead."""

    ahead_s = 0.0

    async def now(self) -> float:
        return time.time() + self.ahead_s


def graph_of(logged: LoggedTools, ledger: LateLedger, saver: Any = None, **policy: Any) -> Any:
    own = [logged.tool("pay", effect="external", trusted=True)]
    policy = {"approvers": DAY, **policy}
    planner = ScriptedModel([])
    return build_graph(
        planner=planner, tools=own, policy=policy, ledger=ledger, checkpointer=saver or InMemorySaver(), replan="never"
    )


def test_a_late_answer_to_the_graph_approves_neither_its_call_nor_the_next(tools: LoggedTools) -> None:
    ledger = LateLedger()
    app = graph_of(tools, ledger, **ASK)
    plan = {"steps": [step("a", "pay", to="ann"), step("b", "pay", to="bob")]}
    first = app.invoke({"goal": "g", "plan": plan}, on_thread())
    assert len(first["__interrupt__"][0].value["action_requests"]) == 2

    ledger.ahead_s = 25 * HOUR
    state = app.invoke(Command(resume={"decisions": [APPROVE, APPROVE]}), on_thread())

    assert tools.calls == [] and state["status"] == "failed"
    said = [message.text for message in state["messages"]]
    assert any(text.startswith("Nobody decided until") for text in said)
    assert any(text.startswith("Not counted: the answer came too late") for text in said)
    found = [event.kind for event in asyncio.run(ledger.events(RunKey("thread", 1)))]
    assert found.count("late_answer") == 1 == found.count("review_expired")


def test_a_late_answer_is_not_taken_for_one_to_the_next_request(tools: LoggedTools) -> None:
    ledger, saver = LateLedger(), InMemorySaver()
    app = graph_of(tools, ledger, saver, **ASK)
    app.invoke({"goal": "g", "plan": PAY}, on_thread())
    ledger.ahead_s = 25 * HOUR
    stricter = graph_of(tools, ledger, saver, tools=ASK["tools"])

    asked = stricter.invoke(Command(resume={"decisions": [APPROVE]}), on_thread())
    request = asked["__interrupt__"][0].value

    assert request["action_requests"][0]["name"] == "run_plan" and request["error"] is None and tools.calls == []
    found = [event.kind for event in asyncio.run(ledger.events(RunKey("thread", 1)))]
    assert found[-2:] == ["late_answer", "review_requested"]


def test_an_answer_after_the_worker_has_ended_the_run_is_on_record_too(tools: LoggedTools) -> None:
    ledger = LateLedger()
    app = graph_of(tools, ledger)
    app.invoke({"goal": "g", "plan": PAY}, on_thread())
    ledger.ahead_s = 25 * HOUR

    assert len(list(asyncio.run(look_after_reviews(Runs(ledger))))) == 1
    state = app.invoke(Command(resume=True), on_thread())

    assert state["status"] == "rejected" and tools.calls == []
    (late,) = [event for event in asyncio.run(ledger.events(RunKey("thread", 1))) if event.kind == "late_answer"]
    assert late.payload["answer"]["value"] is True


def test_a_chat_that_goes_on_after_the_end_hears_of_it(tools: LoggedTools) -> None:
    ledger = LateLedger()
    app = graph_of(tools, ledger)
    app.invoke({"goal": "g", "plan": PAY}, on_thread())
    ledger.ahead_s = 25 * HOUR

    state = app.invoke({"messages": [("user", "continue")]}, on_thread())

    assert state["status"] == "rejected" and "nobody decided until" in state["messages"][-1].text


def test_a_run_in_the_hands_of_an_owner_is_left_to_it(agent: Make, clock: Clock, tmp_path: Path) -> None:
    own = agent(DAY)
    run = own.start("g", plan=PAY)
    clock.ahead_s = 25 * HOUR

    async def look() -> list[str]:
        async with open_runs(tmp_path / "runs.db") as runs, runs.ledger.owned(await runs.find(run.id)):
            return list(await look_after_reviews(runs))

    assert asyncio.run(look()) == [] and len(work(tmp_path)) == 1


def test_what_was_redacted_since_changes_no_deadline(agent: Make, clock: Clock) -> None:
    own = agent(FINANCE)
    run = own.start("pay hunter2", plan=PAY)
    own.redact(run.id, "hunter2", reason="a secret")
    assert own.inbox()[0].until == run.request["until"]  # type: ignore[index]

    clock.ahead_s = 25 * HOUR
    assert own.show(run.id).status == "rejected" and own.verify(run.id).fault is None


def test_an_exported_run_that_expired_is_verified_and_played_again(agent: Make, tmp_path: Path) -> None:
    own = agent(AT_ONCE)
    run = own.show(own.start("g", plan=PAY).id)

    own.export(run.id, tmp_path / "run.jsonl")

    assert own.verify(tmp_path / "run.jsonl").fault is None and own.replay(tmp_path / "run.jsonl").is_same
