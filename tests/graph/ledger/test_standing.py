"""The rows of a standing approval that holds in any run: given, used, revoked, and chained."""

import time
from collections.abc import Collection
from types import SimpleNamespace
from typing import Any

import pytest

from planner_executor.graph.errors import InputError, LedgerCorruptError, StandingSpentError
from planner_executor.graph.ledger.chain import Row
from planner_executor.graph.ledger.standing import (
    given_row,
    may_cover,
    redacted_rows,
    revoked_row,
    shortened_rows,
    use_of,
    used_row,
)
from planner_executor.graph.record.redaction import Redactor
from planner_executor.graph.record.standing_approval import StandingApproval, StandingCall, StandingUse

LATER = time.time() + 3600


def approval(**fields: Any) -> StandingApproval:
    known = {"args": {"to": {"one_of": ["ann"]}}, "at_most": 2, "until": LATER, **fields}
    return StandingApproval("sa-1", "pay", fingerprint="f", policy="p", given_by=("os:ada",), given_at=1.0, **known)


def use(call: str) -> StandingCall:
    return StandingCall("sa-1", call, "t.1")


def rows(*calls: str, by: str | None = None, **fields: Any) -> list[Row]:
    """Return the rows after these calls, and after somebody has revoked it."""
    found = [given_row(approval(**{**fields, "until": LATER}))]
    for call in calls:
        row = used_row("db", found, use(call))
        found += [row] if row is not None else []
    row = revoked_row("db", found, "sa-1", by) if by else None
    return [*found, *([row] if row is not None else [])]


def first(**fields: Any) -> str:
    """Return the payload of the first row of an approval with these fields."""
    return given_row(approval()._replace(**fields)).payload


FIRST = {
    "unbounded": first(until=None),
    "later": first(),
    "past": first(until=time.time() - 1),
    "of mail": first(tool="mail"),
    "no json": "{",
    "no approval": "{}",
    "missing": None,
}
DAMAGED = ["no json", "no approval", "missing"]


@pytest.mark.parametrize(
    ("tool", "named", "found"),
    [
        (None, (), list(FIRST)),
        ("pay", (), ["unbounded", "later", *DAMAGED]),
        ("mail", (), ["of mail", *DAMAGED]),
        ("pay", ("past", "of mail"), list(FIRST)),
    ],
)
def test_only_those_of_the_tool_that_still_hold_are_read_with_the_named_and_the_damaged(
    tool: str | None, named: Collection[str], found: list[str]
) -> None:
    assert may_cover(FIRST, tool, named) == found


@pytest.mark.parametrize("damaged", ["[]", "1", '{"tool": 1}', "[" * 100_000], ids=["list", "number", "part", "deep"])
def test_a_damaged_row_is_read_so_that_its_fault_is_found(damaged: str) -> None:
    assert may_cover({"a": damaged}, "pay", ()) == ["a"]


def test_an_approval_holds_no_longer_at_the_second_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planner_executor.graph.ledger.standing.time", SimpleNamespace(time=lambda: LATER))

    assert may_cover({"at": first(), "after": first(until=LATER + 1)}, "pay", ()) == ["after"]


def test_rows_are_numbered_and_read_as_what_they_say() -> None:
    found = rows("k1", "k2", by="os:bob")

    assert [(row.seq, row.kind, row.step) for row in found] == [
        (1, "given", None),
        (2, "used", None),
        (3, "used", None),
        (4, "revoked", None),
    ]
    assert use_of("db", "sa-1", found) == StandingUse(approval(), frozenset({"k1", "k2"}), "os:bob")
    assert use_of("db", "sa-1", found[:1]) == StandingUse(approval())


def test_a_call_counts_once() -> None:
    assert used_row("db", rows("k1", "k2"), use("k1")) is None
    assert used_row("db", rows("k1"), use("k1")) is None


