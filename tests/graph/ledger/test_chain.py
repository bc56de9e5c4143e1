"""The hash chain: what it covers, and which event is named when one was changed, taken out or added."""

import json
from dataclasses import replace
from typing import Any

import pytest

from planner_executor.graph.ledger.chain import SALT_BYTES, Fault, Row, fault_of, first_link, link, payload_digest
from planner_executor.graph.ledger.chaining import chained
from planner_executor.graph.testing import drafted

RUN = "t.1"
START = first_link(RUN)
LEFT = '{"to":"[redacted]"}'
SOMETHING: Any = {"a number": 5, "bytes": b"x", "nothing": None, "text": "x"}


def written(count: int = 5) -> list[Row]:
    drafts = [drafted("paused", {"reason": f"é{number}"}, "a") for number in range(count)]
    return chained(drafts, 0, START)[0]


def relinked(row: Row, **fields: Any) -> Row:
    """Return a row that somebody changed who can make links, but no digests."""
    changed = row._replace(**fields)
    return changed._replace(link=link(START, changed.seq, changed.kind, changed.step, changed.at, changed.digest))


def redacted(rows: list[Row], seq: int, payload: str = LEFT, **bound: Any) -> list[Row]:
    """Return the rows with a redacted one, and the event that holds its digest."""
    digest = payload_digest(b"", payload).hex()
    entry = drafted("redacted", {"left": [{"seq": seq, "digest": digest, **bound}]})
    more, _ = chained([entry], len(rows), rows[-1].link)
    return [row._replace(payload=payload, salt=b"") if row.seq == seq else row for row in rows] + more


def test_what_earlier_versions_wrote_has_the_same_hashes() -> None:
    assert START.hex() == "ee67b7f297e8c6e008d5f60359aeb8953fbf3b3fbb0ca8b8ab0475b642f2fd27"
    assert (
        payload_digest(b"salt", '{"é":1}').hex() == "6bf3dbdc966ab4351a7ab4a74669fda88d10c3f14500f8c63e30ece1f98d972c"
    )
    assert (
        link(b"before", 2, "paused", "é", 1.5, b"digest").hex()
        == "a2e739d57002a302ef724ca31078f9eea91b9b3709e77529d9087e2d4d68c66a"
    )
    assert SALT_BYTES == len(written()[0].salt) == 16


def test_a_row_is_whole_after_the_one_that_it_was_chained_to() -> None:
    first, second, *_ = written()

    assert first.is_whole(START, None) and second.is_whole(first.link, None)
    assert not second.is_whole(START, None)
    assert first.is_whole(START, "of another event")


@pytest.mark.parametrize("field", ["kind", "step", "at", "payload", "salt", "digest", "link"])
@pytest.mark.parametrize("value", SOMETHING.values(), ids=SOMETHING)
def test_a_cell_of_any_other_value_or_type_is_damage_and_no_crash(field: str, value: Any) -> None:
    row = written()[0]

    assert not row._replace(**{field: value}).is_whole(START, None)


@pytest.mark.parametrize(("field", "value"), [("step", 5), ("at", 1), ("step", True)])
def test_a_cell_of_another_type_is_damage_even_if_its_link_fits(field: str, value: Any) -> None:
    assert not relinked(written()[0], **{field: value}).is_whole(START, None)


def test_a_digest_of_another_type_is_damage_in_a_redacted_row_too() -> None:
    row = written()[0]._replace(payload=LEFT, salt=b"", digest="text")

    assert not row.is_whole(START, payload_digest(b"", LEFT).hex())


def test_a_payload_of_ones_own_is_damage_even_if_its_link_fits() -> None:
    assert not relinked(written()[0], payload="{}").is_whole(START, None)


def test_a_redacted_payload_is_the_one_that_was_put_there() -> None:
    rows = redacted(written(), 2)

    assert rows[1].is_redacted and not rows[0].is_redacted
    assert fault_of(RUN, rows, 6) is None
    assert fault_of(RUN, [rows[0], rows[1]._replace(payload='{"to":"me"}'), *rows[2:]], 6) == Fault(2, "was changed")
    assert fault_of(RUN, redacted(written(), 2, digest="0" * 64), 6) == Fault(2, "was changed")


def test_an_emptied_salt_alone_redacts_nothing() -> None:
    rows = written()
    rows[1] = rows[1]._replace(payload="{}", salt=b"")

    assert fault_of(RUN, rows, 5) == Fault(2, "was changed")


def test_only_an_event_of_that_kind_redacts() -> None:
    rows = redacted(written(), 2)
    other = replace(drafted("paused", {}), step="a")
    vars(other)["payload"] = json.loads(rows[-1].payload)
    forged, _ = chained([other], 5, rows[-2].link)

    assert fault_of(RUN, [*rows[:-1], *forged], 6) == Fault(2, "was changed")


@pytest.mark.parametrize("payload", [b"", 5, "no JSON", "[]", "{}", '{"left":5}', '{"left":[{}]}', "[" * 100_000])
def test_a_redaction_that_cannot_be_read_redacts_nothing(payload: Any) -> None:
    rows = redacted(written(), 2)
    rows[-1] = rows[-1]._replace(payload=payload or rows[-1].payload.encode())

    assert fault_of(RUN, rows, 6) == Fault(2, "was changed")


def test_the_last_redaction_of_a_payload_counts() -> None:
    rows = redacted(redacted(written(), 2, '{"to":"less"}'), 2)

    assert fault_of(RUN, rows, 7) is None


def test_the_first_event_that_is_changed_or_missing_is_named() -> None:
    rows = written()

    assert fault_of(RUN, rows, 5) is None
    assert fault_of("t.2", rows, 5) == Fault(1, "was changed")
    assert fault_of(RUN, [*rows[:2], *rows[3:]], 5) == Fault(3, "is missing")
    assert fault_of(RUN, rows[1:], 5) == Fault(1, "is missing")
    assert fault_of(RUN, [*rows[:3], rows[3]._replace(kind="odd"), rows[4]._replace(kind="odd")], 5) == Fault(
        4, "was changed"
    )


def test_an_end_that_was_cut_off_or_added_to_is_named_by_the_count() -> None:
    rows = written()

    assert fault_of(RUN, rows[:3], 5) == Fault(4, "is missing")
    assert fault_of(RUN, rows, 4) == Fault(5, "was added")
    assert fault_of(RUN, rows, 3) == Fault(4, "was added")
    assert fault_of(RUN, [], 2) == Fault(1, "is missing")
    assert fault_of(RUN, [], 0) is None


def test_what_was_read_before_is_not_checked_again() -> None:
    rows = written()

    assert fault_of(RUN, rows[2:], 5, after=3) is None
    assert fault_of(RUN, [rows[2]._replace(kind="odd"), *rows[3:]], 5, after=3) is None
    assert fault_of(RUN, [*rows[2:4], rows[4]._replace(kind="odd")], 5, after=3) == Fault(5, "was changed")
    assert fault_of(RUN, rows[3:], 5, after=3) == Fault(3, "is missing")
    assert fault_of(RUN, rows[2:3], 5, after=3) == Fault(4, "is missing")
    assert fault_of(RUN, rows[2:3], 2, after=3) is None
    assert fault_of(RUN, rows[2:], 4, after=3) == Fault(5, "was added")
    assert fault_of(RUN, rows[:3], 2, after=4) == Fault(4, "is missing")
