"""The lists of `make mutants` name every module, and nothing that is not there."""

import runpy
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests/mutants"
LISTED = tomllib.loads((FOLDER / "modules.toml").read_text())
MODULES = [*LISTED["mirrored"], *LISTED["tests"]]
EXCUSED: dict[str, str] = LISTED["excused"]
MUTATIONS = runpy.run_path(str(FOLDER / "mutations.py"))["mutations"]


def unlisted() -> list[str]:
    """The modules of the tree that are not tried, by the name that they have in the lists."""
    files = [path.relative_to(ROOT) for room in ("graph", "tools") for path in (ROOT / room).rglob("*.py")]
    files += [path.relative_to(path.parent) for path in (ROOT / "planner_executor").glob("*.py")]
    return sorted({".".join(path.with_suffix("").parts) for path in files} - set(MODULES))


def excuse(module: str) -> str | None:
    """The longest name of an excuse that is the module's or that of a folder around it."""
    return max((name for name in EXCUSED if f"{module}.".startswith(f"{name}.")), key=len, default=None)


def has_mutants(module: str) -> bool:
    return any(MUTATIONS((ROOT / f"planner_executor/{module.replace('.', '/')}.py").read_text()))


def mirror(module: str) -> str:
    room, _, last = module.replace(".", "/").rpartition("/")
    return f"tests/{room}/test_{last}.py"


def test_each_module_is_listed_once_and_each_is_there() -> None:
    assert len(MODULES) == len(set(MODULES))
    assert [name for name in MODULES if not (ROOT / f"{name.replace('.', '/')}.py").is_file()] == []


def test_each_module_that_has_mutants_is_listed_or_excused() -> None:
    assert [module for module in unlisted() if excuse(module) is None and has_mutants(module)] == []


def test_each_excuse_has_a_reason_and_a_module_that_needs_it() -> None:
    assert [name for name, reason in EXCUSED.items() if not reason.strip()] == []
    assert set(EXCUSED) - {excuse(module) for module in unlisted()} == set()


def test_the_tests_of_each_module_are_there() -> None:
    named = [*map(mirror, LISTED["mirrored"]), *(test for tests in LISTED["tests"].values() for test in tests)]

    assert [test for test in named if not (ROOT / test).is_file()] == []


def test_equivalent_mutants_are_mutants_of_the_source_as_it_is_now() -> None:
    found = tomllib.loads((FOLDER / "equivalent.toml").read_text())
    outdated = []
    for module, entries in found.items():
        names = {mutation.name for mutation in MUTATIONS((ROOT / f"{module.replace('.', '/')}.py").read_text())}
        outdated += [f"{module}: {entry['mutation']}" for entry in entries if entry["mutation"] not in names]

    assert outdated == []


def test_equivalent_mutants_are_those_of_listed_modules_each_with_a_reason() -> None:
    found = tomllib.loads((FOLDER / "equivalent.toml").read_text())

    assert set(found) <= set(MODULES)
    assert [entry for entries in found.values() for entry in entries if not entry["why"].strip()] == []
