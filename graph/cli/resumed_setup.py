"""What `resume` takes up of the settings that a run was started with, and how they differ from those here.

The settings here (options, environment, settings file) are the operator's. What a run remembers completes them and
never weakens them, and each difference is shown before a folder, a model or a server is used.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any

from graph.cli.model_options import recorded_models
from graph.cli.prompts import Later, asked_of_person
from graph.cli.screen import Screen
from graph.cli.setup import Setup, absolute
from graph.errors import InputError
from graph.runs import Run

OPTIONS = {
    "documents": "--docs",
    "workspace": "--workspace",
    "mcp": "--mcp",
    "config": "--config",
    "policy": "--policy",
    "approval": "--approval",
    "replan": "--replan",
    "horizon": "--horizon",
    "max_replans": "--max-replans",
    "max_concurrency": "--max-concurrency",
}
PROGRAM_CHARACTERS = 200
QUESTION = "Use these settings? y: use them, n: go on with those here: "


@dataclass(frozen=True)
class Difference:
    """A setting that is one thing where the run was started and another here."""

    name: str
    then: Any
    here: Any

    def told(self, used: Any) -> str:
        """Return the difference in words, with what is used."""
        if used == self.here:
            then = shown(self.name, self.then)
            return f"{self.name}: {shown(self.name, used)}, as it is here; the run was started with: {then}"
        return f"{self.name}: {shown(self.name, used)}, as the run was started; here: {shown(self.name, self.here)}"

    @property
    def options(self) -> list[str]:
        """The options that name what the run was started with."""
        if self.name in OPTIONS:
            return [f"{OPTIONS[self.name]} {quote(str(self.then))}"]
        role = self.name.removeprefix("model of ")
        return [f"--set {quote(f'{role}.{name}={json.dumps(value)}')}" for name, value in (self.then or {}).items()]


def setup_to_resume(screen: Screen, run: Run, options: Mapping[str, Any], own_settings: bool) -> Setup:
    """Return what a run goes on with, and show how that differs from what it was started with.

    Args:
        screen: Where the differences are shown, and a person may be asked.
        run: The run.
        options: The options of the command line, None where one was not given; they always hold.
        own_settings: Whether nothing is to be taken up that the run remembers.

    Raises:
        InputError: An older record names settings that a client may have written, and nobody says whether to use them;
            or what a record names cannot be read.
        ConfigError: A policy or a settings file cannot be read.
    """
    here = Setup.default().changed(**options)
    known = run.setup or run.unproven_setup
    if own_settings or not known:
        return here
    then = _read(run, known)
    found = list(differences(known, then, here))
    if not run.setup:
        given = {name for name, value in options.items() if value not in (None, {})}
        unnamed = [each for each in found if each.then is not None and not _is_given(each.name, given)]
        if not unnamed or not _confirmed(screen, run, unnamed):
            return here
    used = _with_own_policy(then.changed(**options), then, here, options)
    for each in found:
        screen.say(each.told(_value(used, each.name)))
    return used


def differences(known: Mapping[str, Any], then: Setup, here: Setup) -> Iterator[Difference]:
    """Yield what is not as it was when the run was started.

    Args:
        known: What the record names.
        then: The same as a setup.
        here: The settings here.
    """
    for name in OPTIONS:
        if name in known and getattr(then, name) != _value(here, name):
            yield Difference(name, getattr(then, name), _value(here, name))
    before, now = known.get("models") or {}, recorded_models(here.models, here.config)
    for role in dict.fromkeys((*before, *now)):
        if before.get(role) != now.get(role):
            yield Difference(f"model of {role}", before.get(role), now.get(role))


def shown(name: str, value: Any) -> str:
    """Return a setting in words; of a file of MCP servers also what it starts and where it leads."""
    if value is None:
        return "none"
    if isinstance(value, Mapping):
        return json.dumps(value)
    programs = ", ".join(_programs(Path(value))) if name == "mcp" else ""
    return f"{value} ({programs})" if programs else str(value)


def _value(setup: Setup, name: str) -> Any:
    """Return a setting; a policy may come from the environment or the settings file too."""
    if name.startswith("model of "):
        return recorded_models(setup.models, setup.config).get(name.removeprefix("model of "))
    return _policy(setup) if name == "policy" else getattr(setup, name)


def _policy(setup: Setup) -> str | None:
    from graph.configuration import policy_named

    named = policy_named(setup.policy, setup.config)
    return named and absolute(Path(named))


def _with_own_policy(used: Setup, then: Setup, here: Setup, options: Mapping[str, Any]) -> Setup:
    """Return the setup with the policy here, unless the run was started with one that is as strict everywhere."""
    from graph.configuration import policy_of
    from graph.policy.strictness import looser_points

    own = _policy(here)
    if options.get("policy") is not None or own is None:
        return used
    if then.policy is not None and not looser_points(policy_of(then.policy), policy_of(own)):
        return used
    return replace(used, policy=own)


def _read(run: Run, known: Mapping[str, Any]) -> Setup:
    """Return what a record names as a setup.

    Raises:
        InputError: It cannot be one.
    """
    faults = [name for name in OPTIONS if not isinstance(known.get(name), str | int | None)]
    try:
        if faults:
            raise TypeError(f"{faults[0]} is {json.dumps(known[faults[0]])[:60]}")
        return Setup.default().from_record(known)
    except (TypeError, ValueError, AttributeError, InputError) as error:
        why = (
            f"the settings that {run.id} was started with cannot be read ({error}); leave them out with --own-settings"
        )
        raise InputError("run", why) from error


def _is_given(name: str, given: set[str]) -> bool:
    return "models" in given if name.startswith("model of ") else name in given


def _confirmed(screen: Screen, run: Run, found: list[Difference]) -> bool:
    """Return whether a person wants the settings of an older record, which a client of a server may have written."""
    if not screen.interactive:
        named = " ".join(option for each in found for option in each.options)
        why = f"{run.id} was begun by an older version, in which clients could write settings; name them or others"
        raise InputError("run", f"{why}: {named}; or leave them out with --own-settings")
    screen.say(f"{run.id} was begun by an older version, in which clients could write these settings:")
    for each in found:
        screen.say(f"  {each.name}: {shown(each.name, each.then)}; here: {shown(each.name, each.here)}")
    ask = partial(asked_of_person, screen, QUESTION)
    try:
        while (words := ask().lower()) not in ("y", "yes", "n", "no"):
            pass
    except Later:
        raise InputError("run", "nothing was decided; look at the settings, or use --own-settings") from None
    return words in ("y", "yes")


def _programs(file: Path) -> Iterator[str]:
    """Yield what the servers of a file start, or where they are."""
    try:
        servers = json.loads(file.read_text("utf-8"))["mcpServers"].values()
        for server in servers:
            words = [server.get("command") or server.get("url"), *server.get("args", ())]
            yield " ".join(map(str, words))[:PROGRAM_CHARACTERS]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return  # what is wrong with the file is told once it is used
