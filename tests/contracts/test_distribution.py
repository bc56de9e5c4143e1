"""One distribution, one import package."""

import json
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Collection
from dataclasses import dataclass
from importlib.metadata import Distribution, packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
UNDECLARED = {
    "fastapi": "taken if it is there",
    "pydantic_core": "each pydantic goes with one version",
    "pydantic_monty": "the client within the distribution of that name",
    "pytest": "whoever switches on the fixtures has it",
}
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


def test_each_library_that_is_imported_is_declared() -> None:
    project = PROJECT["project"]
    extras = [one for extra, needs in project["optional-dependencies"].items() if extra != "dev" for one in needs]
    declared = {plain(Requirement(one).name) for one in (*project["dependencies"], *extras)}
    brings = {name: {plain(one) for one in owners} for name, owners in packages_distributions().items()}
    undeclared = set()
    for file in (file for folder in ("graph", "tools", "planner_executor") for file in (ROOT / folder).rglob("*.py")):
        for line in re.findall(r"^ *(?:import|from) (\w+)", file.read_text(encoding="utf-8"), re.MULTILINE):
            undeclared |= {line} if line in brings and not brings[line] & declared else set()

    assert undeclared - {"planner_executor"} <= UNDECLARED.keys()


def test_nothing_tells_one_to_install_a_distribution_that_is_not_published() -> None:
    files = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("graph/**/*.py"), *ROOT.glob("tools/**/*.py")]
    named = re.compile(r"install '?planner-executor")

    assert [str(file) for file in files if named.search(file.read_text(encoding="utf-8"))] == []


def test_each_dependency_has_a_licence_that_asks_nothing_of_users() -> None:
    looked = subprocess.run([sys.executable, ROOT / ".ci" / "licences"], capture_output=True, text=True)

    assert looked.returncode == 0, looked.stderr
    assert "| langgraph |" in looked.stdout


@dataclass(frozen=True)
class Built:
    """The two archives, the wheel made of the first of them, and the folder that an installer makes of a wheel."""

    sdist: Path
    wheel: Path
    again: Path
    unpacked: Path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    at = tmp_path_factory.mktemp("built")
    tree = copied(at / "tree")
    sdist, wheel = build(tree, at / "dist", "sdist"), build(tree, at / "dist", "wheel")
    with tarfile.open(sdist) as archive:
        archive.extractall(at / "source", filter="data")
    (source,) = (at / "source").iterdir()
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(at / "unpacked")
    return Built(sdist, wheel, build(source, at / "again", "wheel"), at / "unpacked")


@pytest.mark.e2e
def test_the_sdist_and_the_wheel_are_complete_and_the_one_builds_the_other(built: Built) -> None:
    checked = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", built.sdist, built.wheel], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout

    names = contents(built.wheel)
    assert names == contents(built.again)
    assert {name.split("/")[0] for name in names} == {
        "planner_executor",
        f"{built.wheel.name.removesuffix('-py3-none-any.whl')}.dist-info",
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
def test_with_its_dependencies_alone_it_writes_a_project_and_says_what_each_extra_needs(
    built: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(built.unpacked)
    python = environment(tmp_path / "bare", built, extras=())
    done = subprocess.run([python.with_name("planner-executor"), "new", "bills"], cwd=tmp_path, capture_output=True)
    said = doors(python)

    assert done.returncode == 0 and (tmp_path / "bills" / "payables.py").is_file(), done.stderr
    assert [extra for extra in said if extra != "studio" and f"'.[{extra}]'" not in said[extra]] == []


@pytest.mark.e2e
def test_with_the_extras_each_opens_its_door(built: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(built.unpacked)
    extras = set(PROJECT["project"]["optional-dependencies"]) - {"dev"}
    said = doors(environment(tmp_path / "whole", built, extras=extras))

    assert set(said) == extras
    assert [said[extra] for extra in said if "'.[" in said[extra] or "ModuleNotFoundError" in said[extra]] == []


def environment(folder: Path, built: Built, extras: Collection[str]) -> Path:
    """Return the Python of an environment with the wheel, and of what is installed here what it needs and no more.

    What it needs is that of the first distribution of its name on the path, which has to be the wheel's.
    """
    venv.create(folder, with_pip=False, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    needed: dict[Any, Distribution] = {}
    runpy.run_path(str(ROOT / ".ci" / "licences"))["needed"]("planner-executor", frozenset(extras), needed)
    shared = {name for name, owners in packages_distributions().items() if len(set(owners)) > 1}
    links: dict[Path, str] = {}
    for found in needed.values():
        files = [Path(name) for name in found.files or () if name.parts[0] not in ("..", "__pycache__")]
        names = (name if name.parts[0] in shared else Path(name.parts[0]) for name in files)
        links |= {packages / name: str(found.locate_file(name)) for name in names}
    for name, target in links.items():
        name.parent.mkdir(parents=True, exist_ok=True)
        name.symlink_to(target)
    python = folder / "bin" / "python"
    command = python.with_name("planner-executor")
    command.write_text(f"#!{python}\nfrom planner_executor.command import main\nmain()\n")
    command.chmod(0o755)
    return python


def doors(python: Path) -> dict[str, str]:
    """Return what is said at the door of each extra."""
    looked = subprocess.run([python, "-P", ROOT / "tests" / "release" / "doors.py"], capture_output=True, text=True)
    assert looked.returncode == 0, looked.stderr
    said: dict[str, str] = json.loads(looked.stdout)
    assert said.pop("from").startswith(str(python.parents[1]))
    return said


def plain(name: str) -> str:
    """Return the name of a distribution in the spelling that all tools share."""
    return re.sub(r"[-_.]+", "-", name).lower()


def copied(folder: Path) -> Path:
    """Return a copy of the files that are under version control; a build takes what lies beside them."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    return folder


def build(source: Path, into: Path, kind: str) -> Path:
    """Return what hatchling builds."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(into)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (made,) = into.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return made


def contents(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return sorted(archive.namelist())
