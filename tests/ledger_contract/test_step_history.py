"""What like steps of ended runs took: kept with a run's end, by any ledger, bounded, and made anew by `reindex`."""

from collections.abc import Mapping, Sequence
from typing import Any

from ledger_drivers import STARTED, Driver, begun

from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.record.events import Draft
from planner_executor.graph.record.sample import KEPT, Sample
from planner_executor.graph.testing import drafted

ENDED = drafted("run_ended")
LIKE = ("tool send", "tool other", "model small: look, send")
PLAN = {
    "steps": [{"id": "a", "objective": "o", "tool": "send"}, {"id": "m", "objective": "o", "tools": ["send", "look"]}]
}


def call(seconds: float, tool: str = "send", **fields: Any) -> list[Draft]:
    done = {"started_at": 100.0, "ended_at": 100.0 + seconds, **fields}
    return [drafted("call_started", {"tool": tool, "repeatable": True}, "a"), drafted("call_finished", done, "a")]


def thought(read: int, written: int) -> list[Draft]:
    key, usage = {"key": f"k{read}", "role": "executor"}, {"input_tokens": read, "output_tokens": written}
    asked = drafted("model_started", {**key, "model": "small"}, "m")
    return [asked, drafted("model_finished", {**key, "model": "small", "usage": usage}, "m")]


def seconds(found: Mapping[str, Sequence[Sample]]) -> dict[str, list[float]]:
    return {likeness: [sample.seconds for sample in samples] for likeness, samples in found.items()}


async def run_with(ledger: RunStore, *drafts: Draft) -> None:
    async with ledger.owned(await ledger.open_run("u", [STARTED])) as lease:
        for draft in drafts:
            await ledger.append(lease, [draft])


async def test_calls_that_succeeded_are_kept_when_their_run_ends_and_others_see_them(driver: Driver) -> None:
    async with begun(driver) as (run, ledger):
        other, found = driver.open(), []
        async with ledger.owned(run) as lease:
            for draft in [*call(1.5), *call(9.0, status="failed"), *call(2.5), *call(3.0, "strange")]:
                await ledger.append(lease, [draft])
            found.append(seconds(await other.step_history(LIKE)))
            await ledger.append(lease, [ENDED])
        await run_with(other, *call(4.0), ENDED)
        await run_with(other, *call(8.0))
        found.append(seconds(await ledger.step_history(LIKE)))
        await other.close()
        before, after = found
    assert before == {}
    assert {name: sorted(found) for name, found in after.items()} == {"tool send": [1.5, 2.5, 4.0]}
    assert after["tool send"][0] == 4.0


async def test_a_step_of_a_model_is_kept_with_its_tokens_and_a_rebuilt_index_says_the_same(driver: Driver) -> None:
    async with begun(driver) as (_, ledger):
        done = drafted("step_finished", {"started_at": 100.0, "ended_at": 107.0}, "m")
        await run_with(ledger, drafted("plan_revised", {"plan": PLAN}), *call(1.0), *thought(10, 2))
        await run_with(
            ledger, drafted("plan_revised", {"plan": PLAN}), *call(1.0), *thought(10, 2), *thought(20, 3), done, ENDED
        )
        kept = await ledger.step_history(LIKE)
        await ledger.reindex()
        kept, rebuilt = [kept, await ledger.step_history(LIKE)]
    assert kept == rebuilt
    (sample,) = kept[LIKE[2]]
    assert (sample.seconds, sample.tokens) == (7.0, {"small": (30, 5)})


async def test_only_the_latest_are_kept_and_a_retried_run_adds_what_came_after(driver: Driver) -> None:
    async with begun(driver) as (run, ledger):
        calls = [draft for number in range(KEPT + 10) for draft in call(float(number))]
        async with ledger.owned(run) as lease:
            await ledger.append(lease, [*calls, ENDED])
            await ledger.append(lease, [drafted("run_reopened"), *call(500.0), ENDED])
        found = seconds(await ledger.step_history(LIKE))["tool send"]
    assert len(found) == KEPT and 500.0 in found and 0.0 not in found
