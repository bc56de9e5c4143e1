"""Open requests in the index: who waits longest, what is due, and by which clock."""

import time
from typing import Any

from ledger_drivers import STARTED, Driver, opened, use

from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.waiting_filter import ALL, WaitingFilter
from planner_executor.graph.testing import drafted

ASKED = {"asked": ["run_plan"], "error": None, "request": 1, "subject": "s"}
HOUR_S = 3_600.0


async def asks(ledger: RunStore, thread: str, since: float | None = None, **deadline: object) -> RunKey:
    """Start a run that waits, since then if a time is given."""
    limits = {"deadline": {"since": since, "within_s": HOUR_S, "on_expire": "reject", **deadline}} if since else {}
    return await ledger.open_run(thread, [STARTED, drafted("review_requested", {**ASKED, **limits})])


async def write(ledger: RunStore, run: RunKey, kind: str, **payload: object) -> None:
    async with ledger.owned(run) as lease:
        await ledger.append(lease, [drafted(kind, payload)])


async def test_the_longest_wait_comes_first_page_by_page(driver: Driver) -> None:
    async with opened(driver, count=1) as (ledger,):
        runs = [await asks(ledger, thread) for thread in "cab"]
        await ledger.open_run("works", [STARTED])
        first = await ledger.waiting(2)
        assert [RunKey(run.thread, run.n) for run in first] == runs[:2]
        (last,) = await ledger.waiting(2, after=ALL.place(first[-1]))
        assert last.thread == "b" and await ledger.waiting(2, after=ALL.place(last)) == []

        await write(ledger, runs[0], "run_ended", status="cancelled", reason="r")
        assert [run.thread for run in await ledger.waiting(9)] == ["a", "b"]


async def test_open_requests_are_searched_counted_and_put_in_each_order_page_by_page(driver: Driver) -> None:
    async with opened(driver, count=1) as (ledger,):
        now = await ledger.now()
        for thread, pays, within_s in (("Ärger", "refund 9 EUR", 9.0), ("b", "pay 1,200.50 EUR", 5.0), ("c", "", 7.0)):
            planned = drafted("model_finished", {"key": "m", "usage": None, "cost_usd": within_s})
            asked = ["answer_question"] if thread == "c" else ["run_plan"]
            deadline = {"since": now, "within_s": within_s * HOUR_S, "on_expire": "reject"}
            effects = [{"words": pays, "effect": "external"}] if pays else []
            more = {"asked": asked, "deadline": deadline, "effects": effects}
            await ledger.open_run(thread, [STARTED, planned, drafted("review_requested", {**ASKED, **more})])
        await asks(ledger, "d")

        async def pages(**wanted: Any) -> str:
            found, after, asked = "", None, WaitingFilter(**wanted)
            while page := await ledger.waiting(2, asked, after):
                found, after = found + "".join(run.thread[0] for run in page), asked.place(page[-1])
            assert len(found) == await ledger.waiting_count(asked)
            return found

        assert [await pages(order=order) for order in ("age", "amount")] == ["Äbcd", "bÄcd"]
        assert [await pages(order=order) for order in ("cost", "deadline")] == ["Äcbd", "bcÄd"]
        assert [await pages(text=text) for text in ("refund äRGER", "eur", "nothing", "d.1")] == ["Ä", "Äb", "", "d"]
        assert [await pages(asks=asks) for asks in (("answer_question",), ("died", "run_plan"))] == ["c", "Äbd"]
        assert await ledger.misindexed() == []


async def test_what_is_due_longest_comes_first_and_is_due_no_more_once_it_is_done(driver: Driver) -> None:
    async with opened(driver, count=1) as (ledger,):
        now = await ledger.now()
        assert abs(now - time.time()) < HOUR_S
        reminded = await asks(ledger, "reminded", now - 60, reminders_s=[30.0])
        over = await asks(ledger, "over", now - 2 * HOUR_S)
        await asks(ledger, "later", now)
        await asks(ledger, "without")
        assert await ledger.due(9) == [over, reminded]
        assert await ledger.due(1, 1) == [reminded]

        await write(ledger, reminded, "review_reminded", request=1, after_s=30.0, expires_at=now + HOUR_S)
        await write(ledger, over, "review_expired", request=1)
        assert await ledger.due(9) == [] == await ledger.misindexed()


def test_the_index_made_anew_knows_rules_votes_and_deadlines(driver: Driver) -> None:
    async def work(ledger: RunStore) -> None:
        run = await asks(ledger, "a", 1_000.0, escalations_s=[60.0])
        await write(ledger, run, "voted", request=1, subject="s", approver="server:ada")
        await write(ledger, run, "review_escalated", request=1, after_s=60.0)
        before = await ledger.summaries([run])
        await ledger.reindex()
        assert await ledger.summaries([run]) == before and await ledger.misindexed() == []
        (review,) = (row.review for row in before)
        assert review is not None and (review.voters, review.escalated_s) == (("server:ada",), 60.0)

    use(driver, work, count=1)
