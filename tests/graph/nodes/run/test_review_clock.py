"""What falls due for an open request: who may write it, when, and what a request that nobody decided comes to."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import pytest
from run_in_memory import PLAN, begun, planned, services

from planner_executor.graph.ledger.sqlite.memory import MemoryLedger
from planner_executor.graph.nodes.run.review_clock import refuse_late, sentence_of, settle
from planner_executor.graph.record.deadline import Deadline
from planner_executor.graph.record.events import Draft, LateAnswer, ReviewEscalated, ReviewExpired, ReviewReminded
from planner_executor.graph.record.person import NOBODY, Approver
from planner_executor.graph.record.projection import project
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.testing import drafted

T = TypeVar("T")
SINCE, UNTIL = 1_000.0, 1_100.0
DEADLINE = Deadline(SINCE, 100.0, reminders_s=(10.0, 60.0), escalations_s=(20.0, 70.0))
WHY = "nobody decided until 1970-01-01 at 00:18 UTC"
ADA = Approver("ada", "server", ("finance",))
EXECUTING = drafted("executing")
DECIDED = drafted("decided", {"decision": "reject"})
READ = drafted("step_finished", {"status": "succeeded", "value": "page"}, "a")


class Clocked(MemoryLedger):
    """A ledger with a clock that a test sets."""

    at = SINCE

    async def now(self) -> float:
        """Return the time that is set."""
        return self.at


def held(key: str, step: str = "a") -> Draft:
    return drafted("step_held", {"key": key}, step)


def asked(*names: str, on_expire: str = "reject", **more: Any) -> Draft:
    deadline = {**DEADLINE.to_json(), "on_expire": on_expire}
    return drafted("review_requested", {"asked": list(names or ("run_plan",)), "deadline": deadline, **more})


def with_clock(work: Callable[[Clocked, RunKey], Awaitable[T]], *drafts: Draft, at: float = SINCE) -> T:
    async def main() -> T:
        ledger = Clocked()
        run = (await begun(services(ledger=ledger), *drafts)).key
        ledger.at = at
        return await work(ledger, run)

    return asyncio.run(main())


def due(*drafts: Draft, at: float) -> bool:
    async def work(ledger: Clocked, run: RunKey) -> bool:
        return project(await ledger.events(run)).is_due(await ledger.now())

    return with_clock(work, *drafts, at=at)


def settled(*drafts: Draft, at: float = UNTIL) -> tuple[list[Any], RunState]:
    """Return what was written, and the run after it."""

    async def work(ledger: Clocked, run: RunKey) -> tuple[list[Any], RunState]:
        record = project(await ledger.events(run))
        found = list(await settle(ledger, run, record))
        assert list(await settle(ledger, run)) == []  # once
        assert record == project(await ledger.events(run))
        return found, record

    return with_clock(work, *drafts, at=at)


@pytest.mark.parametrize(
    ("drafts", "at", "is_so"),
    [
        ((asked(),), 1_009.9, False),
        ((asked(),), 1_010.0, True),
        ((asked(), drafted("review_reminded", {"after_s": 10.0})), 1_019.9, False),
        ((asked(), drafted("review_reminded", {"after_s": 60.0})), 1_069.9, False),
        ((asked(), drafted("review_reminded", {"after_s": 60.0})), 1_070.0, True),
        ((asked(), drafted("response_given")), UNTIL, False),
        ((asked(), DECIDED), UNTIL, False),
        ((drafted("review_requested", {"asked": ["run_plan"]}),), UNTIL, False),
        ((), UNTIL, False),
    ],
    ids=["early", "reminder", "reminded", "handled", "escalation", "response", "decided", "no deadline", "no request"],
)
def test_something_is_due_for_an_open_request_with_a_deadline_alone(drafts: Any, at: float, is_so: bool) -> None:
    assert due(*drafts, at=at) is is_so


@pytest.mark.parametrize(
    ("at", "handled_s", "found"),
    [
        (1_010.0, 0.0, [ReviewReminded(request=1, after_s=10.0, expires_at=UNTIL)]),
        (
            1_099.9,
            0.0,
            [
                ReviewEscalated(request=1, after_s=70.0, expires_at=UNTIL),
                ReviewReminded(request=1, after_s=60.0, expires_at=UNTIL),
            ],
        ),
        (1_061.0, 20.0, [ReviewReminded(request=1, after_s=60.0, expires_at=UNTIL)]),
        (1_025.0, 10.0, [ReviewEscalated(request=1, after_s=20.0, expires_at=UNTIL)]),
    ],
    ids=["reminder", "the last of each", "after an escalation", "after a reminder"],
)
def test_of_reminders_and_escalations_the_last_that_are_due_are_written_once(
    at: float, handled_s: float, found: list[Any]
) -> None:
    before = [drafted("review_reminded", {"after_s": handled_s})] if handled_s else []
    written, record = settled(asked(), *before, at=at)

    assert written == found
    assert record.review_state.request is not None and not record.ended
    assert record.review_state.request.handled_s == max(event.after_s for event in found)


def test_a_run_goes_on_without_the_calls_that_nobody_decided_about() -> None:
    written, record = settled(planned(), held("k"), held("l"), asked("run_step", "run_step"))

    (expired,) = written
    assert isinstance(expired, ReviewExpired) and not expired.ends
    assert (expired.request, expired.subject, expired.expired_at) == (1, "s", UNTIL)
    assert expired.rejected == {"k": WHY, "l": WHY}
    assert not record.ended and record.review_state.request is None and record.waiting_calls == []


REJECTED, EXHAUSTED = ("rejected", f"rejected: {WHY}"), ("budget_exhausted", f"{WHY}; a did not run")
ENDS: Mapping[str, tuple[tuple[Any, ...], tuple[str, str]]] = {
    "the policy says so": ((planned(), held("k"), asked("run_step", on_expire="end")), REJECTED),
    "a plan": ((planned(), asked("run_plan")), REJECTED),
    "a plan beside calls": ((planned(), held("k"), asked("run_step", "settle_effect")), REJECTED),
    "a gate": ((planned(), asked("run_step")), REJECTED),
    "a gate beside calls": ((planned(), held("k"), asked("run_step", "run_step")), REJECTED),
    "a budget": ((planned(), asked("raise_budget")), EXHAUSTED),
    "a budget beside calls": ((planned(), held("k"), asked("run_step", "raise_budget")), EXHAUSTED),
    "a budget before a plan": ((asked("raise_budget"),), ("budget_exhausted", f"{WHY}; there is no plan yet")),
    "a budget and an end": ((planned(), asked("raise_budget", on_expire="end")), REJECTED),
    "a budget beside a gate": ((planned(), asked("raise_budget", "run_step")), REJECTED),
    "a budget beside a plan": ((planned(), asked("raise_budget", "run_plan")), REJECTED),
}


@pytest.mark.parametrize("name", ENDS)
def test_what_a_run_cannot_do_without_ends_it(name: str) -> None:
    drafts, end = ENDS[name]
    written, record = settled(*drafts)

    assert isinstance(written[0], ReviewExpired) and written[0].ends and written[0].rejected == {}
    assert record.ended is not None and (record.ended.status, record.ended.reason) == end
    assert record.ended.answer.value is None


@pytest.mark.parametrize("name", ["raise_budget", "run_plan"])
def test_a_run_that_ends_so_has_the_answer_that_was_reached_by_steps(name: str) -> None:
    _, record = settled(planned(), READ, asked(name))
    assert record.ended is not None and record.ended.answer.value == "page"

    _, record = settled(planned({**PLAN, "answer": "said in advance"}), asked(name))
    assert record.ended is not None and record.ended.answer.value is None


def test_nothing_is_written_while_somebody_works_on_the_run_or_has_decided() -> None:
    async def work(ledger: Clocked, run: RunKey) -> list[list[Any]]:
        record = project(await ledger.events(run))
        async with ledger.owned(run) as lease:
            found = [list(await settle(ledger, run, record))]
            await ledger.append(lease, [DECIDED])
        return [
            *found,
            list(await settle(ledger, run, record)),
            [event.kind for event in await ledger.events(run)][-2:],
        ]

    assert with_clock(work, asked(), at=UNTIL) == [[], [], ["review_requested", "decided"]]


MEANWHILE: Mapping[str, tuple[Draft, ...]] = {
    "reminders": (drafted("review_escalated", {"after_s": 70.0}), drafted("review_reminded", {"after_s": 60.0})),
    "a response": (drafted("response_given"),),
    "a decision": (DECIDED,),
    "another request": (DECIDED, drafted("review_requested", {"request": 2})),
    "the end": (drafted("run_ended"),),
}


@pytest.mark.parametrize("at", [1_075.0, UNTIL - 0.1])
@pytest.mark.parametrize("name", MEANWHILE)
def test_what_others_wrote_since_the_run_was_read_is_taken_into_account(name: str, at: float) -> None:
    async def work(ledger: Clocked, run: RunKey) -> tuple[list[Any], int]:
        record = project(await ledger.events(run))
        async with ledger.owned(run) as lease:
            await ledger.append(lease, MEANWHILE[name])
        return list(await settle(ledger, run, record)), len(await ledger.events(run))

    assert with_clock(work, asked(), at=at) == ([], 2 + len(MEANWHILE[name]))


@pytest.mark.parametrize("more", [{"unseen": True}, {}], ids=["unseen", "seen"])
def test_an_answer_that_comes_too_late_is_recorded_and_refused(more: Any) -> None:
    async def work(ledger: Clocked, run: RunKey) -> Any:
        assert await refuse_late(ledger, run, "approve", ADA) is None
        await settle(ledger, run)
        why = await refuse_late(ledger, run, "approve", ADA, **more)
        return why, [event.data for event in await ledger.events(run) if isinstance(event.data, LateAnswer)]

    why, (late,) = with_clock(work, planned(), held("k"), asked("run_step"), at=UNTIL)
    assert why == late.error == f"the answer came too late: {WHY}, and the request is closed as rejected"
    assert (late.request, late.answer.value, late.unseen) == (1, "approve", bool(more))
    assert (late.approver, late.roles) == ("server:ada", ("finance",))


def test_an_answer_to_a_run_that_somebody_works_on_is_refused_and_not_recorded() -> None:
    async def work(ledger: Clocked, run: RunKey) -> Any:
        await settle(ledger, run)
        async with ledger.owned(run):
            why = await refuse_late(ledger, run, "approve", NOBODY)
        return why, [event.kind for event in await ledger.events(run)][-1]

    why, last = with_clock(work, planned(), held("k"), asked("run_step"), at=UNTIL)
    assert why is not None and last == "review_expired"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (
            ReviewReminded(request=1, after_s=1.0, expires_at=0.0),
            "t.1: to be decided until 1970-01-01 at 00:00 UTC",
        ),
        (
            ReviewEscalated(request=1, after_s=1.0, expires_at=0.0),
            "t.1: escalated, to be decided until 1970-01-01 at 00:00 UTC",
        ),
        (
            ReviewExpired(request=1, subject="s", expired_at=UNTIL, on_expire="reject"),
            f"t.1: {WHY}; the request is closed as rejected",
        ),
        (EXECUTING.data, None),
    ],
)
def test_a_worker_says_what_fell_due(data: Any, words: str | None) -> None:
    assert sentence_of(RunKey("t", 1), data) == words
