"""`planner-executor trust`: trust the settings file of a folder, as it is now."""

from pathlib import Path
from typing import Annotated

import typer

from graph.cli.exit_codes import reported
from graph.cli.screen import DIGEST_CHARACTERS, Screen
from graph.errors import InputError
from graph.settings_file import FILE, settings_file
from graph.trust import digest_of, forget
from graph.trust import trust as trust_file

SettingsOfFolder = Annotated[Path, typer.Argument(metavar="[FILE]", help="The settings file.")]
Revoke = Annotated[bool, typer.Option("--revoke", help="Trust it no longer.")]


def trust(file: SettingsOfFolder = FILE, revoke: Revoke = False) -> None:
    """Trust a folder's settings file, and the policy that it names, until they change."""
    screen = Screen.here()
    with reported(screen):
        if revoke:
            screen.say(f"{file} is trusted no longer" if forget(file) else f"{file} was not trusted")
            return
        content = _content(file)
        policy = _policy_named_in(file)
        _trust(screen, file, content, _acts_on_models(file))
        if policy is not None:
            _trust(screen, policy, _content(policy), _acts_as_policy(policy))


def _trust(screen: Screen, file: Path, content: bytes, acts: list[str]) -> None:
    """Say what the file does, and trust what was read of it before that."""
    for act in acts:
        screen.say(f"{file}: {act}")
    trust_file(file, content)
    screen.say(f"{file} is trusted until it changes, digest {digest_of(content)[:DIGEST_CHARACTERS]}")


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InputError("FILE", f"{file}: {error.strerror}; name the settings file that you want to trust") from error


def _policy_named_in(file: Path) -> Path | None:
    """Return the policy that a settings file names; the digest of the one does not cover the other."""
    named = settings_file(file).said.get("policy")
    return file.parent / named if isinstance(named, str) and named else None


def _acts_on_models(file: Path) -> list[str]:
    from graph.chat_models.sources import from_file
    from graph.chat_models.untrusted import acts_of

    return acts_of(from_file(file))


def _acts_as_policy(file: Path) -> list[str]:
    from graph.configuration import policy_of
    from graph.policy.policy import NO_POLICY
    from graph.policy.strictness import looser_points

    return [f"it allows more than no policy would: {point}" for point in looser_points(policy_of(file), NO_POLICY)]
