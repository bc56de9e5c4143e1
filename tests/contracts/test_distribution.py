"""One distribution, one import package."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

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


def test_nothing_tells_one_to_install_a_distribution_that_is_not_published() -> None:
    files = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("graph/**/*.py"), *ROOT.glob("tools/**/*.py")]
    named = re.compile(r"install '?planner-executor")

    assert [str(file) for file in files if named.search(file.read_text(encoding="utf-8"))] == []


def test_each_dependency_has_a_licence_that_asks_nothing_of_users() -> None:
    looked = subprocess.run([sys.executable, ROOT / ".ci" / "licences"], capture_output=True, text=True)

    assert looked.returncode == 0, looked.stderr
    assert "| langgraph |" in looked.stdout


@pytest.mark.e2e
def test_the_sdist_and_the_wheel_are_complete_and_the_one_builds_the_other(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="hatchling, which builds the package, is not installed")
    source = copied(tmp_path / "tree")
    sdist, wheel = built(source, tmp_path / "dist", "sdist"), built(source, tmp_path / "dist", "wheel")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    again = built(unpacked, tmp_path / "again", "wheel")

    if importlib.util.find_spec("twine") is not None:
        checked = [sys.executable, "-m", "twine", "check", "--strict", str(sdist), str(wheel)]
        assert subprocess.run(checked, capture_output=True).returncode == 0
    names = contents(wheel)
    assert names == contents(again)
    assert {name.split("/")[0] for name in names} == {
        "planner_executor",
        f"{wheel.name.removesuffix('-py3-none-any.whl')}.dist-info",
    }
    for needed in (
        "py.typed",
        "testing.py",
        "graph/cli/first_project/payables.py.txt",
        "graph/desk/static",
        "tools/registry.py",
    ):
        assert any(name.startswith(f"planner_executor/{needed}") for name in names), needed


@pytest.mark.e2e
def test_a_wheel_writes_a_project_where_the_tree_is_not(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="hatchling, which builds the package, is not installed")
    wheel = built(copied(tmp_path / "tree"), tmp_path / "dist", "wheel")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    dependencies = [path for path in sys.path if path.endswith("site-packages")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), *dependencies])}
    code = (
        "import planner_executor; print(planner_executor.__file__); from planner_executor.command import main; main()"
    )
    command = [sys.executable, "-P", "-c", code, "new", "bills"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path / "site")) and (tmp_path / "bills" / "payables.py").is_file()


def copied(folder: Path) -> Path:
    """Return a copy of the files that are under version control; a build takes what lies beside them."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    return folder


def built(source: Path, into: Path, kind: str) -> Path:
    """Return what hatchling builds."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(into)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (made,) = into.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return made


def contents(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return sorted(archive.namelist())
