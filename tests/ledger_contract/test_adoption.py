"""A thread that one database has is stored by another as it is, and goes on there."""

from pathlib import Path

import pytest
from ledger_drivers import DRIVERS, NOTE, PARAMETERS, Driver, use, write

from planner_executor.graph.errors import InputError
from planner_executor.graph.ledger.export import to_bytes
from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.transcript import Transcript
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.values import keep
from planner_executor.graph.testing import drafted

KEY = SealKey(b"a secret of many letters")
KEPT = keep("x" * 9_000)
STARTED = drafted("run_started", {"goal": "g\0", "constraints": [], "tags": ["a"]})
FINISHED = drafted("call_finished", KEPT.fields(), "a")


@pytest.fixture(params=PARAMETERS)
def other(request: pytest.FixtureRequest, tmp_path: Path) -> Driver:
    folder = tmp_path / "other"
    folder.mkdir()
    return DRIVERS[request.param](folder)


def test_a_thread_is_exported_with_the_same_bytes_wherever_it_is(driver: Driver, other: Driver) -> None:
    async def fill(ledger: RunStore) -> list[Transcript]:
        runs = [await ledger.open_run("t\0", [STARTED]) for _ in range(2)]
        await write(ledger, runs[1], [FINISHED, NOTE], artifacts=[KEPT])
        return [await ledger.transcript(run) for run in runs]

    async def adopted(ledger: RunStore) -> list[Transcript]:
        await ledger.adopt(transcripts)
        return [await ledger.transcript(RunKey("t\0", n)) for n in (1, 2)]

    transcripts = use(driver, fill, key=KEY)
    assert list(map(to_bytes, use(other, adopted, key=KEY))) == list(map(to_bytes, transcripts))


def test_a_thread_that_is_adopted_is_listed_counted_and_goes_on(driver: Driver) -> None:
    async def fill(ledger: RunStore) -> list[Transcript]:
        runs = [await ledger.open_run("t", [STARTED]) for _ in range(2)]
        await write(ledger, runs[1], [FINISHED, NOTE], artifacts=[KEPT])
        return [await ledger.transcript(run) for run in runs]

    transcripts = use(DRIVERS["memory"](Path()), fill, key=KEY)

    async def adopt(ledger: RunStore) -> None:
        await ledger.adopt(transcripts)
        second, first = await ledger.page(RunFilter(tag="a"))
        assert (second.id, second.seq, first.id) == ("t.2", 3, "t.1") and second.goal == "g\0"
        assert (await ledger.counters()).value("runs_total") == 2
        assert await write(ledger, RunKey("t", 2), [NOTE]) == 4 and await ledger.misindexed() == []
        assert await ledger.artifact(str(KEPT.named["id"])) == KEPT.text
        assert await ledger.open_run("t", [STARTED]) == RunKey("t", 3)
        with pytest.raises(InputError):
            await ledger.adopt(transcripts)

    use(driver, adopt, key=KEY)
