"""Whatever is changed in a record, in the database or in an exported file, is found; the first bad event is named."""

import asyncio
import json
import math
import re
import sqlite3
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_executor.graph.errors import ExportError
from planner_executor.graph.ledger.chain import REDACTED, Row
from planner_executor.graph.ledger.drivers import open_ledger
from planner_executor.graph.ledger.export import export_faults, from_bytes, to_bytes
from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.transcript import Transcript
from planner_executor.graph.ledger.verification import Redaction, verify
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.values import keep
from planner_executor.graph.testing import drafted

KEY = SealKey(b"a secret of many letters")
RUN = RunKey("t", 1)
LARGE = keep("x" * 10_000)
DRAFTS = [
    drafted("plan_revised", {"revision": 1, "text": "é\u2028\U0001f600"}),
    drafted("call_started", {"key": "k", "wide": 2**80, "float": 1.5e300}, "step_1"),
    drafted("call_finished", {"status": "succeeded", **LARGE.fields()}, "step_1"),
    drafted("paused", {}),
    drafted("run_ended", {"status": "failed", "reason": "r"}),
]
EVENTS = 1 + len(DRAFTS)
COLUMNS = st.sampled_from(["kind", "step", "at", "payload", "salt", "digest", "link"])


def use(path: Path, work: Callable[[RunStore], Awaitable[Any]]) -> Any:
    async def opened() -> Any:
        ledger = open_ledger(path, KEY)
        try:
            return await work(ledger)
        finally:
            await ledger.close()

    return asyncio.run(opened())


