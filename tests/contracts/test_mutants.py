"""The lists of `make mutants` name what is there."""

import runpy
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests/mutants"
LISTED = tomllib.loads((FOLDER / "modules.toml").read_text())
MODULES = [*LISTED["mirrored"], *LISTED["tests"]]


def mirror(module: str) -> str:
    room, _, last = module.replace(".", "/").rpartition("/")
    return f"tests/{room}/test_{last}.py"


def test_each_module_is_listed_once_and_each_is_there() -> None:
    assert len(MODULES) == len(set(MODULES))
    assert [name for name in MODULES if not (ROOT / f"{name.replace('.', '/')}.py").is_file()] == []


def test_the_tests_of_each_module_are_there() -> None:
    named = [*map(mirror, LISTED["mirrored"]), *(test for tests in LISTED["tests"].values() for test in tests)]

    assert [test for test in named if not (ROOT / test).is_file()] == []


def test_equivalent_mutants_are_mutants_of_the_source_as_it_is_now() -> None:
    mutations = runpy.run_path(str(FOLDER / "mutations.py"))["mutations"]
    found = tomllib.loads((FOLDER / "equivalent.toml").read_text())
    outdated = []
    for module, entries in found.items():
        names = {mutation.name for mutation in mutations((ROOT / f"{module.replace('.', '/')}.py").read_text())}
        outdated += [f"{module}: {entry['mutation']}" for entry in entries if entry["mutation"] not in names]

    assert outdated == []


def test_equivalent_mutants_are_those_of_listed_modules_each_with_a_reason() -> None:
    found = tomllib.loads((FOLDER / "equivalent.toml").read_text())

    assert set(found) <= set(MODULES)
    assert [entry for entries in found.values() for entry in entries if not entry["why"].strip()] == []
