"""One distribution, one import package."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_distribution_holds_one_package() -> None:
    wheel = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]

    assert PROJECT["project"]["name"] == "planner-executor"
    assert wheel["packages"] == ["planner_executor"] and "only-include" not in wheel


def test_the_package_is_type_checked_and_tested() -> None:
    assert PROJECT["tool"]["mypy"]["packages"] == ["planner_executor"]
    assert {"planner_executor", "tests"} <= set(PROJECT["tool"]["pytest"]["ini_options"]["testpaths"])


def test_warnings_are_errors_and_tests_are_no_package() -> None:
    options = PROJECT["tool"]["pytest"]["ini_options"]

    assert options["filterwarnings"][0] == "error"
    assert "--import-mode=importlib" in options["addopts"]
    assert not list((ROOT / "tests").rglob("__init__.py"))


def test_tools_never_import_graph() -> None:
    for file in (ROOT / "tools").rglob("*.py"):
        lines = file.read_text(encoding="utf-8").splitlines()
        assert not [line for line in lines if "planner_executor.graph" in line], file
