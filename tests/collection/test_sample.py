from pathlib import Path
from types import SimpleNamespace
from typing import Any

from sample import FEW, left_out


def items(number: int, database: str = "postgres", folder: str = "scenarios") -> list[Any]:
    path = Path("tests", folder, "test_any.py")
    return [SimpleNamespace(path=path, callspec=SimpleNamespace(params={"database": database})) for _ in range(number)]


def test_a_share_of_many_whole_runs_on_postgresql_is_tried_the_same_in_each_process() -> None:
    many = items(300)

    left = left_out(many, 0.33, "session")

    assert 150 < len(left) < 250 and left == left_out(many, 0.33, "session") != left_out(many, 0.33, "another")
    assert left_out(many, 1.0, "session") == []


def test_few_those_on_sqlite_and_those_about_faults_are_all_tried() -> None:
    each = [items(FEW), items(300, "sqlite"), items(300, folder="faults"), [SimpleNamespace(path=Path("tests"))]]

    assert [left_out(some, 0.33, "session") for some in each] == [[]] * 4
