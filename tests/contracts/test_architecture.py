"""docs/architecture.md shows the tree and the layers as they are, and leads to files that exist."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text()
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]


def section(title: str) -> str:
    """Return the part of the page below a heading."""
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def block(title: str) -> str:
    """Return the block of text below a heading."""
    found = re.search(r"```text\n(.*?)```", section(title), re.DOTALL)
    assert found is not None
    return found[1]


def test_the_layers_are_those_that_the_linter_holds() -> None:
    (contract,) = (each for each in CONTRACTS if each["name"] == "imports go one way")
    shown = [{name.strip() for name in layer.split("|")} for layer in block("Layers").split("<-")]

    assert shown == [{name.strip() for name in layer.split("|")} for layer in reversed(contract["layers"])]
    assert contract["exhaustive"] and contract["containers"] == ["planner_executor.graph"]


def test_the_tree_names_each_package_and_module() -> None:
    there = {
        f"{each.name}/" if each.is_dir() else each.name
        for each in (ROOT / "graph").iterdir()
        if not each.name.startswith("__") and (each.is_file() or any(each.rglob("*.py")))
    }

    assert set(re.findall(r"^  ([\w.]+/?) ", block("The tree"), re.MULTILINE)) == there


def test_few_modules_lie_outside_of_a_room() -> None:
    assert len(list((ROOT / "graph").glob("*.py"))) <= 12


def test_each_question_leads_to_files_that_exist() -> None:
    rows = re.findall(r"^\| (?!You want|---)(.+?) \| (.+) \|$", section("Where things are"), re.MULTILINE)

    assert len(rows) == 31
    for question, where in rows:
        files = re.findall(r"`([^`]+)`", where)
        assert files and all((ROOT / file).exists() for file in files), f"{question}: {where}"


def test_each_file_and_package_that_the_page_names_is_there() -> None:
    named = set(re.findall(r"`((?:graph|tools|docs|tests)/[\w./]*)`", PAGE))

    assert named and not [path for path in named if not (ROOT / path).exists()]
