"""What remains of threads that were removed: a chain of rows without words, found by those who know a name."""

import pytest

from planner_executor.graph.errors import LedgerSealError
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.tombstone import (
    Tombstones,
    chain_faults,
    digests_of,
    end_fault,
    gaps,
    thread_digest,
    tombstone_after,
)
from planner_executor.graph.ledger.transcript import Transcript
from planner_executor.graph.record.run_key import NUMBER_DIGITS

KEY = SealKey(b"a secret of many letters")


def buried(*threads: tuple[str, int]) -> Tombstones:
    rows = []
    for thread, first in threads:
        transcript = Transcript(thread, first, (), 0)
        rows.append(tombstone_after(rows[-1] if rows else None, [transcript], 1.0, "os:ada", None))
    return Tombstones(tuple(rows))


def test_a_tombstone_holds_no_word_of_the_thread() -> None:
    (row,) = buried(("secret name", 1)).rows

    assert "secret" not in str(row.stored()) and list(chain_faults(buried(("a", 1), ("b", 1)), None)) == []


def test_a_row_of_another_type_is_a_changed_one() -> None:
    (row,) = buried(("a", 1)).rows
    for place, cell in enumerate((2, b"x", "1", "no json", "at", 5, 7, b"x"), 0):
        stored = [*row.stored(), None]
        stored[place] = cell
        assert list(chain_faults(Tombstones.read([stored]), None)), place


def test_rows_are_read_as_they_were_stored_with_the_seal_of_the_last() -> None:
    runs = [Transcript("a", n, (), 0) for n in (1, 2)]
    first = tombstone_after(None, runs, 1.0, "os:ada", None)
    found = Tombstones((first, tombstone_after(first, runs, 2.0, "os:ada", KEY)), b"seal")

    assert (
        Tombstones.read([(*row.stored(), seal) for row, seal in zip(found.rows, (None, b"seal"), strict=True)]) == found
    )
    assert Tombstones.read([]) == Tombstones()
    assert (found.runs, found.rows[1].last, found.rows[1].key) == (4, 2, KEY.id)
    assert list(chain_faults(found, None)) == [], "without the key nothing is said of the seal"


def test_the_hash_of_a_tombstone_is_the_same_in_every_release() -> None:
    row = tombstone_after(None, [Transcript("ä", 1, (), 0)], 1.0, "os:zoë", None)

    assert row.link.hex()[:16] == "b2a0a4df3312eaee"


def test_the_end_of_the_chain_is_what_the_key_has_sealed() -> None:
    bare, sealed = (tombstone_after(None, [Transcript("a", 1, (), 0)], 1.0, "os:ada", key) for key in (None, KEY))
    seal = KEY.seal(sealed.link)

    for last, made, key, fits in (
        (None, None, KEY, True),
        (bare, None, KEY, True),
        (bare, b"x", None, False),
        (bare, b"x", KEY, False),
        (sealed, seal, KEY, True),
        (sealed, b"x", KEY, False),
        (sealed, None, KEY, False),
        (sealed, seal, None, False),
    ):
        fault = end_fault(last, made, key)
        assert (fault is None) is fits and (fits or str(fault).startswith("the chain of tombstones "))
        found = Tombstones((last,) if last else (), made)
        assert list(chain_faults(found, key)) == ([] if fits or key is None else [fault])
        if fits:
            assert found.end("db", key) is last
        else:
            with pytest.raises(LedgerSealError):
                found.end("db", key)


def test_a_tombstone_that_is_missing_or_was_changed_is_named() -> None:
    one, two = buried(("a", 1), ("b", 1)).rows

    assert list(chain_faults(Tombstones((two,)), None)) == ["tombstone 1 is missing"]
    assert list(chain_faults(Tombstones((one, two._replace(by="os:eve"))), KEY)) == ["tombstone 2 was changed"]


@pytest.mark.parametrize("n", ["x", "\u0663", str(10**NUMBER_DIGITS)], ids=["x", "another digit", "a digit more"])
def test_what_is_no_number_of_a_run_names_none(n: str) -> None:
    assert buried(("a", 3), ("a", 10**NUMBER_DIGITS)).named(f"a.{n}") is None


def test_the_number_of_a_run_may_have_as_many_digits_as_there_are() -> None:
    last = 10 ** (NUMBER_DIGITS - 1)

    assert buried(("a", last)).named(f"a.{last}") is not None


def test_a_run_and_a_thread_are_found_by_name() -> None:
    found = buried(("a", 1), ("a.1", 1), ("a", 2))
    numbers = {
        name: (row.number if (row := found.named(name)) else None) for name in ("a", "a.1", "a.2", "a.1.1", "a.9", "")
    }

    assert numbers == {"a": 3, "a.1": 1, "a.2": 3, "a.1.1": 2, "a.9": None, "": None}


@pytest.mark.parametrize(("name", "thread"), [("a.1", "a"), ("a.b.12", "a.b"), ("a", ""), ("", "")])
def test_a_name_may_be_that_of_a_run_or_of_a_thread(name: str, thread: str) -> None:
    assert digests_of(name) == (thread_digest(thread), thread_digest(name))


def test_gaps_are_runs_that_went_without_a_tombstone() -> None:
    assert list(gaps([("a", 3)], buried(("a", 1), ("a", 2)), 3)) == []
    assert list(gaps([("a", 3), ("a", 5)], buried(), 2)) == ["run a.4 was removed without a tombstone"], "a copy"
    assert list(gaps([("a", 2)], buried(("a", 2)), 2)) == ["run a.2 is there, and a tombstone of it"]
    assert list(gaps([], buried(("a", 1), ("a", 3)), 2)) == [
        "runs between tombstone 2 and the one before it of the same thread have none"
    ]
    assert list(gaps([], buried(), 1)) == ["1 run has neither a record nor a tombstone; 1 were started"]
    assert list(gaps([("a", 3)], buried(("a", 1)), 2)) == ["run a.2 was removed without a tombstone"]
