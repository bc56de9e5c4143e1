import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_executor.incident_tools.logs.content import LogBytes, TooMuch, opened
from planner_executor.incident_tools.logs.formats import format_of
from planner_executor.incident_tools.logs.moments import shown
from planner_executor.incident_tools.logs.record import Record, Unreadable

REQUEST = '192.0.2.7 - ann [15/Sep/2026:10:14:07 +0200] "POST /pay?x=1 HTTP/1.1" {} 21 "-" "curl/8"'
ENTRY = b"__CURSOR=s=1\n__REALTIME_TIMESTAMP=1789460047000000\nPRIORITY=3\n_COMM=app\n"


def read(text: str | bytes) -> tuple[str | None, list[Any]]:
    content = LogBytes(io.BytesIO(text.encode() if isinstance(text, str) else text))
    found = format_of(content)
    return (found[0], list(found[1](content))) if found else (None, [])


def test_a_request_has_its_status_and_level() -> None:
    name, (ok, missing, failed) = read("\n".join(map(REQUEST.format, (201, 404, 502))))

    assert name == "access"
    assert [each.level for each in (ok, missing, failed)] == ["info", "warning", "error"]
    assert (shown(failed.at), failed.message) == ("2026-09-15T08:14:07.000Z", "POST /pay?x=1 502")
    assert failed.fields == {
        "method": "POST", "path": "/pay?x=1", "status": 502, "bytes": 21, "client": "192.0.2.7", "agent": "curl/8",
    }  # fmt: skip


def test_a_line_that_is_not_a_request_is_named() -> None:
    assert read(REQUEST.format(200) + "\nnonsense\n")[1][1] == Unreadable(2, "no request in the combined format")


@pytest.mark.parametrize(
    ("logged", "level"),
    [
        ({"timestamp": "2026-09-15T08:14:07Z", "level": "ERROR", "message": "m"}, "error"),
        ({"time": 1789460047000, "level": 50, "msg": "m"}, "error"),
        ({"@timestamp": "2026-09-15T10:14:07+02:00", "log.level": "warn", "message": "m"}, "warning"),
        ({"asctime": "2026-09-15 08:14:07,000", "levelname": "CRITICAL", "event": "m"}, "critical"),
        ({"ts": 1789460047, "msg": "m"}, "info"),
    ],
)
def test_the_usual_names_of_json_logs_are_known(logged: dict[str, Any], level: str) -> None:
    name, (record,) = read(json.dumps({**logged, "user": 7}))

    assert name == "json"
    assert (shown(record.at), record.level, record.message) == ("2026-09-15T08:14:07.000Z", level, "m")
    assert record.fields == {"user": 7}


def test_a_line_of_a_json_log_that_is_not_an_object_is_named() -> None:
    _, entries = read('{"msg": "a"}\nTraceback\n\n{"msg": NaN, "x": "b"}\n')

    assert [each.line for each in entries] == [1, 2, 4]
    assert entries[1] == Unreadable(2, "no JSON object")


def test_a_journal_entry_may_hold_several_lines_and_any_bytes() -> None:
    message = b"one\n\nthree \xff"
    block = b"MESSAGE\n" + len(message).to_bytes(8, "little") + message + b"\n"

    name, (first, second) = read(ENTRY + block + b"\n" + ENTRY + b"MESSAGE=two\n\n")

    assert name == "journal"
    assert (first.line, first.message, first.level) == (1, "one\n\nthree \ufffd", "error")
    assert (second.message, shown(second.at)) == ("two", "2026-09-15T08:14:07.000Z")
    assert first.fields == {"_COMM": "app"}
    assert second.line == (ENTRY + block).count(b"\n") + 2


def test_a_value_of_the_journal_that_claims_to_be_huge_is_not_read() -> None:
    _, entries = read(ENTRY + b"MESSAGE\n" + (2**60).to_bytes(8, "little") + b"x\n")

    assert entries == [Unreadable(6, "no field of a journal entry"), entries[-1]]
    assert entries[-1].message == "(larger than may be read)"


def test_lines_below_a_plain_record_belong_to_it() -> None:
    text = (
        "2026-09-15 08:14:07,730 ERROR shop: no\nTraceback (most recent call last):\n  at\n2026-09-15 08:15:00 fine\n"
    )

    name, (first, second) = read(text)

    assert name == "plain"
    assert (first.level, first.message.count("\n"), second.level, second.line) == ("error", 2, "info", 4)


def test_nginx_writes_its_error_log_in_its_own_way() -> None:
    _, (record,) = read("2026/09/15 08:14:07 [crit] 12#0: *5 connect() failed\n")

    assert (record.level, shown(record.at)) == ("critical", "2026-09-15T08:14:07.000Z")


def test_without_times_each_line_is_a_record() -> None:
    assert [each.message for each in read("one\ntwo\n")[1]] == ["one", "two"]


def test_a_file_with_nul_bytes_is_not_a_log() -> None:
    assert read(b"\x7fELF\0\0\0") == (None, [])


def test_a_packed_log_is_known_by_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "app.log").write_bytes(gzip.compress(b"one\ntwo\n"))

    with opened(tmp_path / "app.log") as content:
        assert list(content.lines()) == [(1, "one"), (2, "two")]


def test_a_small_file_that_unpacks_to_very_much_is_read_up_to_the_bound(tmp_path: Path) -> None:
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(b"\0" * 5_000_000))

    with opened(tmp_path / "bomb.gz", most=100_000) as content, pytest.raises(TooMuch):
        list(content.lines())
    assert content.taken == 100_000


@settings(deadline=None)
@given(st.binary(max_size=400), st.sampled_from([b"", b'{"a": 1}\n', b"A=1\n", ENTRY, REQUEST.format(200).encode()]))
def test_any_bytes_are_read_to_their_end(tail: bytes, head: bytes) -> None:
    for entry in read(head + tail)[1]:
        assert isinstance(entry, Record | Unreadable)
        if isinstance(entry, Record):
            json.dumps(entry.to_json("x")).encode()


@settings(deadline=None)
@given(st.lists(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=30)))
def test_lines_are_counted_as_editors_count_them(lines: list[str]) -> None:
    content = LogBytes(io.BytesIO("".join(f"{line}\n" for line in lines).encode()), 10_000)

    assert list(content.lines()) == list(enumerate(lines, 1))
