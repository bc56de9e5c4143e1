"""`planner-executor trust`: trust the current content of a folder's settings file (decision 0021)."""

from pathlib import Path
from typing import Annotated

import typer

from graph.cli.exit_codes import report_errors
from graph.cli.options import path_of
from graph.cli.screen import DIGEST_CHARACTERS, Screen
from graph.errors import InputError
from graph.settings_file import FILE, settings_file
from graph.trust import digest_of, forget
from graph.trust import trust as trust_file

SettingsOfFolder = Annotated[Path, typer.Argument(parser=path_of, metavar="[FILE]", help="The settings file.")]
Revoke = Annotated[bool, typer.Option("--revoke", help="Revoke the trust.")]


def trust(file: SettingsOfFolder = FILE, revoke: Revoke = False) -> None:
    """Trust a folder's settings file, and the policy named in it, until they change."""
    screen = Screen.here()
    with report_errors(screen):
        if revoke:
            screen.say(f"{file} is trusted no longer" if forget(file) else f"{file} was not trusted")
            return
        content = _content(file)
        policy = _policy_named_in(file)
        _trust(screen, file, content, [*_acts_on_models(file), *_acts_of_notices(file), *_acts_at_desk(file)])
        if policy is not None:
            _trust(screen, policy, _content(policy), _acts_as_policy(policy))


def _trust(screen: Screen, file: Path, content: bytes, acts: list[str]) -> None:
    """Print what the file does, then trust the content read before; a change in between is not trusted."""
    for act in acts:
        screen.say(f"{file}: {act}")
    trust_file(file, content)
    screen.say(f"{file} is trusted until it changes, digest {digest_of(content)[:DIGEST_CHARACTERS]}")


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InputError("FILE", f"{file}: {error.strerror}; name the settings file to trust") from error


def _policy_named_in(file: Path) -> Path | None:
    """Return the policy named in a settings file; it has a digest of its own."""
    named = settings_file(file).values.get("policy")
    return file.parent / named if isinstance(named, str) and named else None


def _acts_on_models(file: Path) -> list[str]:
    from graph.chat_models.sources import from_file
    from graph.chat_models.untrusted import acts_needing_trust

    return acts_needing_trust(from_file(file))


def _acts_of_notices(file: Path) -> list[str]:
    """Return what the table [notify] does, without its addresses, which are secrets."""
    table = settings_file(file).values.get("notify")
    given = table.get("addresses") if isinstance(table, dict) else None
    return [f"notices of runs go to the addresses {', '.join(given)}"] if isinstance(given, dict) and given else []


def _acts_at_desk(file: Path) -> list[str]:
    """Return what the table [desk] does."""
    table = settings_file(file).values.get("desk")
    given = table if isinstance(table, dict) else {}
    ways = {"oidc": "issuer", "headers": "name"}
    found = [
        f"people sign in to the review desk by {way}: {one.get(name)}"
        for way, name in ways.items()
        if isinstance(one := given.get(way), dict)
    ]
    return found + [f"{name} of the review desk: {given[name]}" for name in ("reviewers", "readers") if name in given]


def _acts_as_policy(file: Path) -> list[str]:
    from graph.configuration import policy_of
    from graph.policy.policy import NO_POLICY
    from graph.policy.strictness import looser_points

    return [f"looser than no policy: {point}" for point in looser_points(policy_of(file), NO_POLICY)]
