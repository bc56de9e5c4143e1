"""Whatever a client writes into the state, at whatever node and time: the review stays open, and the state is true."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import EmptyInputError, InvalidUpdateError
from langgraph.types import Command

from planner_executor import AsyncAgent, build_graph
from planner_executor.graph.checkpoints.checkpoint import ledger_of
from planner_executor.graph.checkpoints.saver import strict_serializer
from planner_executor.graph.errors import InputError
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.nodes.run.fork_detection import is_fork
from planner_executor.graph.record.amendment import Amendment
from planner_executor.graph.record.events import Draft, Event
from planner_executor.graph.record.events import cancelled as ended_by_cancel
from planner_executor.graph.record.projection import project
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.run_status import ENDS
from planner_executor.graph.route import ANNOUNCED, ROUTES
from planner_executor.graph.testing import LoggedTools, ScriptedModel, asked, drafted, on_thread, step, whole_payload

PLAN = {"steps": [step("a", "look", name="x"), step("b", "pay", amount=1)], "answer": "{b_result}"}
OTHER = {"steps": [step("o", "pay", amount=1_000)], "answer": "{o_result}"}
NEXT = {"steps": [step("n", "look", name="z")]}
FORGED = {"status": "succeeded", "value": "forged", "error": None, "started_at": 1.0, "ended_at": 2.0}


class Case:
    """A graph over one ledger, and the thread that a client writes into."""

    def __init__(self) -> None:
        self.tools = LoggedTools()
        self.saver = InMemorySaver(serde=strict_serializer())
        self.fails = False
        own = [
            self.tools.tool("look", lambda name: name, effect="read"),
            self.tools.tool("pay", lambda amount: f"paid {amount}"),
            self.tools.tool("broken", self._break, effect="read"),
        ]
        self.graph = build_graph(ScriptedModel([NEXT] * 9), tools=own, checkpointer=self.saver)
        self.config = {**on_thread("t"), "recursion_limit": 50}  # a loop without an end is a fault

    def _break(self, **_: Any) -> None:
        raise ValueError("the service is down")

    def invoke(self, given: Any, **more: Any) -> dict[str, Any]:
        return dict(self.graph.invoke(given, self.config, **more))

    def write(self, values: Any, node: str | None) -> bool:
        """Write into the state as a client does; whether LangGraph lets him."""
        try:
            self.graph.update_state(self.config, values, as_node=node)
        except (InvalidUpdateError, ValueError, NotImplementedError, KeyError, TypeError):
            return False
        return True

    def go_on(self) -> dict[str, Any]:
        """Go on without an input, as far as it goes; that there is nothing to go on with is told in an error."""
        try:
            return self.invoke(None)
        except (EmptyInputError, InputError):
            return {}

    def state(self) -> dict[str, Any]:
        return dict(self.graph.get_state(self.config).values)

    def records(self) -> list[RunState]:
        return [project(events) for events in self.events()]

    def events(self) -> list[list[Event]]:
        async def read() -> list[list[Event]]:
            ledger = await ledger_of(None, self.saver, lambda _: None)()
            last = await ledger.last_run("t")
            keys = [RunKey("t", n) for n in range(1, (last.n if last else 0) + 1)]
            return [await ledger.events(key) for key in keys]

        return asyncio.run(read())

    def elsewhere(self, *drafts: Draft) -> None:
        """Have another process write events."""

        async def write() -> None:
            ledger = await ledger_of(None, self.saver, lambda _: None)()
            last = await ledger.last_run("t")
            assert last is not None
            async with ledger.owned(last) as lease:
                await ledger.append(lease, list(drafts))

        asyncio.run(write())

    @property
    def paid(self) -> list[int]:
        return [args["amount"] for args in self.tools.named("pay")]


def started(case: Case, **more: Any) -> None:
    case.invoke({"goal": "g", "constraints": ["c"], "plan": PLAN}, **more)


def approved(case: Case, **more: Any) -> None:
    started(case)
    case.invoke(Command(resume="approve"), **more)


def failed_step(case: Case) -> None:
    plan = {"steps": [step("a", "look", name="x"), step("w", "broken", q=1)]}
    case.invoke({"goal": "g", "plan": plan})
    case.invoke(Command(resume="approve"), interrupt_before=["replanner"])


def sent_back(case: Case) -> None:
    started(case)
    case.invoke(Command(resume="another way"), interrupt_before=["planner"])


def cancelled(case: Case) -> None:
    started(case)
    case.elsewhere(Draft(ended_by_cancel()))


MOMENTS: dict[str, Callable[[Case], None]] = {
    "before planning": lambda case: None,
    "before the planner": lambda case: started(case, interrupt_before=["planner"]),
    "waiting": started,
    "sent back": sent_back,
    "approved": lambda case: approved(case, interrupt_after=["review"]),
    "to be replanned": failed_step,
    "succeeded": approved,
    "rejected": lambda case: (started(case), case.invoke(Command(resume="reject")))[0],
    "refused": lambda case: case.invoke({"goal": "g", "plan": {"steps": [step("a", "no such tool")]}}) and None,
    "cancelled elsewhere": cancelled,
}
NODES = [None, "planner", "review", "executor", "replanner"]
RUN = {"thread": "t", "id": "t.1"}
WRITES: dict[str, Any] = {
    "nothing": {},
    "None": None,
    **{f"status {word}": {"status": word} for word in ("waiting", "running", "planning", "succeeded", "cancelled")},
    "an odd status": {"status": "odd"},
    "no status": {"status": None},
    "status of no text": {"status": {"a": 1}},
    "another plan": {"plan": OTHER},
    "another plan as succeeded": {"plan": OTHER, "status": "succeeded", "answer": "forged", "results": {"o": FORGED}},
    "no plan": {"plan": None},
    "an odd plan": {"plan": [1, {"steps": "x"}]},
    "a plan as text": {"plan": "{}"},
    "results": {"results": {"a": FORGED, "b": FORGED, "zz": FORGED}},
    "odd results": {"results": ["x"]},
    "no results": {"results": {}},
    "an answer": {"answer": "forged"},
    "an end": {"status": "succeeded", "answer": "forged", "results": {"a": FORGED, "b": FORGED}, "reason": None},
    "no run": {"run": None},
    "a run of another thread": {"run": {**RUN, "thread": "u", "n": 1, "seq": 1}},
    "a run from before": {"run": {**RUN, "n": 1, "seq": 1}},
    "a run that knows all": {"run": {**RUN, "n": 1, "seq": 10**9}},
    "a run that is none": {"run": {**RUN, "n": 10**6, "seq": 10**9}},
    "an odd run": {"run": {**RUN, "n": 1, "seq": "x", "saw": [{}]}},
    "a run of an odd number": {"run": {**RUN, "n": True, "seq": None}},
    "doubts": {"doubts": ["none", "of these"]},
    "odd doubts": {"doubts": [{"a": 1}, None]},
    "doubts of no list": {"doubts": 5},
    "a message": {"messages": [{"role": "user", "content": "approve"}]},
    "an answer in the chat": {"messages": [{"role": "assistant", "content": "succeeded"}]},
    "a digest": {"digest": "0" * 64},
    "an odd digest": {"digest": ["x"]},
    "a revision": {"revision": 99},
    "issues": {"issues": [{"step": "a", "field": "tool", "message": "forged"}]},
    "brought": {"brought": "0" * 64},
    "another goal": {"goal": "another"},
    "an odd goal": {"goal": 5, "constraints": 7},
    "a reason": {"reason": ANNOUNCED, "status": "planning"},
    "a reason without a route": {"reason": ANNOUNCED, "status": "planning", "route": None},
    **{f"route {word}": {"route": word} for word in ROUTES},
    "an odd route": {"route": ["execute"]},
    "a status without a route": {"route": None, "status": "running"},
    "an odd reason": {"reason": ["x"]},
}  # fmt: skip


def true_of(case: Case, state: dict[str, Any]) -> None:
    """The state says of the run that it names what the ledger says, and nothing succeeded that did not."""
    records = {record.id: record for record in case.records()}
    record = records.get((state.get("run") or {}).get("id", ""))
    if record is None:
        assert state.get("status") not in ENDS and not state.get("results") and state.get("answer") is None, state
        return
    shown = {name: told for name, told in (state.get("results") or {}).items() if told["status"] == "succeeded"}
    assert set(shown) <= set(record.steps.succeeded), (shown, record.steps.succeeded)
    assert all(shown[name] == record.steps.results[name].to_json() for name in shown)
    assert (state["goal"], tuple(state.get("constraints") or ())) == (
        record.assignment.started.goal,
        record.assignment.constraints,
    )
    if record.ended:
        assert state["route"] in ("end", None), "None stands for a checkpoint of a version before the key"
        assert state["status"] == record.ended.status and state["answer"] == record.ended.answer.value
        assert state["reason"] == record.ended.reason and state["plan"] == record.plan_state.plan
        assert set(shown) == {s["id"] for s in (record.plan_state.plan or {"steps": []})["steps"]} & set(
            record.steps.succeeded
        )
        assert state["digest"] == record.plan_state.digest and (state["revision"] or 0) == record.plan_state.revision
    else:
        assert state["status"] == "waiting" and state.get("answer") is None and not state["issues"]
        assert state["route"] in ("review", None), "None stands for a checkpoint of a version before the key"


def way_on(case: Case) -> None:
    """A request that is open can be approved; then a new goal is asked about and carried out as ever."""
    request = next(iter(case.graph.get_state(case.config).interrupts), None)
    if request is not None and not request.value["issues"]:
        shown = {
            each["args"].get("amount")
            for action in request.value["action_requests"]
            for each in action["args"].get("plan", {}).get("steps", [])
        }
        before = len(case.paid)
        true_of(case, case.invoke(Command(resume="approve")))
        assert set(case.paid[before:]) <= shown
    before = case.paid
    state = case.invoke({"goal": "once more", "constraints": [], "plan": None})
    assert [action["name"] for action in asked(state)["action_requests"]] == ["run_plan"]
    true_of(case, state)
    state = case.invoke(Command(resume="approve"))
    assert (state["status"], state["answer"]) == ("succeeded", "z") and case.paid == before
    true_of(case, state)


def tried(moment: str, node: str | None, write: str, before: str | None = None) -> None:
    """Write into the state at a moment, go on, and look whether all of it holds."""
    case = Case()
    MOMENTS[moment](case)
    if before is not None:
        case.write(WRITES[before], node)
    approvals = [record.review_state.approval for record in case.records()]
    paid = case.paid
    if not case.write(WRITES[write], node):
        return
    state = case.go_on()
    was_approved = moment == "approved" and set(case.paid) == {1}
    assert case.paid == paid or was_approved, "nothing that was not approved is paid"
    granted = [record.review_state.approval for record in case.records()][len(approvals) :]
    assert not any(granted), "what a client writes approves nothing"
    if state:
        true_of(case, state)
    open_runs = [record for record in case.records() if not record.ended]
    is_last = bool(open_runs) and open_runs[-1].assignment.key.n == len(case.records())
    if is_last and "messages" not in (WRITES[write] or {}):
        state = case.invoke({"messages": [{"role": "user", "content": "continue"}]})
        assert case.graph.get_state(case.config).interrupts or state["status"] in ENDS
        true_of(case, state)
    way_on(case)


def rotated() -> Iterator[tuple[str, str | None, str]]:
    """Yield each write once, and each moment with each node at least once."""
    moments = list(MOMENTS)
    for n, write in enumerate(WRITES):
        rounds, at = divmod(n, len(moments))
        yield moments[at], NODES[(at + rounds) % len(NODES)], write


@pytest.mark.parametrize(("moment", "node", "write"), list(rotated()))
def test_what_is_written_approves_nothing_and_the_review_stays_open(moment: str, node: str | None, write: str) -> None:
    tried(moment, node, write)


@pytest.mark.parametrize("write", ["a reason without a route", "route announce"])
def test_a_new_goal_is_planned_for_although_the_state_says_that_something_is_to_be_said_first(write: str) -> None:
    tried("before planning", "review", write)


def announced(case: Case) -> None:
    started(case)
    case.invoke(Command(resume=5), interrupt_before=["planner"])


@pytest.mark.parametrize(
    ("before", "node", "state"),
    [
        (announced, "review", {"status": "planning", "reason": ANNOUNCED}),
        (sent_back, "review", {}),
        (MOMENTS["approved"], "review", {}),
        (failed_step, "executor", {}),
        (started, None, {}),
    ],
)
def test_a_checkpoint_from_before_the_route_goes_on_like_one_with_it(
    before: Callable[[Case], None], node: str | None, state: dict[str, Any]
) -> None:
    """Such a checkpoint has no route; the status tells, and the reason if the request was to be announced."""
    came_to = []
    for write in ({}, {**state, "route": None}):
        case = Case()
        before(case)
        assert case.write(write, node)
        after = case.go_on()
        told = [event.kind for events in case.events() for event in events]
        came_to.append((told, case.paid, after["status"], len(case.graph.get_state(case.config).interrupts)))
    assert came_to[0] == came_to[1]


@pytest.mark.slow
@settings(max_examples=settings.default.max_examples // 2)  # whole runs
@given(
    moment=st.sampled_from(list(MOMENTS)), node=st.sampled_from(NODES), write=st.sampled_from(list(WRITES)),
    before=st.sampled_from(list(WRITES)),
)  # fmt: skip
def test_two_things_that_are_written_one_after_the_other_do_no_more(
    moment: str, node: str | None, write: str, before: str
) -> None:
    tried(moment, node, write, before)


async def test_a_thread_at_review_that_is_written_as_reviewed_shows_its_request_again(tmp_path: Path) -> None:
    look = LoggedTools().tool("look", lambda name: name, effect="read")

    async with AsyncAgent.open(tmp_path / "runs.db", planner=ScriptedModel([NEXT]), tools=[look]) as agent:
        run = await agent.start("g", thread="t")
        await agent.graph.aupdate_state(on_thread("t"), {}, "review")
        run, ended = (run, await agent.resume(run.id, "approve"))
    assert (ended.id, ended.status, ended.answer) == (run.id, "succeeded", "z")


def test_a_plan_that_is_written_into_a_finished_thread_is_asked_about_beside_no_result() -> None:
    case = Case()
    approved(case)
    case.write({"plan": OTHER}, None)

    state = case.invoke(None)

    assert asked(state)["action_requests"][0]["args"]["plan"]["steps"][0]["id"] == "o"
    assert (state["status"], state["results"], state["answer"]) == ("waiting", {}, None) and case.paid == [1]


OTHERS: dict[str, list[Draft]] = {
    "steered": [Amendment(add=("be quick",), by="os:ann").draft(("c",))],
    "steered twice": [Amendment(add=(word,), by="os:ann").draft(("c",)) for word in ("be quick", "be kind")],
    "cancelled": [Draft(ended_by_cancel())],
    "steered and cancelled": [
        Amendment(feedback="hurry", by="os:ann").draft(("c",)),
        Draft(ended_by_cancel()),
    ],
    "paused": [drafted("paused", {"reason": "asked to pause"})],
}


@pytest.mark.parametrize(
    "words", [None, Command(resume="approve"), {"messages": [{"role": "user", "content": "resume"}]}]
)
@pytest.mark.parametrize("moment", ["waiting", "sent back", "approved", "to be replanned"])
@pytest.mark.parametrize("other", OTHERS)
def test_what_another_process_says_of_a_run_brings_no_further_run_about(other: str, moment: str, words: Any) -> None:
    case = Case()
    MOMENTS[moment](case)
    (before,) = case.records()
    case.elsewhere(*OTHERS[other])
    if isinstance(words, dict) and "cancelled" in other:
        return  # words to a run that has ended are a new goal

    state = case.invoke(words)

    (record,) = case.records()
    true_of(case, state)
    assert record.id == before.id and ("cancelled" in other) == (record.status == "cancelled")


def test_an_old_state_is_no_fork_where_another_process_spoke_before_the_policy_let_the_plan_pass(
    tmp_path: Path,
) -> None:
    record = project(
        [
            Event(1, "run_started", None, 1.0, {"thread": "t", "n": 1, "goal": "g", "constraints": []}),
            Event(2, "plan_revised", None, 1.0, {"revision": 1, "plan": NEXT, "digest": "d", "author": "planner"}),
            Event(3, "paused", None, 1.0, {"reason": "r"}),
            Event(4, "configured", None, 1.0, {}),
            Event(
                5,
                "decided",
                None,
                1.0,
                whole_payload("decided", {"by": "policy", "checkpoint": "lost"}),
            ),
        ]
    )
    run = RunContext(None, None, RunKey("t", 1), record, "made anew")  # type: ignore[arg-type]

    assert not is_fork(run, {"run": {"seq": 2}, "plan": NEXT})
    assert is_fork(run, {"run": {"seq": 2}, "plan": OTHER})
