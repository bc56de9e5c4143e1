"""Collects doctests from modules of ours that have a prompt alone: to look for them in every file takes seconds."""

from collections.abc import Generator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule

TESTS = Path(__file__).parent / "tests"


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Leave out the doctests of a file that has none."""
    found = yield
    return [one for one in found if not isinstance(one, DoctestModule) or _has_prompt(file_path)]


def _has_prompt(file: Path) -> bool:
    return TESTS not in file.parents and ">>>" in file.read_text()
