"""A setting is declared once, in `Settings`; what cannot be made of its field is held to it here."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import get_type_hints

import pytest

from planner_executor.graph.cli.run_options import RunOptions
from planner_executor.graph.cli.setup import Setup
from planner_executor.graph.client_context import Context
from planner_executor.graph.settings.settings import DEFAULTS, REMEMBERED, SETTINGS, TYPES, GivenSettings, Setting

ROOT = Path(__file__).parents[2]
ADDED = {
    "max_wishes": Setting("Wishes per run, at most", least=1, client="lowers", option="N"),
    "wonder": Setting("What is wondered at"),
}
TAKEN = ("approval", "policy", "replan", "instructions", "budget")
"""Their cells in the table say what they take, too."""
WORDS = {
    "look": "none",
    "horizon": "all at once",
    "attempts": "1",
    "timeout_s": "none",
    "backoff_s": "1",
    "time_zone": '`"UTC"`',
    "record_prompts": "`True`",
}
"""How the table writes a default that is no number."""


def page(name: str) -> str:
    """Return a page of the documentation without the addresses of its links."""
    return re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", (ROOT / "docs" / name).read_text())


def clause(told: Setting) -> str:
    """Return what a setting sets, as a cell of a table begins it."""
    return f"{told.help[0].lower()}{told.help[1:]}"


def named(cell: str) -> set[str]:
    """Return the names that a cell lists."""
    return set(re.findall(r"`(\w+)`", cell))


def undocumented(settings: Mapping[str, Setting]) -> Iterator[str]:
    """Yield each file that lacks a setting, with the line that it lacks."""
    seen = {name for name, told in settings.items() if told.client == "sees"}
    lowered = {name for name, told in settings.items() if told.client == "lowers"}
    python, studio, security = page("python.md"), page("studio.md"), page("security.md")
    for name, told in settings.items():
        default = WORDS.get(name) or f"{DEFAULTS.get(name, 0):,}" if name not in TAKEN else ""
        row = f"| `{name}` | " + (f"{clause(told)} | {default} |" if name not in TAKEN else "")
        if f"\n{row}" not in python:
            yield f"docs/python.md: {row}"
        if name in lowered and f"\n| `{name}` | {clause(told)}; can only lower the server's limit |" not in studio:
            yield f"docs/studio.md: | `{name}` | {clause(told)}; can only lower the server's limit |"
    if not any(named(cell) == seen for cell in re.findall(r"\n\| (`approval`, [^|]+) \| shown only", studio)):
        yield f"docs/studio.md: {', '.join(seen)} | shown only"
    cells = [named(cell) for cell in re.findall(r"\n\| (`max_[^|]+) \| yes \| (?:only lower|no)", security)]
    if cells != [lowered, seen - {"approval", "budget"}]:
        yield f"docs/security.md: {cells}"
    if {each.name for each in fields(RunOptions)} & set(settings) != {"policy"} | {
        name for name, told in settings.items() if told.option
    }:
        yield "graph/cli/run_options.py"
    if set(settings) != set(GivenSettings.__annotations__):
        yield "graph/settings/settings.py: GivenSettings"


def test_each_setting_is_where_people_read_of_it_and_write_it() -> None:
    assert not list(undocumented(SETTINGS))


def test_who_adds_a_setting_is_led_to_the_files_that_the_architecture_names() -> None:
    (row,) = re.findall(r"^\| which settings there are \| (.+) \|$", page("architecture.md"), re.MULTILINE)
    places = re.findall(r"`([^`]+)`", row)

    assert {found.split(":")[0] for found in undocumented({**SETTINGS, **ADDED})} == set(places)


def test_a_caller_gives_settings_of_the_types_that_they_have() -> None:
    given = get_type_hints(GivenSettings)

    assert {**TYPES, "policy": given["policy"], "budget": given["budget"]} == given


@pytest.mark.parametrize("name", SETTINGS)
def test_each_setting_has_a_clause_to_tell_it_by(name: str) -> None:
    assert SETTINGS[name].help[0].isupper() and not SETTINGS[name].help.endswith(".")


def test_forms_and_remembered_setups_are_made_of_the_settings() -> None:
    shown = {name for name, told in SETTINGS.items() if told.client != "ignores"}

    assert set(Context.model_fields) & set(SETTINGS) == shown
    assert set(Setup.default().settings) == set(REMEMBERED)
