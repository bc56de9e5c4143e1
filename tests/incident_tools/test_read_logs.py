import gzip
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_executor.incident_tools.logs.record import LEVELS, Record
from planner_executor.incident_tools.logs.selection import Wanted
from planner_executor.incident_tools.read_logs import read_logs
from planner_executor.tools.errors import InputRefused, NothingFound, PathRefused, SourceNotReadable
from planner_executor.tools.folder import Folder

INCIDENT = Path(__file__).parents[2] / "examples" / "incident"
START = datetime(2026, 9, 15, 8, tzinfo=UTC)


def line(minute: int, level: str = "INFO", message: str = "m", **fields: Any) -> str:
    at = (START + timedelta(minutes=minute)).isoformat()
    return json.dumps({"timestamp": at, "level": level, "message": message, **fields}) + "\n"


def read(folder: Path, path: str = "**/*.log*", **args: Any) -> dict[str, Any]:
    result: dict[str, Any] = read_logs(Folder(folder)).invoke({"path": path, **args})
    return result


def minutes(result: dict[str, Any]) -> list[int]:
    return [int(record["at"][14:16]) for record in result["records"]]


def test_several_logs_become_one_in_order_of_time(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(line(1) + line(5))
    (tmp_path / "b.log.1.gz").write_bytes(gzip.compress((line(0) + line(3)).encode()))

    result = read(tmp_path)

    assert minutes(result) == [0, 1, 3, 5]
    assert [record["source"] for record in result["records"]] == ["b.log.1.gz", "a.log", "b.log.1.gz", "a.log"]
    assert result["files"][0] == {
        "source": "a.log",
        "format": "json",
        "entries": 2,
        "first": "2026-09-15T08:01:00.000Z",
        "last": "2026-09-15T08:05:00.000Z",
    }


@pytest.mark.parametrize(
    ("args", "found"),
    [
        ({"since": "2026-09-15T08:02:00Z"}, [2, 3]),
        ({"until": "2026-09-15T10:01:00+02:00"}, [0, 1]),
        ({"min_level": "warning"}, [1, 3]),
        ({"contains": "NORWAY"}, [2]),
        ({"limit": 1}, [0]),
    ],
)
def test_only_what_is_wanted_is_returned(tmp_path: Path, args: dict[str, Any], found: list[int]) -> None:
    (tmp_path / "a.log").write_text(
        line(0) + line(1, "WARN") + line(2, country="Norway") + line(3, "ERROR", "no answer")
    )

    assert minutes(read(tmp_path, **args)) == found


def test_counts_are_of_all_that_fits_and_not_of_what_is_returned(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(line(0) + line(1, "ERROR") + line(2, "ERROR"))

    result = read(tmp_path, limit=1)

    assert (result["matched"], result["returned"], result["levels"]) == (3, 1, {"info": 1, "error": 2})
    assert (result["first_error_at"][14:16], result["last_error_at"][14:16]) == ("01", "02")


def test_a_log_that_is_not_there_names_its_rotated_copies_with_their_times(tmp_path: Path) -> None:
    (tmp_path / "app.log.1.gz").write_bytes(gzip.compress((line(0) + line(9)).encode()))
    (tmp_path / "app.log.2.gz").write_bytes(b"\x1f\x8bnot gzip")
    (tmp_path / "web.log").write_text(line(0))
    (tmp_path / "app.md").write_text("no log")

    with pytest.raises(NothingFound) as error:
        read(tmp_path, "**/app.log")

    first, second = "app.log.1.gz (2026-09-15T08:00:00.000Z to 2026-09-15T08:09:00.000Z)", "app.log.2.gz ("
    assert f"rotated copies of it are there: {first}, {second}" in str(error.value)
    assert str(error.value).endswith("; other logs: web.log")
    assert "app.log.1.gz" in str(error.value)


def test_the_period_of_a_partly_read_copy_is_open_at_its_end(tmp_path: Path) -> None:
    noise = "".join(line(minute % 60, message=str(minute * 2654435761 % 2**32)) for minute in range(9000))
    (tmp_path / "app.log.1.gz").write_bytes(gzip.compress(noise.encode())[:-2000])
    for number in range(2, 20):
        (tmp_path / f"app.log.{number}").write_text(line(0))

    with pytest.raises(NothingFound) as error:
        read(tmp_path, "app.log")

    assert "app.log.1.gz (from 2026-09-15T08:00:00.000Z on), app.log.2 (" in str(error.value)
    assert "app.log.9 (not looked into)" in str(error.value)
    assert len(str(error.value)) < 2000


def test_an_empty_folder_is_an_error_about_missing_logs(tmp_path: Path) -> None:
    with pytest.raises(NothingFound, match="no others"):
        read(tmp_path)


def test_older_copies_of_a_log_that_is_there_are_named(tmp_path: Path) -> None:
    for name in ("app.log", "app.log.1", "app.log.2"):
        (tmp_path / name).write_text(line(0))

    assert read(tmp_path, "app.log")["rotated"] == ["app.log.1", "app.log.2"]
    assert read(tmp_path, "app.log*")["rotated"] == []


def test_a_damaged_log_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    noise = "".join(line(minute % 60, message=str(minute * 2654435761 % 2**32)) for minute in range(9000))
    (tmp_path / "app.log.gz").write_bytes(gzip.compress(noise.encode())[:-2000])

    result = read(tmp_path, "app.log.gz")

    assert 0 < result["matched"] < 9000
    assert result["skipped"][-1]["reason"].startswith("damaged")


def test_what_cannot_be_read_at_all_is_an_error_alone_and_skipped_among_others(tmp_path: Path) -> None:
    (tmp_path / "bad.log").write_bytes(b"\0\1\2")
    with pytest.raises(SourceNotReadable):
        read(tmp_path)

    (tmp_path / "good.log").write_text(line(0))
    result = read(tmp_path)
    assert (result["matched"], result["skipped"][0]["source"]) == (1, "bad.log")


def test_a_result_is_bounded_for_any_log(tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text(line(0, x="y" * 30_000) * 600)

    result = read(tmp_path, limit=5000)

    assert result["matched"] == 600 > result["returned"]
    assert len(json.dumps(result)) < 2_100_000
    assert "…" in result["records"][0]["fields"]["x"]


def test_control_characters_of_a_log_reach_nobody(tmp_path: Path) -> None:
    (tmp_path / "app.log").write_bytes(b"2026-09-15T08:00:00Z \x1b[31mred\x07 \xff\n")

    assert read(tmp_path)["records"][0]["message"] == "\ufffd[31mred\ufffd \ufffd"


@pytest.mark.parametrize("path", ["../a.log", "/var/log/syslog", "..", "logs/../../x.log", ".hidden.log"])
def test_nothing_outside_the_folder_is_read(tmp_path: Path, path: str) -> None:
    with pytest.raises(PathRefused):
        read(tmp_path, path)


def test_an_invalid_time_bound_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputRefused):
        read(tmp_path, since="yesterday")


def test_the_three_formats_of_the_example_agree_on_one_moment() -> None:
    failed = read(INCIDENT, "**/access.log", contains='"status": 500')["first_error_at"]
    raised = read(INCIDENT, "**/app.log.1.gz", contains="Traceback")["first_error_at"]
    started = read(INCIDENT, "**/journal.export", contains="2.14.0 is active")["records"][0]["at"]

    assert failed[:19] == raised[:19] == "2026-09-15T08:14:07"
    assert started < failed


RECORDS = st.builds(
    Record,
    line=st.just(1),
    at=st.none() | st.integers(0, 59).map(lambda minute: START + timedelta(minutes=minute)),
    level=st.sampled_from(LEVELS),
    message=st.sampled_from(["paid", "not paid", ""]),
)
BOUND = st.none() | st.integers(0, 59).map(lambda minute: START + timedelta(minutes=minute))


@settings(deadline=None)
@given(RECORDS, BOUND, BOUND, st.sampled_from(LEVELS), st.sampled_from(["", "PAID", "unpaid"]))
def test_filters_together_let_through_what_each_of_them_lets_through(
    record: Record, since: datetime | None, until: datetime | None, level: Any, words: str
) -> None:
    each = (Wanted(since=since), Wanted(until=until), Wanted(min_level=level), Wanted(contains=words))

    assert Wanted(since, until, level, words).fits(record) == all(wanted.fits(record) for wanted in each)
