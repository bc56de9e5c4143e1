"""Long payloads are stored packed; the chain, readers and exports have their text."""

import asyncio
import json
import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.errors import LedgerCorruptError
from planner_executor.graph.ledger.calls_to_know import TO_KNOW
from planner_executor.graph.ledger.chaining import compact_json
from planner_executor.graph.ledger.export import to_bytes
from planner_executor.graph.ledger.packed import pack
from planner_executor.graph.ledger.sqlite.ledger import SqliteLedger
from planner_executor.graph.ledger.sqlite.packed_payload import (
    DICTIONARY,
    FORM,
    LEAST_BYTES,
    payload_text,
    stored_payload,
)
from planner_executor.graph.ledger.verification import verify
from planner_executor.graph.record.events import Draft, Event
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.values import keep_constant
from planner_executor.graph.testing import drafted

RUN = RunKey("t", 1)
WORDS = "many words of a result, and more of them: ß \U0001f600 \0 " * 40
LONG = {"call": 0, "status": "succeeded", "value": WORDS, "thread": "t", "n": 1}
DRAFTS = [
    drafted("run_started", {"goal": "g", "constraints": []}),
    drafted(
        "call_started", {"key": "k", "call": 0, "tool": "pay", "args": LONG, "repeatable": False, "revision": 1}, "a"
    ),
    drafted("call_finished", LONG, "a"),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "runs.db"
    assert events(path, DRAFTS)[2].payload == LONG
    return path


def events(path: Path, drafts: list[Draft] | None = None) -> list[Event]:
    """Return the events of the run, which is begun with `drafts`."""

    async def work() -> list[Event]:
        ledger = SqliteLedger(path)
        try:
            if drafts is not None:
                await ledger.open_run(RUN.thread, drafts)
            return await ledger.events(RUN)
        finally:
            await ledger.close()

    return asyncio.run(work())


def cell(path: Path, seq: int) -> Any:
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT payload FROM ledger_events WHERE seq = ?", (seq,)).fetchone()[0]


def put(path: Path, seq: int, payload: str | bytes) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE ledger_events SET payload = ? WHERE seq = ?", (payload, seq))


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=3_000), st.sampled_from(["call_finished", "decided"]))
def test_what_is_stored_is_read(text: str, kind: str) -> None:
    assert payload_text(kind, stored_payload(kind, text)) == text


def test_a_long_payload_is_packed_and_a_short_one_is_not() -> None:
    assert len(stored_payload("call_finished", "a word " * 200)) < 100
    assert stored_payload("call_finished", "a" * (LEAST_BYTES - 1)) == "a" * (LEAST_BYTES - 1)


@pytest.mark.parametrize("kind", TO_KNOW)
def test_kinds_that_an_index_looks_into_stay_text(kind: str) -> None:
    assert kind in TO_KNOW and stored_payload(kind, "a" * 5_000) == "a" * 5_000


def test_the_dictionary_never_changes() -> None:
    """Rows that were packed with it could not be read any more: a new dictionary needs a new `FORM`."""
    digest = "a941f6ec01089bb7d79ef4afce276720885c3571d900d23ad522f18611f353a3"
    assert (FORM, sha256(DICTIONARY).hexdigest()) == (b"\x01", digest)


@pytest.mark.parametrize("stored", [b"", b"{}", FORM, FORM + b"no", FORM + pack(b"\xff" * 2_000, DICTIONARY)])
def test_bytes_that_were_never_packed_come_back_as_they_are(stored: bytes) -> None:
    assert payload_text("call_finished", stored) == stored  # type: ignore[comparison-overlap]


def test_the_digest_of_an_event_is_that_of_its_text(path: Path) -> None:
    assert isinstance(cell(path, 3), bytes) and isinstance(cell(path, 2), str)
    with closing(sqlite3.connect(path)) as db:
        salt, digest = db.execute("SELECT salt, digest FROM ledger_events WHERE seq = 3").fetchone()

    assert digest == sha256(salt + compact_json(LONG).encode()).digest()


def test_an_export_has_the_text(path: Path) -> None:
    async def work() -> bytes:
        ledger = SqliteLedger(path)
        try:
            transcript = await ledger.transcript(RUN)
            assert verify(transcript).is_whole
            return to_bytes(transcript)
        finally:
            await ledger.close()

    lines = [json.loads(line) for line in asyncio.run(work()).splitlines()]
    assert lines[3]["payload"] == compact_json(LONG)


@pytest.mark.parametrize("changed", ["flip", "cut", "other", "text"])
def test_a_packed_event_that_was_changed_is_named(changed: str, path: Path) -> None:
    whole = cell(path, 3)
    other = compact_json({**LONG, "status": "failed"})
    put(
        path,
        3,
        {
            "flip": whole[:40] + bytes([whole[40] ^ 1]) + whole[41:],
            "cut": whole[:-1],
            "other": stored_payload("call_finished", other),
            "text": other,
        }[changed],
    )

    with pytest.raises(LedgerCorruptError) as caught:
        events(path)
    assert caught.value.seq == 3


def test_an_event_whose_kind_is_searched_cannot_be_hidden_by_packing_it(path: Path) -> None:
    put(path, 2, FORM + pack(cell(path, 2).encode(), DICTIONARY))

    with pytest.raises(LedgerCorruptError) as caught:
        events(path)
    assert caught.value.seq == 2


def test_a_payload_that_was_stored_as_text_is_read_as_before(path: Path) -> None:
    put(path, 3, compact_json(LONG))

    assert events(path)[2].payload == LONG


def test_an_artifact_that_a_packed_event_of_another_thread_names_outlives_a_redaction(tmp_path: Path) -> None:
    kept = keep_constant("the secret")
    assert kept.artifact is not None
    named = drafted("call_finished", {**LONG, "artifact": kept.artifact.to_json()}, "a")

    async def work() -> str:
        ledger = SqliteLedger(tmp_path / "runs.db")
        try:
            for thread in ("one", "other"):
                await ledger.open_run(thread, [*DRAFTS[:2], named], [kept])
            await ledger.redact("one", "secret", "ann", "r")
            return await ledger.artifact(kept.artifact.id)
        finally:
            await ledger.close()

    assert asyncio.run(work()) == '"the secret"'
