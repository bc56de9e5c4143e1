import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_executor.incident_tools.failures.changes import NOTHING
from planner_executor.incident_tools.group_errors import group_errors
from planner_executor.tools.errors import NothingFound
from planner_executor.tools.folder import Folder

TRACE = """Traceback (most recent call last):
  File "/srv/shop/service/cart.py", line {line}, in total
    return PRICES[item]
           ~~~~~~^^^^^^
  File "/usr/lib/python3.12/collections.py", line 9, in __missing__
KeyError: 'mug'"""


def record(
    minute: int, level: str = "error", message: str = "m", source: str = "app.log", **fields: Any
) -> dict[str, Any]:
    at = f"2026-09-15T08:{minute:02d}:00.000Z"
    return {"source": source, "line": minute + 1, "at": at, "level": level, "message": message, "fields": fields}


def failed(minute: int, line: int = 7, **fields: Any) -> dict[str, Any]:
    return record(minute, message="unhandled", exc_info=TRACE.format(line=line), **fields)


def request(minute: int, status: int = 500, path: str = "/pay") -> dict[str, Any]:
    return record(minute, message=f"POST {path}", source="access.log", method="POST", path=path, status=status)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "service").mkdir()
    (tmp_path / "service" / "cart.py").write_text("x = 1\n")
    return tmp_path


def group(folder: Path, *records: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = group_errors(Folder(folder)).invoke({"records": [{"records": list(records)}]})
    return result


def test_errors_with_the_same_line_of_the_services_own_code_are_one_group(folder: Path) -> None:
    result = group(
        folder,
        failed(5, method="POST", path="/pay", request_id="r5", country="NO"),
        failed(3, method="POST", path="/pay", request_id="r3", country="NO"),
        failed(9, line=8),
    )

    first, second = result["groups"]
    assert (first["where"], first["function"], first["count"]) == ("service/cart.py:7", "total", 2)
    assert (first["exception"], first["message"], first["expression"]) == ("KeyError", "'mug'", "PRICES[item]")
    assert (first["first"], first["last"]) == ("2026-09-15T08:03:00.000Z", "2026-09-15T08:05:00.000Z")
    assert first["request"] == "POST /pay (request r3)"
    assert first["common"] == {"method": "POST", "path": "/pay", "country": "NO"}
    assert first["sample"]["place"] == "app.log:4"
    assert second["where"] == "service/cart.py:8"


def test_a_place_in_the_services_code_comes_before_what_is_more_frequent(folder: Path) -> None:
    said = [record(minute, message=f"payment {minute} timed out") for minute in range(5)]

    first, second = group(folder, *said, failed(9))["groups"]

    assert first["where"] == "service/cart.py:7"
    assert (second["count"], second["exception"], second["where"]) == (5, None, None)


def test_a_traceback_without_own_code_has_no_place(tmp_path: Path) -> None:
    (only,) = group(tmp_path, failed(1))["groups"]

    assert (only["where"], only["file"], only["line"], only["exception"]) == (None, None, None, "KeyError")


def test_failed_requests_are_counted_by_path_and_status_the_earliest_first(folder: Path) -> None:
    result = group(folder, request(9, 502), request(2, path="/cart/17?x=1"), request(3, path="/cart/18"), failed(4))

    assert [(row["request"], row["status"], row["count"]) for row in result["requests"]] == [
        ("POST /cart/*", 500, 2),
        ("POST /pay", 502, 1),
    ]
    assert "2 times" in result["request_lines"][0] and "1 time," in result["request_lines"][1]
    assert "First to fail: POST /cart/*" in result["summary"]


def test_changes_in_the_hour_before_are_listed_and_nothing_else(folder: Path) -> None:
    result = group(
        folder,
        record(1, "notice", "deploy: 2.14.0 is active\nnew: Norway", source="journal"),
        record(2, "info", "nothing of interest", source="journal"),
        record(7, "info", "Stopped shop.service", source="journal"),
        failed(5),
    )

    assert result["changes"] == ["2026-09-15T08:01:00.000Z deploy: 2.14.0 is active; new: Norway (journal:2)"]
    assert group(folder, failed(5))["changes"] == [NOTHING]


def test_without_errors_there_is_nothing_to_group(folder: Path) -> None:
    with pytest.raises(NothingFound, match="none of the 1 record is an error"):
        group(folder, record(1, "info"))


def test_results_may_come_nested_and_alone(folder: Path) -> None:
    tool, one = group_errors(Folder(folder)), {"records": [failed(1)]}

    assert tool.invoke({"records": one}) == tool.invoke({"records": [[one]]}) == tool.invoke({"records": [failed(1)]})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
ODD = st.fixed_dictionaries(
    {"message": st.text(max_size=40) | st.just(TRACE), "level": st.sampled_from(["error", "info", "critical"])},
    optional={"at": JSON, "line": JSON, "source": JSON, "fields": JSON | st.just({"method": "GET", "status": 500})},
)


@settings(deadline=None)
@given(st.lists(ODD | JSON, max_size=6))
def test_whatever_is_given_every_error_is_counted_once(records: list[Any]) -> None:
    tool = group_errors(Folder(Path("nowhere")))
    given_records = [one for one in records if isinstance(one, dict) and "message" in one and "level" in one]
    errors = [one for one in given_records if one["level"] in ("error", "critical") and isinstance(one["message"], str)]

    try:
        result = tool.invoke({"records": records, "limit": 100})
    except NothingFound:
        assert not errors
        return
    json.dumps(result)
    assert sum(row["count"] for row in [*result["groups"], *result["requests"]]) >= len(errors)