@pytest.mark.parametrize(
    "found",
    [[], rows("k1", "k2"), rows(by="os:bob"), [given_row(approval(until=time.time() - 1))]],
    ids=["there is none", "spent", "revoked", "past its time"],
)
def test_a_further_call_is_refused(found: list[Row]) -> None:
    with pytest.raises(StandingSpentError) as refused:
        used_row("db", found, use("k9"))

    assert refused.value.run == "t.1"


def test_a_call_that_counts_already_is_refused_once_the_approval_is_revoked() -> None:
    with pytest.raises(StandingSpentError):
        used_row("db", rows("k1", by="os:bob"), use("k1"))


def test_one_is_revoked_once() -> None:
    assert revoked_row("db", [], "sa-1", "os:bob") is None
    assert revoked_row("db", rows(by="os:bob"), "sa-1", "os:eve") is None


@pytest.mark.parametrize("until", [None, LATER], ids=["without an end", "with an end"])
def test_an_approval_is_shortened_and_never_made_longer(until: float | None) -> None:
    found = [given_row(approval(until=until))]
    for end in (LATER - 5, LATER - 9):
        found.append(shortened_rows("db", {"sa-1": found}, end)["sa-1"])
        assert use_of("db", "sa-1", found) == StandingUse(approval(until=end))
    assert shortened_rows("db", {"sa-1": found, "sa-2": found}, LATER - 9) == {}


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_changed_row_is_damage_wherever_it_is(at: int) -> None:
    found = rows("k1", "k2")
    found[at] = found[at]._replace(payload=found[at].payload.replace("k", "x").replace("2", "9"))

    for read in (lambda: use_of("db", "sa-1", found), lambda: revoked_row("db", found, "sa-1", "os:bob")):
        with pytest.raises(LedgerCorruptError):
            read()


def test_the_rows_of_one_approval_are_none_of_another() -> None:
    with pytest.raises(LedgerCorruptError):
        use_of("db", "sa-2", rows())


def test_a_row_between_others_that_is_missing_is_damage() -> None:
    first, _, last = rows("k1", "k2")

    with pytest.raises(LedgerCorruptError) as damage:
        use_of("db", "sa-1", [first, last])

    assert "standing approval sa-1" in str(damage.value)


SECRET = "4711-0815-2222"
HELD: dict[str, Any] = {"args": {"to": {"one_of": [SECRET]}}}


def after(found: list[Row], changed: list[Row]) -> list[Row]:
    """Return the rows with the changed ones in their places, and the last one behind them."""
    by_seq = {row.seq: row for row in (*found, *changed)}
    return [by_seq[seq] for seq in sorted(by_seq)]


def test_a_value_is_taken_out_of_the_rows_that_hold_it_and_a_last_row_vouches_for_them() -> None:
    found = rows("k1", **HELD)

    changed = redacted_rows("db", {"sa-1": found}, Redactor(SECRET), "os:ada", f"asked by {SECRET}")["sa-1"]

    assert [row.seq for row in changed] == [1, 3] and not any(SECRET in row.payload for row in changed)
    left = use_of("db", "sa-1", after(found, changed))
    assert left.calls == {"k1"} and left.approval.args["to"] != HELD["args"]["to"]


def test_approvals_without_the_value_stay_as_they_are() -> None:
    assert redacted_rows("db", {"sa-1": rows("k1")}, Redactor(SECRET), "os:ada", "r") == {}


def test_a_value_that_an_approval_is_read_by_cannot_be_taken_out() -> None:
    tool = "tool-4711-0815"
    given = [given_row(approval()._replace(tool=tool))]

    with pytest.raises(InputError, match="cannot be taken out of a standing approval"):
        redacted_rows("db", {"sa-1": given}, Redactor(tool), "os:ada", "r")


def test_nothing_is_taken_out_of_rows_that_somebody_changed() -> None:
    found = rows("k1", **HELD)
    found[1] = found[1]._replace(payload=found[1].payload.replace("k1", "k2"))

    with pytest.raises(LedgerCorruptError):
        redacted_rows("db", {"sa-1": found}, Redactor(SECRET), "os:ada", "r")
