"""How commands name a playbook and give values to its parameters."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.errors import InputError
from planner_executor.graph.plan.depth import parse_json_or_text
from planner_executor.graph.playbooks.folder import folder_of, named
from planner_executor.graph.playbooks.playbook import Playbook
from planner_executor.graph.settings.settings_file import settings_file
from planner_executor.graph.words.name_list import listed

File = Annotated[
    Path,
    typer.Argument(
        parser=options.path_of,
        metavar="FILE|NAME",
        help="The playbook: a YAML file, or a name in the settings' folder.",
    ),
]
Values = Annotated[
    list[str] | None,
    typer.Option("--param", metavar="NAME=VALUE", help="The value of a parameter, text or JSON; may be repeated."),
]


def playbook_given(file: Path, config: Path | None, *, trusted: bool = True) -> Playbook:
    """Return the playbook in a file that the user names, or of a name in the folder of the settings.

    A file that is called like a name takes no trusted playbook's place.

    Raises:
        InputError: It is no playbook, or not trusted.
    """
    folder = None if file.suffix or file.name != str(file) else folder_of(settings_file(config))
    return Playbook.load(file) if folder is None else named(str(file), folder, trusted=trusted)


def values_given(found: Playbook, given: list[str]) -> dict[str, Any]:
    """Return parameter -> value; where text fits, the value is text.

    Raises:
        InputError: One is no pair, or a parameter has two values, of which one would be lost.
    """
    pairs = [pair(one, "NAME=VALUE") for one in given]
    if twice := [name for name, count in Counter(name for name, _ in pairs).items() if count > 1]:
        raise InputError("--param", f"{listed(twice)} has more than one value; give one")
    return {name: _read(found.parameters.get(name, {}), text) for name, text in pairs}


def _read(schema: Mapping[str, Any], text: str) -> Any:
    return text if schema.get("type", "string") == "string" else parse_json_or_text(text)


def pair(given: str, form: str) -> tuple[str, str]:
    """Return the name and what stands after the first equals sign.

    Raises:
        InputError: There is none.
    """
    name, equals, value = given.partition("=")
    if not equals or not name:
        raise InputError("--param", f"{given!r:.80} is not {form}")
    return name, value
