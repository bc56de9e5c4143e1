"""Setup of a resumed run: the current settings, completed by those that the run recorded (decision 0022).

The current settings (options, environment, settings file) belong to the operator. Recorded settings complete them but
never weaken them, and each difference is shown before a folder, a model or a server is used.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any

from planner_executor.graph.cli.model_options import recorded_models
from planner_executor.graph.cli.prompts import Postponed, read_answer
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.cli.setting_options import option_name
from planner_executor.graph.cli.setup import Setup, absolute
from planner_executor.graph.errors import InputError
from planner_executor.graph.runs.run import Run
from planner_executor.graph.settings.run_settings import REMEMBERED

OPTIONS = {
    "documents": "--docs",
    "workspace": "--workspace",
    "mcp": "--mcp",
    "config": "--config",
    "policy": "--policy",
    **{name: option_name(name) for name in REMEMBERED},
}
PROGRAM_CHARACTERS = 200
QUESTION = "Use the recorded settings? y: yes, n: continue with the current ones: "


@dataclass(frozen=True)
class SettingDifference:
    """A setting with different recorded and current values."""

    name: str
    recorded: Any
    current: Any

    def describe(self, used: Any) -> str:
        """Return the difference as a sentence, given the value in use."""
        if used == self.current:
            return f"{self.name}: {shown(self.name, used)} (current); recorded: {shown(self.name, self.recorded)}"
        return f"{self.name}: {shown(self.name, used)} (recorded); current: {shown(self.name, self.current)}"

    @property
    def options(self) -> list[str]:
        """The options that set the recorded value."""
        if self.name in OPTIONS:
            return [f"{OPTIONS[self.name]} {quote(str(self.recorded))}"]
        role = self.name.removeprefix("model of ")
        return [f"--set {quote(f'{role}.{name}={json.dumps(value)}')}" for name, value in (self.recorded or {}).items()]


def setup_to_resume(screen: Screen, run: Run, options: Mapping[str, Any], own_settings: bool) -> Setup:
    """Return the setup to resume a run with, and show where recorded and current settings differ.

    Args:
        screen: Shows the differences, and prompts for a confirmation if one is needed.
        run: The run.
        options: Options of the command line, None if not given; they always win.
        own_settings: Whether to ignore the recorded settings.

    Raises:
        InputError: The recorded settings cannot be read, or come from an older version, in which a client may have
            written them, and are not confirmed.
        ConfigError: A policy or a settings file cannot be read.
    """
    current = Setup.default().changed(**options)
    known = run.setup or run.unproven_setup
    if not known and options.get("documents") is None and options.get("workspace") is None:
        screen.say(f"{run.id} has no recorded settings, as it was started by a server or a graph of your own.")
        screen.say(f"documents: {current.documents}; workspace: {current.workspace} (--docs, --workspace: others)")
    if own_settings or not known:
        return current
    recorded = _read(run, known)
    found = list(differences(known, recorded, current))
    if not run.setup:
        # An option says the same as an answer would: what it names needs no question.
        given = {name for name, value in options.items() if value not in (None, {})}
        unnamed = [each for each in found if each.recorded is not None and not _is_given(each.name, given)]
        if not unnamed or not _confirmed(screen, run, unnamed):
            return current
    # The policy comes last: a record may not weaken the one in force here, only an option may.
    used = _with_current_policy(recorded.changed(**options), recorded, current, options)
    for difference in found:
        screen.say(difference.describe(_value(used, difference.name)))
    return used


@contextmanager
def opened_setup(
    screen: Screen, run: Run, options: Mapping[str, Any], own_settings: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield the options of `graph.build_graph` for a run that is resumed, and its `setup`, see `setup_to_resume`."""
    setup = setup_to_resume(screen, run, options, own_settings)
    with setup.opened() as built:
        yield {**built, "setup": setup.to_json()}


def setup_on_record(run: Run, current: Setup, options: Mapping[str, Any]) -> Setup:
    """Return the setup that a facade recorded, completed by options, with the current policy unless it is as strict.

    Raises:
        InputError: The recorded settings cannot be read.
        ConfigError: A policy or a settings file cannot be read.
    """
    recorded = _read(run, run.setup)
    return _with_current_policy(recorded.changed(**options), recorded, current, options)


