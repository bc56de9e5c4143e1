"""New events: numbered on from the last, as text that every reader finds unchanged."""

from dataclasses import replace

import pytest

from planner_executor.graph.errors import StaleRunError
from planner_executor.graph.ledger.chain import fault_of, first_link, link, payload_digest
from planner_executor.graph.ledger.chaining import chained, must_sync, of_run
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.testing import drafted

NOTE = drafted("paused", {"reason": "é", "n": [1, 2.5]}, "a")


def test_events_are_numbered_on_and_chained_to_the_last() -> None:
    first, _ = chained([NOTE], 0, first_link("t.1"))
    rows, events = chained([NOTE, NOTE], 1, first[0].link)

    assert [row.seq for row in rows] == [event.seq for event in events] == [2, 3]
    assert [(event.kind, event.step, event.payload) for event in events] == [("paused", "a", NOTE.payload)] * 2
    assert [event.at for event in events] == [row.at for row in rows]
    assert fault_of("t.1", [*first, *rows], 3) is None


def test_a_row_is_compact_json_with_a_salt_of_its_own() -> None:
    (one, two), _ = chained([NOTE, NOTE], 0, b"before")

    assert one.payload == two.payload == '{"reason":"é","n":[1,2.5]}'
    assert one.salt != two.salt and one.digest == payload_digest(one.salt, one.payload)
    assert one.link == link(b"before", 1, "paused", "a", one.at, one.digest)


@pytest.mark.parametrize(
    "draft",
    [
        drafted("paused", {"reason": float("nan")}),
        drafted("paused", {"reason": "\udc80"}),
        replace(NOTE, step="\udc80"),
    ],
    ids=["NaN", "a lone surrogate", "a lone surrogate in the step"],
)
def test_what_no_reader_would_find_unchanged_is_refused(draft: object) -> None:
    with pytest.raises(ValueError):
        chained([draft], 0, b"")  # type: ignore[list-item]


def test_events_have_to_survive_a_power_cut_if_one_of_them_may_not_be_lost() -> None:
    safe, unsafe = (drafted("call_started", {"repeatable": repeatable}, "a") for repeatable in (True, False))

    assert [must_sync(drafts) for drafts in ([], [safe], [safe, safe], [unsafe], [safe, unsafe])] == [
        *(False, False, False),
        *(True, True),
    ]


def test_an_event_of_no_step_has_none() -> None:
    (row,), _ = chained([drafted("paused")], 0, b"")

    assert row.step is None


def test_the_first_event_names_its_run() -> None:
    (started,) = of_run("runs.db", RunKey("t", 3), [drafted("run_started")])

    assert (started.payload["thread"], started.payload["n"]) == ("t", 3)


@pytest.mark.parametrize(("n", "by"), [(1, "schedule:nightly"), (2, "server:ada"), (2, None)])
def test_the_first_events_of_a_run_name_its_thread_and_number(n: int, by: str | None) -> None:
    started = drafted("run_started", {"started_by": by} if by else {})

    first, then = of_run("runs.db", RunKey("t", n), [started, NOTE])

    assert (first.payload["thread"], first.payload["n"]) == ("t", n) and then == NOTE
    assert of_run("runs.db", RunKey("t", n), []) == []


def test_a_schedule_starts_no_second_run_on_its_thread() -> None:
    with pytest.raises(StaleRunError):
        of_run("runs.db", RunKey("t", 2), [drafted("run_started", {"started_by": "schedule:nightly"})])
