from planner_executor.graph.ledger.tombstone import Tombstones, chain_faults, gaps, tombstone_after
from planner_executor.graph.ledger.transcript import Transcript


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


def test_a_run_and_a_thread_are_found_by_name() -> None:
    found = buried(("a", 1), ("a.1", 1), ("a", 2))
    numbers = {
        name: (row.number if (row := found.named(name)) else None) for name in ("a", "a.1", "a.2", "a.1.1", "a.9", "")
    }

    assert numbers == {"a": 3, "a.1": 1, "a.2": 3, "a.1.1": 2, "a.9": None, "": None}


def test_gaps_are_runs_that_went_without_a_tombstone() -> None:
    assert list(gaps([("a", 3)], buried(("a", 1), ("a", 2)), 3)) == []
    assert list(gaps([("a", 3), ("a", 5)], buried(), 2)) == ["run a.4 was removed without a tombstone"], "a copy"
    assert list(gaps([("a", 2)], buried(("a", 2)), 2)) == ["run a.2 is there, and a tombstone of it"]
    assert list(gaps([], buried(("a", 1), ("a", 3)), 2)) == [
        "runs between tombstone 2 and the one before it of the same thread have none"
    ]
    assert list(gaps([("a", 3)], buried(("a", 1)), 2)) == ["run a.2 was removed without a tombstone"]
