"""A setting is declared once, in `Settings` or `RunSettings`; what cannot be made of its field is held to it here."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import get_type_hints

import pytest
from authority import ROWS

from planner_executor.graph.cli.run_options import RunOptions
from planner_executor.graph.cli.setup import Setup
from planner_executor.graph.client_context import Context
from planner_executor.graph.settings.run_settings import REMEMBERED, Setting
from planner_executor.graph.settings.settings import SETTINGS, TYPES, GivenSettings

ROOT = Path(__file__).parents[2]
ADDED = {
    "max_wishes": Setting("Wishes per run, at most", least=1, client="lowers", option="N"),
    "wonder": Setting("What is wondered at"),
}


def named(cell: str) -> set[str]:
    """Return the names that a cell lists."""
    return set(re.findall(r"`(\w+)`", cell))


def unknown(settings: Mapping[str, Setting]) -> Iterator[str]:
    """Yield each file that lacks a setting."""
    seen = {name for name, told in settings.items() if told.client == "sees"}
    lowered = {name for name, told in settings.items() if told.client == "lowers"}
    cells = [named(row.what) for row in ROWS if row.what.startswith("`max_")]
    if cells != [lowered, seen - {"approval", "budget"}]:
        yield f"tests/scenarios/authority.py: {cells}"
    if {each.name for each in fields(RunOptions)} & set(settings) != {"policy"} | {
        name for name, told in settings.items() if told.option
    }:
        yield "graph/cli/run_options.py"
    if {name for name, told in settings.items() if told.option} != set(REMEMBERED):
        yield "graph/settings/run_settings.py"
    if set(settings) != set(GivenSettings.__annotations__):
        yield "graph/settings/settings.py: GivenSettings"


def test_each_setting_is_where_people_read_of_it_and_write_it() -> None:
    assert not list(unknown(SETTINGS))


def test_who_adds_a_setting_is_led_to_the_files_that_the_architecture_names() -> None:
    (row,) = re.findall(
        r"^\| which settings there are \| (.+) \|$", (ROOT / "docs/architecture.md").read_text(), re.MULTILINE
    )
    places = re.findall(r"`([^`]+)`", row)

    assert {found.split(":")[0] for found in unknown({**SETTINGS, **ADDED})} == set(places)


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
