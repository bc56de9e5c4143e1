"""`planner-executor trust`: trust the current content of a folder's settings file (decision 0021)."""

from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner_executor.graph.cli.exit_codes import on_screen
from planner_executor.graph.cli.options import path_of
from planner_executor.graph.cli.prompts import is_confirmed
from planner_executor.graph.cli.screen import DIGEST_CHARACTERS, Screen
from planner_executor.graph.errors import InputError
from planner_executor.graph.errors.file_faults import file_faults
from planner_executor.graph.settings.settings_file import FILE, SettingsFile, read_file
from planner_executor.graph.settings.trust import content_trusted, digest_of, forget
from planner_executor.graph.settings.trust import trust as trust_file
from planner_executor.graph.text.changed_lines import changed_lines

if TYPE_CHECKING:
    from planner_executor.graph.settings.settings_file import Table


HOMES = {
    "models": "planner_executor.graph.chat_models.sources",
    "tools": "planner_executor.graph.builder.configuration",
    "look": "planner_executor.graph.builder.configuration",
    "pack": "planner_executor.graph.builder.configuration",
    "identity": "planner_executor.graph.builder.configuration",
    "notify": "planner_executor.graph.notices.addresses",
    "schedules": "planner_executor.graph.playbooks.schedule",
    "desk": "planner_executor.graph.desk.desk_table",
}
"""The tables of a settings file, and the modules that read them; a policy is a file of its own."""


@on_screen
def trust(
    screen: Screen,
    file: Annotated[
        Path, typer.Argument(parser=path_of, metavar="[FILE]", help="The settings file, or a playbook.")
    ] = FILE,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="Revoke the trust.")] = False,
) -> None:
    """Trust a folder's settings file, and the policy named in it, or a playbook, until they change."""
    if revoke:
        screen.say(f"{file} is trusted no longer" if forget(file) else f"{file} was not trusted")
        return
    read = list(_read(file))  # every fault of them before any trust
    for path, _, acts in read:
        for act in acts:
            screen.say(f"{path}: {act}")
    for path, content, _ in read:
        _say_change(screen, path, content)
    if not yes and not is_confirmed(screen, f"Trust {' and '.join(str(path) for path, *_ in read)} until a change?"):
        raise InputError("--yes", "nothing was trusted, because nothing was confirmed; answer y, or give --yes")
    for path, content, _ in read:
        trust_file(path, content)  # what was read: a change in between is not trusted
        screen.say(f"{path} is trusted until it changes, digest {digest_of(content)[:DIGEST_CHARACTERS]}")


def _read(file: Path) -> Iterator[tuple[Path, bytes, Sequence[str]]]:
    """Yield the settings file and the policy named in it, each with content and everything that takes trust.

    A playbook is trusted by itself.
    """
    content = _content(file)
    if file.suffix == ".yaml":
        from planner_executor.graph.playbooks.folder import acts_of

        yield file, content, list(acts_of(content, file))
        return
    from planner_executor.graph.builder.configuration import policy_beside

    settings = read_file(file, content)
    yield file, content, list(_acts_of(settings))
    if (policy := policy_beside(settings)) is not None:
        content = _content(policy)
        yield policy, content, _acts_as_policy(policy, content)


def _acts_of(settings: SettingsFile) -> Iterator[str]:
    for name, home in HOMES.items():
        if name in settings.values:  # the desk needs packages that another file does not
            table: Table[Any] = getattr(import_module(home), name.upper())
            yield from table.acts_in(settings)


def _acts_as_policy(file: Path, content: bytes) -> list[str]:
    from planner_executor.graph.policy.policy import NO_POLICY
    from planner_executor.graph.policy.policy_file import policy_from_toml
    from planner_executor.graph.policy.strictness import looser_points

    policy = policy_from_toml(content.decode("utf-8", "replace"), str(file))
    return [f"looser than no policy: {point}" for point in looser_points(policy, NO_POLICY)]


def _say_change(screen: Screen, file: Path, content: bytes) -> None:
    before = content_trusted(file)
    if before is not None and before != content:
        screen.say(f"{file} has changed since it was trusted:")
        screen.say_each(changed_lines(before.decode("utf-8", "replace"), content.decode("utf-8", "replace")))


def _content(file: Path) -> bytes:
    with file_faults("FILE", file, "name the settings file to trust"):
        return file.read_bytes()
