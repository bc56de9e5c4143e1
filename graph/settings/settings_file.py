"""The settings file: the one that somebody names, or `planner-executor.toml` of the current folder."""

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Any, Generic, TypeVar

from planner_executor.graph.errors import ConfigError
from planner_executor.graph.settings.trust import is_trusted
from planner_executor.graph.words.name_list import listed
from planner_executor.graph.words.unreadable import unreadable

FILE_VARIABLE = "PLANNER_EXECUTOR_CONFIG"
FILE = Path("planner-executor.toml")
TABLES = ("models", "policy", "tools", "notify", "identity", "desk")

Settings = TypeVar("Settings")

FROM_ENVIRONMENT = "env:"
"""`env:NAME` stands for the value of that environment variable."""


@dataclass(frozen=True)
class SettingsFile:
    """Content of a settings file, empty if there is none.

    `is_named`: the user named it, in Python, by --config or by PLANNER_EXECUTOR_CONFIG. Another lies in the
    current folder, and whoever made the folder may have written it; `is_trusted`: the user trusted it.
    """

    path: Path
    values: Mapping[str, Any] = field(default_factory=dict)
    is_named: bool = False
    is_trusted: bool = False

    def require_trust(self, act: str) -> None:
        """Refuse a file neither named nor trusted.

        Args:
            act: What the file does that needs it, for the sentence: "models.planner sends A_KEY to https://example.com".

        Raises:
            ConfigError: The file is neither named nor trusted.
        """
        if not self.is_named and not self.is_trusted:
            raise ConfigError(f"{self.path} is not trusted, and {act}; {self.next_move}")

    @property
    def next_move(self) -> str:
        """The reason why the file counts as the user's own."""
        return f"read it, then run `planner-executor trust {quote(str(self.path))}`, or name it by --config"


def settings_file(named: str | Path | None) -> SettingsFile:
    """Return the settings file.

    Args:
        named: Its path; None means the one that PLANNER_EXECUTOR_CONFIG names, or the one of the current folder.

    Raises:
        ConfigError: The file is not there although it was named, cannot be read, or holds a name outside `TABLES`.
    """
    named = named or os.environ.get(FILE_VARIABLE)
    path = Path(named or FILE)
    if not named and not path.is_file():
        return SettingsFile(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: {unreadable(error)}") from error
    return SettingsFile(path, values_of(path, content), bool(named), not named and is_trusted(path, content))


def values_of(path: Path, content: bytes) -> Mapping[str, Any]:
    """Return what a settings file with this content holds.

    Raises:
        ConfigError: It is no TOML, or holds a name outside `TABLES`.
    """
    try:
        values = tomllib.loads(content.decode())
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: {unreadable(error)}") from error
    if unknown := [name for name in values if name not in TABLES]:
        raise ConfigError(f"{path}: {unknown[0]} is unknown; there are {listed(TABLES)}")
    return values


@dataclass(frozen=True)
class Table(Generic[Settings]):
    """An entry of the settings file: how it is read, and everything it does that takes a trusted file.

    `read` gets the value of the file and raises a ConfigError if it is invalid; `acts` gets a valid one and returns
    sentences such as "models.planner sends A_KEY to https://example.com".
    """

    name: str
    read: Callable[[Any], Settings]
    acts: Callable[[Any], Sequence[str]]

    def value_in(self, file: SettingsFile) -> Settings | None:
        """Return the value in a file that was named or trusted, or needs neither; None if it has none.

        Raises:
            ConfigError: The value is invalid, or acts in a file that is neither named nor trusted.
        """
        if self.name not in file.values:
            return None
        value, acts = self._checked(file)
        if acts:
            file.require_trust(acts[0])
        return value

    def acts_in(self, file: SettingsFile) -> Sequence[str]:
        """Return everything that it does in a file.

        Raises:
            ConfigError: The value is invalid.
        """
        return self._checked(file)[1] if self.name in file.values else ()

    def _checked(self, file: SettingsFile) -> tuple[Settings, Sequence[str]]:
        given = file.values[self.name]
        try:
            return self.read(given), self.acts(given)
        except ConfigError as error:
            raise ConfigError(f"{file.path}: {error}") from None


def text_or_variable(given: Any, name: str) -> str:
    """Return a text of the file, or of the environment variable that it names as `env:NAME`.

    Raises:
        ConfigError: It is no text, or the variable is not set; `name` is that of the setting.
    """
    if not isinstance(given, str) or not given:
        raise ConfigError(f"{name} must be text")
    if not given.startswith(FROM_ENVIRONMENT):
        return given
    variable = given.removeprefix(FROM_ENVIRONMENT)
    if not os.environ.get(variable):
        raise ConfigError(f"{name} is the value of {variable[:60]}, which is not set")
    return os.environ[variable]
