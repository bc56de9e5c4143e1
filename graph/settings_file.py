"""The settings file: the one that somebody names, or `planner-executor.toml` of the current folder."""

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Any, TypeVar

from graph.errors import ConfigError
from graph.name_list import listed
from graph.trust import is_trusted
from graph.unreadable import unreadable

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
        values = tomllib.loads(content.decode())
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: {unreadable(error)}") from error
    if unknown := [name for name in values if name not in TABLES]:
        raise ConfigError(f"{path}: {unknown[0]} is unknown; there are {listed(TABLES)}")
    return SettingsFile(path, values, bool(named), not named and is_trusted(path, content))


def read_table(named: str | Path | None, table: str, why: str, read: Callable[[Any], Settings]) -> Settings | None:
    """Return what `read` makes of a table of the settings file, None if the file has no such table.

    Args:
        named: See `settings_file`.
        table: One of `TABLES`.
        why: What the table does that takes a trusted file, see `SettingsFile.require_trust`.
        read: Reads the table; a ConfigError that it raises is raised with the file's name.

    Raises:
        ConfigError: The table is invalid, or its file is neither named nor trusted.
    """
    file = settings_file(named)
    if table not in file.values:
        return None
    file.require_trust(f"[{table}] {why}")
    try:
        return read(file.values[table])
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
