"""What is stored is checked when it is read, and nothing is written behind what is missing."""

from typing import Any

import pytest
from ledger_drivers import NOTE, STARTED, Driver, use, write

from planner_executor.graph.errors import LedgerCorruptError, LedgerSealError
from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.verification import verify
from planner_executor.graph.record.events import Draft, Event
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.values import keep
from planner_executor.graph.testing import drafted

RUN, OTHER = RunKey("t", 1), RunKey("other", 1)
KEY, ANOTHER = SealKey(b"a secret of many letters"), SealKey(b"another secret of letters")
KEPT = keep("x" * 9_000)
CHANGES = [
    ("kind", "decided"),
    ("step", "step_9"),
    ("at", 5.0),
    ("payload", '{"number":9}'),
    ("salt", b"0" * 16),
    ("salt", b""),
    ("digest", b"0" * 32),
    ("link", b"0" * 32),
]


def written(driver: Driver, *drafts: Draft, run: RunKey = RUN, key: SealKey | None = None) -> None:
    """Write a run of its own."""
    use(driver, lambda ledger: ledger.open_run(run.thread, [STARTED, *drafts], [KEPT]), key=key)


def events(driver: Driver, run: RunKey = RUN, key: SealKey | None = None) -> list[Event]:
    return use(driver, lambda ledger: ledger.events(run), key=key)


@pytest.mark.parametrize(("column", "value"), CHANGES)
@pytest.mark.parametrize("seq", [1, 2, 3])
def test_any_change_of_any_event_is_found_and_named(driver: Driver, column: str, value: Any, seq: int) -> None:
    written(driver, NOTE, NOTE)
    driver.change(RUN, seq, column, value)

    with pytest.raises(LedgerCorruptError) as caught:
        events(driver)
    assert (caught.value.run, caught.value.seq) == ("t.1", seq)


@pytest.mark.parametrize("read", ["latest", "calls_elsewhere", "redact"])
def test_every_way_to_read_events_checks_them(driver: Driver, read: str) -> None:
    call = {"key": "k", "call": 0, "tool": "pay", "args": {}, "repeatable": False, "revision": 1}
    written(driver, drafted("call_started", call, "a"))
    driver.change(RUN, 1, "at", 1.0)

    async def work(ledger: RunStore) -> None:
        with pytest.raises(LedgerCorruptError):
            if read == "latest":
                await ledger.latest("t")
            elif read == "redact":
                await ledger.redact("t", "a value", "os:ada", "asked for")
            else:
                await ledger.calls_elsewhere(RunKey("t", 2))
        assert not await ledger.is_worked_on(RUN)

    use(driver, work)


@pytest.mark.parametrize("left", [0, 1, 2])
def test_an_end_that_is_cut_off_is_found_and_no_later_event_hides_it(driver: Driver, left: int) -> None:
    written(driver, NOTE, NOTE)
    restore = driver.cut(RUN, left)

    async def work(ledger: RunStore) -> None:
        for _ in range(2):
            for refused in (ledger.events(RUN), write(ledger, RUN, [NOTE]), write(ledger, RUN, [])):
                with pytest.raises(LedgerCorruptError, match="is missing") as caught:
                    await refused
                assert (caught.value.run, caught.value.seq) == ("t.1", left + 1)

    use(driver, work)
    restore()
    assert len(events(driver)) == 3


def test_a_damaged_run_leaves_the_others_readable(driver: Driver) -> None:
    written(driver, NOTE)
    written(driver, NOTE, run=OTHER)
    driver.cut(RUN, 0)

    assert [event.seq for event in events(driver, OTHER)] == [1, 2]
    with pytest.raises(LedgerCorruptError):
        events(driver)


@pytest.mark.parametrize("content", ['["other"]', "", None])
def test_an_artifact_that_was_changed_or_removed_is_an_error(driver: Driver, content: str | None) -> None:
    written(driver, NOTE)
    name = str(KEPT.named["id"])
    driver.change_artifact(name, content)

    with pytest.raises(LedgerCorruptError):
        use(driver, lambda ledger: ledger.artifact(name))


@pytest.mark.parametrize("name", ["0" * 64, "no digest", "\udcff"])
def test_an_artifact_that_nobody_wrote_is_an_error(driver: Driver, name: str) -> None:
    with pytest.raises(LedgerCorruptError):
        use(driver, lambda ledger: ledger.artifact(name))


def test_a_transcript_holds_everything_as_it_is_stored_and_checks_nothing(driver: Driver) -> None:
    written(driver, drafted("call_finished", KEPT.fields(), "a"), NOTE, key=KEY)
    whole = use(driver, lambda ledger: ledger.transcript(RUN))
    assert verify(whole, KEY).is_whole and (whole.written, whole.key) == (3, KEY.id)
    assert whole.artifacts == {KEPT.named["id"]: KEPT.text}

    driver.change(RUN, 2, "payload", whole.rows[1].payload.replace(str(KEPT.named["id"])[:4], "\udcb4xyz"))
    found = verify(use(driver, lambda ledger: ledger.transcript(RUN)))

    assert found.fault is not None and found.fault.seq == 2


@pytest.mark.parametrize(("first", "then"), [(KEY, None), (None, KEY), (KEY, ANOTHER)])
def test_a_run_goes_on_only_with_the_key_it_was_begun_with(
    driver: Driver, first: SealKey | None, then: SealKey | None
) -> None:
    written(driver, key=first)

    async def go_on(ledger: RunStore) -> None:
        with pytest.raises(LedgerSealError) as caught:
            await write(ledger, RUN, [NOTE])
        assert caught.value.run == "t.1"

    use(driver, go_on, key=then)
    assert len(events(driver, key=then)) == 1  # it can be looked at all the same


def test_the_seal_follows_every_event_and_a_cut_end_is_seen_with_the_key_alone(driver: Driver) -> None:
    written(driver, key=KEY)
    use(driver, lambda ledger: write(ledger, RUN, [NOTE, NOTE]), key=KEY)
    assert verify(use(driver, lambda ledger: ledger.transcript(RUN)), KEY).seal == "whole"
    driver.cut(RUN, 2)
    driver.pretend(RUN, 2)

    assert len(events(driver)) == 2
    with pytest.raises(LedgerSealError):
        events(driver, key=KEY)
    with pytest.raises(LedgerSealError):
        use(driver, lambda ledger: write(ledger, RUN, [NOTE]), key=KEY)