def differences(known: Mapping[str, Any], recorded: Setup, current: Setup) -> Iterator[SettingDifference]:
    """Yield the settings whose recorded and current values differ.

    Args:
        known: The recorded settings as JSON.
        recorded: The same as a setup.
        current: The current setup.
    """
    for name in OPTIONS:
        if name in known and _plain(recorded, name) != _value(current, name):
            yield SettingDifference(name, _plain(recorded, name), _value(current, name))
    before, now = known.get("models") or {}, recorded_models(current.models, current.config)
    for role in dict.fromkeys((*before, *now)):
        if before.get(role) != now.get(role):
            yield SettingDifference(f"model of {role}", before.get(role), now.get(role))


def shown(name: str, value: Any) -> str:
    """Return a setting as text; for a file of MCP servers, with the commands and addresses in it."""
    if value is None:
        return "none"
    if isinstance(value, Mapping):
        return json.dumps(value)
    programs = ", ".join(_programs(Path(value))) if name == "mcp" else ""
    return f"{value} ({programs})" if programs else str(value)


def _value(setup: Setup, name: str) -> Any:
    """Return a setting; the policy may also come from the environment or the settings file."""
    if name.startswith("model of "):
        return recorded_models(setup.models, setup.config).get(name.removeprefix("model of "))
    return _policy(setup) if name == "policy" else _plain(setup, name)


def _plain(setup: Setup, name: str) -> Any:
    return setup.settings[name] if name in setup.settings else getattr(setup, name)


def _policy(setup: Setup) -> str | None:
    from planner_executor.graph.builder.configuration import policy_named

    named = policy_named(setup.policy, setup.config)
    return named and absolute(Path(named))


def _with_current_policy(used: Setup, recorded: Setup, current: Setup, options: Mapping[str, Any]) -> Setup:
    """Return the setup with the current policy, unless the recorded one is at least as strict in every point."""
    from planner_executor.graph.builder.configuration import policy_of
    from planner_executor.graph.policy.strictness import looser_points

    own = _policy(current)
    if options.get("policy") is not None or own is None:
        return used
    if recorded.policy is not None and not looser_points(policy_of(recorded.policy), policy_of(own)):
        return used
    return replace(used, policy=own)


def _read(run: Run, known: Mapping[str, Any]) -> Setup:
    """Return the recorded settings as a setup.

    Raises:
        InputError: They cannot be read.
    """
    faults = [name for name in OPTIONS if not isinstance(known.get(name), str | int | None)]
    try:
        # The record may be from elsewhere: a path that is an object would fail far from here.
        if faults:
            raise TypeError(f"{faults[0]} is {json.dumps(known[faults[0]])[:60]}")
        return Setup.default().from_record(known)
    except (TypeError, ValueError, AttributeError, InputError) as error:
        why = f"the recorded settings of {run.id} cannot be read ({error}); ignore them with --own-settings"
        raise InputError("run", why) from error


def _is_given(name: str, given: set[str]) -> bool:
    return "models" in given if name.startswith("model of ") else name in given


def _confirmed(screen: Screen, run: Run, found: list[SettingDifference]) -> bool:
    """Ask a person whether to use the settings of an older record, which a server's client may have written."""
    if not screen.interactive:
        named = " ".join(option for each in found for option in each.options)
        why = f"the settings of {run.id} are from an older version, in which clients could write them"
        raise InputError("run", f"{why}; confirm them with {named}, or ignore them with --own-settings")
    screen.say(f"{run.id} is from an older version, in which clients could write these settings:")
    for each in found:
        screen.say(f"  {each.name}: {shown(each.name, each.recorded)}; current: {shown(each.name, each.current)}")
    ask = partial(read_answer, screen, QUESTION)
    try:
        while (words := ask().lower()) not in ("y", "yes", "n", "no"):
            pass
    except Postponed:
        raise InputError("run", "the settings were not confirmed; answer y or n, or use --own-settings") from None
    return words in ("y", "yes")


def _programs(file: Path) -> Iterator[str]:
    """Yield the commands and addresses of the servers in a file."""
    try:
        servers = json.loads(file.read_text("utf-8"))["mcpServers"].values()
        for server in servers:
            words = [server.get("command") or server.get("url"), *server.get("args", ())]
            yield " ".join(map(str, words))[:PROGRAM_CHARACTERS]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return  # a broken file is reported when it is used
