"""The settings file: the one that somebody names, or `planner-executor.toml` of the current folder."""

import os
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from typing import Annotated, Any, Generic, TypeVar

from pydantic import PlainValidator

from planner_executor.graph.errors import ConfigError
from planner_executor.graph.plain_text.sanitize import text_fault
from planner_executor.graph.settings.trust import is_trusted
from planner_executor.graph.words.tables import Fault, fault, read, unknown_entry
from planner_executor.graph.words.toml_lines import line_of
from planner_executor.graph.words.unreadable import unreadable

FILE_VARIABLE = "PLANNER_EXECUTOR_CONFIG"
FILE = Path("planner-executor.toml")
TABLES = ("models", "policy", "tools", "pack", "look", "notify", "identity", "desk", "playbooks", "schedules")


FROM_ENVIRONMENT = "env:"
"""`env:NAME` stands for the value of that environment variable."""


def _text_or_variable(given: Any) -> str:
    if not isinstance(given, str) or not given:
        raise fault("must be text")
    if not given.startswith(FROM_ENVIRONMENT):
        return given
    variable = given.removeprefix(FROM_ENVIRONMENT)
    if not os.environ.get(variable):
        raise fault(f"is the value of {variable[:60]}, which is not set")
    return os.environ[variable]


TextOrVariable = Annotated[str, PlainValidator(_text_or_variable)]
"""A text of the file, or of the environment variable that it names."""
Written = TypeVar("Written")
"""What an entry of the file is read as."""


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
    text: str = field(default="", repr=False)

    def refusal(self, faults: Sequence[Fault]) -> ConfigError:
        """Return the error that names faults by line."""
        lines = ((line_of(self.text, place), place, why) for place, why in faults)
        said = [f"{f'line {line}: ' if line else ''}{'.'.join(place)} {why}" for line, place, why in lines]
        return ConfigError(f"{self.path}{', ' if said[0].startswith('line ') else ': '}{'; '.join(said)}")

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
    # The bytes are read once: what is trusted is what is used, even if the file changes meanwhile.
    return replace(read_file(path, content), is_named=bool(named), is_trusted=not named and is_trusted(path, content))


def read_file(path: Path, content: bytes) -> SettingsFile:
    """Return a settings file with this content.

    Raises:
        ConfigError: It is no TOML, or holds a name outside `TABLES` or a text with a NUL character.
    """
    try:
        text = content.decode()
        file = SettingsFile(path, tomllib.loads(text), text=text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: {unreadable(error)}") from error
    if unknown := [((name,), unknown_entry(TABLES, name)) for name in file.values if name not in TABLES]:
        raise file.refusal(unknown)
    if faults := list(_text_faults(file.values)):
        raise file.refusal(faults)
    return file


def _text_faults(value: Any, place: tuple[str, ...] = ()) -> Iterator[Fault]:
    """Yield the texts that name no file and that no record holds, wherever they stand."""
    if isinstance(value, str) and (why := text_fault(value)):
        yield place, why
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield from _text_faults(part, (*place, name))
    elif isinstance(value, list):
        for part in value:
            yield from _text_faults(part, place)


@dataclass(frozen=True)
class Table(Generic[Written]):
    """An entry of the settings file: what it is, and everything it does that takes a trusted file.

    `kind` is a type that `graph.words.tables` reads; `acts` returns sentences of a value, such as "models.planner sends
    A_KEY to https://example.com".
    """

    name: str
    kind: Any
    acts: Callable[[Written], Sequence[str]] = lambda _: ()

    def value_in(self, file: SettingsFile) -> Written | None:
        """Return the value in a file that was named or trusted, or needs neither; None if it has none.

        Raises:
            ConfigError: The value is invalid, or acts in a file that is neither named nor trusted.
        """
        value = self._read(file)
        if value is not None and (acts := self.acts(value)):
            file.require_trust(acts[0])
        return value

    def acts_in(self, file: SettingsFile) -> Sequence[str]:
        """Return everything that it does in a file.

        Raises:
            ConfigError: The value is invalid.
        """
        value = self._read(file)
        return self.acts(value) if value is not None else ()

    def _read(self, file: SettingsFile) -> Written | None:
        if self.name not in file.values:
            return None
        value: Written
        value, faults = read(self.kind, file.values[self.name])
        if faults:
            raise file.refusal([((self.name, *place), why) for place, why in faults])
        return value