def write(path: Path) -> None:
    async def work(ledger: RunStore) -> None:
        run = await ledger.open_run("t", [drafted("run_started", {"goal": "g"})])
        async with ledger.owned(run) as lease:
            await ledger.append(lease, DRAFTS, artifacts=[LARGE])

    use(path, work)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("verified") / "runs.db"
    write(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode=DELETE")
    return path.read_bytes()


@pytest.fixture(scope="module")
def transcript(tmp_path_factory: pytest.TempPathFactory) -> Transcript:
    path = tmp_path_factory.mktemp("verified") / "runs.db"
    write(path)
    found: Transcript = use(path, lambda ledger: ledger.transcript(RUN))
    return found


def faults_after(database: bytes, *statements: tuple[str, tuple[Any, ...]]) -> tuple[int | None, tuple[str, ...]]:
    """Change a copy of the database and return the first bad event, and all that is found."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        path.write_bytes(database)
        with closing(sqlite3.connect(path)) as db, db:
            for statement, values in statements:
                assert db.execute(statement, values).rowcount == 1
        found = verify(use(path, lambda ledger: ledger.transcript(RUN)))
        return found.fault.seq if found.fault else None, found.faults


def cell(database: bytes, column: str, seq: int) -> Any:
    with closing(sqlite3.connect(":memory:")) as db, db:
        db.deserialize(database)
        db.text_factory = bytes
        return db.execute(f"SELECT {column}, typeof({column}) FROM ledger_events WHERE seq = ?", (seq,)).fetchone()


def test_what_was_written_is_whole(transcript: Transcript) -> None:
    found = verify(transcript, KEY)

    assert found.is_whole and found.fault is None and found.seal == "whole"
    assert (found.run, found.events, found.artifacts) == ("t.1", EVENTS, 1)
    assert found.head == transcript.rows[-1].link.hex()
    assert json.loads(json.dumps(found.to_json()))["whole"] is True


@settings(max_examples=60, deadline=None)
@given(column=COLUMNS, seq=st.integers(1, EVENTS), place=st.integers(0, 1000), other=st.integers(1, 255))
def test_any_byte_that_is_changed_in_an_event_is_found(
    database: bytes, column: str, seq: int, place: int, other: int
) -> None:
    content, kind = cell(database, column, seq)
    if kind in (b"text", b"blob"):
        place %= len(content)
        changed = content[:place] + bytes([content[place] ^ other]) + content[place + 1 :]
        value = "CAST(? AS TEXT)" if kind == b"text" else "?"
    else:
        changed, value = math.nextafter(content, math.inf) if kind == b"real" else "step_9", "?"

    bad, faults = faults_after(database, (f"UPDATE ledger_events SET {column} = {value} WHERE seq = ?", (changed, seq)))

    assert bad == seq and faults


@settings(max_examples=30, deadline=None)
@given(column=COLUMNS, seq=st.integers(1, EVENTS), odd=st.sampled_from([b"\xff\x00", "text", 7, 7.5]))
def test_any_event_of_another_type_is_found(database: bytes, column: str, seq: int, odd: bytes | str | float) -> None:
    assert faults_after(database, (f"UPDATE ledger_events SET {column} = ? WHERE seq = ?", (odd, seq)))[0] == seq


@given(seq=st.integers(1, EVENTS))
@settings(max_examples=EVENTS, deadline=None)
def test_any_event_that_is_deleted_is_found(database: bytes, seq: int) -> None:
    assert faults_after(database, ("DELETE FROM ledger_events WHERE seq = ?", (seq,)))[0] == seq


@given(pair=st.lists(st.integers(1, EVENTS), min_size=2, max_size=2, unique=True))
@settings(max_examples=20, deadline=None)
def test_any_two_events_that_change_places_are_found(database: bytes, pair: list[int]) -> None:
    one, two = pair
    move = "UPDATE ledger_events SET seq = ? WHERE seq = ?"

    assert faults_after(database, (move, (99, one)), (move, (one, two)), (move, (two, 99)))[0] == min(pair)


@given(at=st.sampled_from([-1, 0, EVENTS + 1, EVENTS + 7]), like=st.integers(1, EVENTS))
@settings(max_examples=15, deadline=None)
def test_any_event_that_is_added_is_found(database: bytes, at: int, like: int) -> None:
    copy = "INSERT INTO ledger_events SELECT run, ?, kind, step, at, payload, salt, digest, link FROM ledger_events "

    assert faults_after(database, (f"{copy} WHERE seq = ?", (at, like)))[1]


@pytest.mark.parametrize("events", [0, EVENTS - 1, EVENTS + 1])
def test_another_number_of_events_is_found(database: bytes, events: int) -> None:
    assert faults_after(database, ("UPDATE ledger_runs SET events = ?", (events,)))[1]


@pytest.mark.parametrize(
    "statement", ["UPDATE ledger_artifacts SET content = content || ' '", "DELETE FROM ledger_artifacts"]
)
def test_an_artifact_that_is_changed_or_lost_is_found_with_the_event_that_names_it(
    database: bytes, statement: str
) -> None:
    bad, (fault,) = faults_after(database, (statement, ()))

    assert bad is None and fault.startswith("event 4 names artifact")


def test_a_run_under_another_name_is_found(transcript: Transcript) -> None:
    assert verify(replace(transcript, thread="other")).fault is not None
    assert verify(replace(transcript, n=2)).fault is not None


OTHER = SealKey(b"another secret of letters")


@pytest.mark.parametrize(
    ("stored", "key", "state"),
    [
        ({"key": None, "seal": None}, None, "none"),
        ({"key": None, "seal": None}, KEY, "none"),
        ({}, None, "unchecked"),
        ({"seal": None}, None, "unchecked"),
        ({}, KEY, "whole"),
        ({}, OTHER, "broken"),
        ({"seal": None}, KEY, "broken"),
        ({"key": None}, KEY, "broken"),
        ({"seal": b"x"}, KEY, "broken"),
    ],
)
def test_a_seal_is_whole_or_broken_for_whoever_has_the_key(
    transcript: Transcript, stored: Any, key: SealKey | None, state: str
) -> None:
    found = verify(replace(transcript, **stored), key)

    assert found.seal == state and found.is_whole is (key is None or state == "whole")


def test_redactions_are_named_as_far_as_they_can_be_read_and_a_fault_with_its_event(transcript: Transcript) -> None:
    told = {"left": [{"seq": 2}, {"seq": "3"}, {}, 4], "by": "os:ada", "reason": "asked for"}
    (plain, *_), payloads = transcript.rows, (json.dumps(told), json.dumps({"left": 5}), "[]")
    rows = [plain, *(plain._replace(seq=5, kind=REDACTED, payload=text, link="text") for text in payloads)]

    found = verify(replace(transcript, rows=rows))

    first, second = found.redactions
    assert first == Redaction(5, (2,), "os:ada", plain.at, "asked for") and second.events == ()
    assert found.head == "" and found.to_json()["first_bad"] == {"seq": 2, "why": "is missing"}


def test_a_hash_that_was_noted_is_found_again_or_missed(transcript: Transcript) -> None:
    noted = transcript.rows[2].link.hex()

    assert verify(transcript, head=noted.upper()).is_whole
    assert verify(transcript, head=noted.upper()).noted_seq == 3
    assert verify(transcript, head=verify(transcript).head).noted_seq == EVENTS
    cut = replace(transcript, rows=transcript.rows[:2], written=2)
    assert verify(cut).is_whole and not verify(cut, head=noted).is_whole


def test_the_whole_written_anew_is_seen_by_a_noted_hash_and_by_the_key_only(
    transcript: Transcript, tmp_path: Path
) -> None:
    write(tmp_path / "anew.db")
    anew: Transcript = use(tmp_path / "anew.db", lambda ledger: ledger.transcript(RUN))
    forged = replace(anew, key=transcript.key, seal=transcript.seal)

    assert verify(forged).is_whole
    assert not verify(forged, head=verify(transcript).head).is_whole
    assert not verify(forged, KEY).is_whole


def test_an_exported_run_reads_back_as_it_was(transcript: Transcript) -> None:
    content = to_bytes(transcript)

    read = from_bytes(content, "run.jsonl")
    assert read == replace(transcript, rows=list(transcript.rows)) and export_faults(content) == []
    assert verify(read, KEY).is_whole
    assert all(isinstance(row, Row) for row in read.rows)
    assert [json.loads(line)["record"] for line in content.decode().split("\n")[:-1]] == [
        "run", *["event"] * EVENTS, "artifact", "end",
    ]  # fmt: skip


def is_refused(content: bytes) -> bool:
    try:
        read = from_bytes(content, "run.jsonl")
    except ExportError:
        return True
    return not verify(read).is_whole or bool(export_faults(content))


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_any_byte_of_an_exported_file_that_is_changed_is_found(transcript: Transcript, data: st.DataObject) -> None:
    content = to_bytes(transcript)
    place, other = data.draw(st.integers(0, len(content) - 1)), data.draw(st.integers(1, 255))

    assert is_refused(content[:place] + bytes([content[place] ^ other]) + content[place + 1 :])


@settings(max_examples=100, deadline=None)
@given(data=st.data(), what=st.sampled_from(["delete", "double", "swap", "cut", "empty"]))
def test_any_line_of_an_exported_file_that_is_moved_is_found(
    transcript: Transcript, data: st.DataObject, what: str
) -> None:
    lines = to_bytes(transcript).splitlines(keepends=True)
    place = data.draw(st.integers(0, len(lines) - 2))
    changed = {
        "delete": [*lines[:place], *lines[place + 1 :]],
        "double": [*lines[: place + 1], *lines[place:]],
        "swap": [*lines[:place], lines[place + 1], lines[place], *lines[place + 2 :]],
        "cut": lines[: place + 1],
        "empty": [*lines[:place], b"\n", *lines[place:]],
    }[what]

    assert is_refused(b"".join(changed))


def test_an_event_that_is_changed_in_a_file_with_a_fitting_checksum_is_named(transcript: Transcript) -> None:
    rows = [*transcript.rows]
    rows[3] = rows[3]._replace(payload=rows[3].payload.replace("succeeded", "failed"))

    content = to_bytes(replace(transcript, rows=rows))

    assert export_faults(content) == []
    assert verify(from_bytes(content, "run.jsonl")).faults == ("event 4 was changed",)


def test_a_time_beyond_all_numbers_is_refused_with_its_line(transcript: Transcript) -> None:
    first, event, *rest = to_bytes(transcript).splitlines(keepends=True)
    endless = re.sub(rb'"at":[0-9.]+', b'"at":1e999', event)

    with pytest.raises(ExportError) as caught:
        from_bytes(b"".join([first, endless, *rest]), "run.jsonl")

    assert endless != event and caught.value.line == 2


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"{}\n", b"\xff\xfe", b"hello", b'{"record":"end","sha256":"00"}\n' * 2]
)
def test_what_is_no_exported_run_is_named_with_its_line(content: bytes) -> None:
    with pytest.raises(ExportError) as caught:
        from_bytes(content, "run.jsonl")

    assert caught.value.line == 1 and "run.jsonl" in str(caught.value)
