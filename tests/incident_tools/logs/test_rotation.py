import pytest

from planner_executor.incident_tools.logs.rotation import before_rotation, is_log_name, rotated_copies


@pytest.mark.parametrize(
    ("name", "before"),
    [
        ("app.log.1", "app.log"),
        ("app.log.12.gz", "app.log"),
        ("app.log-20260915", "app.log"),
        ("app.log-20260915.gz", "app.log"),
        ("app-2026-09-15.log.gz", "app.log"),
        ("app.1.log", "app.log"),
        ("app.log.gz", "app.log"),
        ("syslog.1", "syslog"),
        ("app.log", None),
        ("journal.export", None),
    ],
)
def test_a_rotated_name_gives_the_original_name(name: str, before: str | None) -> None:
    assert before_rotation(name) == before


def test_copies_are_named_newest_first() -> None:
    numbered = ["logs/app.log.10.gz", "logs/app.log.2.gz", "logs/app.log.1"]
    dated = ["logs/app.log-20260913.gz", "logs/app.log-20260915.gz"]

    assert rotated_copies("logs/app.log", numbered) == ["logs/app.log.1", "logs/app.log.2.gz", "logs/app.log.10.gz"]
    assert rotated_copies("**/app.log", dated) == ["logs/app.log-20260915.gz", "logs/app.log-20260913.gz"]


def test_copies_in_its_own_folder_count_before_those_elsewhere() -> None:
    files = ["archive/app.log.1.gz", "logs/app.log.2.gz", "logs/web.log.1"]

    assert rotated_copies("logs/app.log", files) == ["logs/app.log.2.gz"]
    assert rotated_copies("logs/app.log", files[:1]) == ["archive/app.log.1.gz"]
    assert rotated_copies("logs/other.log", files) == []


@pytest.mark.parametrize("name", ["README.md", "delivery.py", "data.gz", "photo.1.jpg"])
def test_other_files_are_not_logs(name: str) -> None:
    assert not is_log_name(name)
