"""The table of schedules, and when one comes next."""

from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from planner_executor.graph.errors import ConfigError
from planner_executor.graph.playbooks.schedule import SCHEDULES, Schedule
from planner_executor.graph.settings.settings_file import read_file

NIGHTLY = {"name": "nightly", "playbook": "report", "cron": "30 2 * * *"}


def read(*entries: dict[str, Any], is_named: bool = True) -> Any:
    file = read_file(Path("planner-executor.toml"), b"")
    return SCHEDULES.value_in(type(file)(file.path, {"schedules": list(entries)}, is_named=is_named))


def test_a_table_is_read_with_what_it_leaves_out() -> None:
    more = {"time_zone": "Europe/Berlin", "params": {"to": "ann"}, "missed": "run_once", "overlap": "queue"}
    both = read(NIGHTLY, {**NIGHTLY, "name": "other", **more})

    assert both == (Schedule("nightly", "report", "30 2 * * *"), Schedule("other", "report", "30 2 * * *", **more))


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"name": "Night ly"}, "name must be a word of small letters"),
        ({"playbook": "../report.yaml"}, "playbook must be a word of small letters"),
        ({"cron": "30 2 * *"}, "cron must have minute, hour"),
        ({"cron": "* 30 2 * * *"}, "cron must have minute, hour"),
        ({"cron": "61 2 * * *"}, "cron is no expression of cron, or never comes: Bad minute"),
        ({"cron": "0 0 30 2 *"}, "cron is no expression of cron, or never comes"),
        ({"time_zone": "Berlin"}, "time_zone is no time zone"),
        ({"time_zone": "../etc/passwd"}, "time_zone is no time zone"),
        ({"missed": "all"}, "missed is 'all'; it must be one of skip, run_once"),
        ({"every": "day"}, "every is unknown"),
    ],
)
def test_what_is_no_schedule_is_refused_with_its_place(changed: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read({**NIGHTLY, **changed})

    assert why in str(refused.value)


def test_two_of_one_name_are_refused_and_a_file_that_nobody_named_has_to_be_trusted() -> None:
    with pytest.raises(ConfigError, match="has nightly twice"):
        read(NIGHTLY, NIGHTLY)
    with pytest.raises(ConfigError, match="nightly has workers run the playbook report"):
        read(NIGHTLY, is_named=False)


def moments(cron: str, day: str, count: int) -> list[str]:
    zone = ZoneInfo("Europe/Berlin")
    moment, found = datetime.fromisoformat(day).replace(tzinfo=zone).timestamp(), list[str]()
    for _ in range(count):
        moment = Schedule("n", "p", cron, "Europe/Berlin").next_after(moment)
        found.append(datetime.fromtimestamp(moment, zone).strftime("%d %H:%M%z"))
    return found


def test_a_fixed_time_of_day_comes_once_a_day_also_when_the_clocks_change() -> None:
    assert moments("30 2 * * *", "2026-10-24T12:00", 2) == ["25 02:30+0200", "26 02:30+0100"]
    assert moments("30 2 * * *", "2026-03-28T12:00", 2) == ["29 03:00+0200", "30 02:30+0200"]
    assert moments("*/30 * * * *", "2026-10-25T01:45", 4) == [
        "25 02:00+0200",
        "25 02:30+0200",
        "25 02:00+0100",
        "25 02:30+0100",
    ]
