"""The folder of playbooks that the settings name; each file in it is trusted by itself, by its content."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from planner_executor.graph.errors import InputError
from planner_executor.graph.errors.file_faults import file_faults
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.library import KnownPlaybook, Library
from planner_executor.graph.playbooks.playbook import Playbook, content_of
from planner_executor.graph.settings.settings_file import SettingsFile, Table, TextOrVariable
from planner_executor.graph.settings.trust import is_trusted
from planner_executor.graph.words.name_list import listed, there_are

PLAYBOOKS: Table[str] = Table("playbooks", TextOrVariable)
"""The folder, from the folder of the settings file on. Naming one needs no trust: its files do."""
ENDING = ".yaml"


class Found(NamedTuple):
    """A file of the folder: a playbook, or why it is none."""

    path: Path
    playbook: Playbook | None
    fault: str = ""
    is_trusted: bool = False


def folder_of(settings: SettingsFile) -> Path | None:
    """Return the folder that a settings file names, None if it names none.

    Raises:
        ConfigError: The name of the folder is no text.
    """
    named = PLAYBOOKS.value_in(settings)
    return settings.path.parent / named if named is not None else None


def found_in(folder: Path) -> list[Found]:
    """Return the files of a folder, by name.

    Raises:
        InputError: There is no such folder, or it cannot be read.
    """
    move = "name another one in the settings"
    with file_faults("playbooks", folder, move):
        if not folder.is_dir():
            raise InputError("playbooks", f"{folder} is no folder; make it, or {move}")
        files = sorted(folder.glob(f"*{ENDING}"))
    return [_found(path) for path in files if path.is_file()]


def named(name: str, folder: Path, *, trusted: bool = True) -> Playbook:
    """Return the latest version of the playbook of this name, which the user has to have trusted if `trusted` is set.

    Raises:
        InputError: There is none, it is not trusted, or two files hold different playbooks of this name and version.
    """
    known = [(one.path, one.playbook, one.is_trusted) for one in found_in(folder) if one.playbook is not None]
    same = [one for one in known if one[1].name == name]
    if not same:
        there = there_are(sorted({playbook.name for _, playbook, _ in known}))
        raise InputError("playbook", f"no playbook {name!r:.80} in {folder}; {there}")
    latest = max(playbook.version for _, playbook, _ in same)
    same = [one for one in same if one[1].version == latest]
    path, playbook, is_trusted_now = same[0]
    # Copies of one file are no problem: they say the same.
    if len({other.digest for _, other, _ in same}) > 1:
        files = listed([str(other) for other, _, _ in same])
        raise InputError("playbook", f"{files} are different playbooks with the name {name} and the version {latest}")
    if trusted and not is_trusted_now:
        move = f"read it, then run `planner-executor trust {quote(str(path))}`"
        raise InputError("playbook", f"{path} is not trusted, or has changed since it was; {move}")
    return playbook


def library_of(folder: Path, tools: Mapping[str, ToolSpec]) -> Library:
    """Return the playbooks of a folder that planners may choose, by name: the latest of each, trusted, and unchanged.

    One whose tools are others than when it was saved, or in whose place one of them can write, is left out.
    """
    known = {one.playbook.name for one in found_in(folder) if one.playbook is not None and one.is_trusted}
    library: dict[str, KnownPlaybook] = {}
    for name in sorted(known):
        with suppress(InputError):  # the latest version is not trusted, or there are two of it
            playbook = named(name, folder)
            if not playbook.changes(tools) and not playbook.writers(tools):
                library[name] = playbook.known
    return library


def acts_of(content: bytes, path: Path) -> Iterator[str]:
    """Yield what a playbook does, for whoever is asked to trust it.

    Raises:
        InputError: It is no playbook.
    """
    playbook = Playbook.parse(content, str(path))
    yield f"{playbook.name} {playbook.version}: {playbook.description}"
    for step in playbook.steps:
        for tool in [step.get("tool"), *(step.get("tools") or ())]:
            if isinstance(tool, str):
                face = playbook.tools.get(tool, {})
                yield f"{step.get('id')} may call {tool}, whose effect is {face.get('effect', 'not recorded')}"


def _found(path: Path) -> Found:
    try:
        content = content_of(path)
        return Found(path, Playbook.parse(content, str(path)), is_trusted=is_trusted(path, content))
    except InputError as error:
        return Found(path, None, str(error))
