"""What the environment and the settings file say about models; the file may name a policy beside them."""

import os
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError

from graph.chat_models.settings import ROLES, Given, Layer, ModelSettings, Role, layer
from graph.errors import ConfigError, listed

PREFIX = "PLANNER_EXECUTOR_"
FILE_VARIABLE = "PLANNER_EXECUTOR_CONFIG"
EXECUTORS_VARIABLE = "PLANNER_EXECUTOR_EXECUTORS"
FILE = Path("planner-executor.toml")
TABLES = ("models", "policy")
NAMES = tuple(ModelSettings.model_fields)
_EXECUTORS = TypeAdapter(dict[str, ModelSettings], config=ConfigDict(hide_input_in_errors=True))


class _Variables(ModelSettings, BaseSettings):
    """The variables of one role, such as PLANNER_EXECUTOR_PLANNER_BASE_URL."""

    model_config = SettingsConfigDict(env_ignore_empty=True, extra="ignore")


class _Models(BaseModel):
    """The table `[models]` of the settings file."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    planner: ModelSettings | None = None
    executor: ModelSettings | None = None
    replanner: ModelSettings | None = None
    judge: ModelSettings | None = None
    executors: dict[str, ModelSettings] = {}


def sources(file: str | Path | None) -> list[Layer]:
    """Return what the environment says, and then what the file says, which is the weaker.

    Args:
        file: A TOML file; None means the one that PLANNER_EXECUTOR_CONFIG names, or `planner-executor.toml` where the
            current folder has one.

    Raises:
        ConfigError: One of them cannot be read, or says what cannot be.
    """
    return [from_environment(), from_file(file)]


def from_environment() -> Layer:
    """Return what the variables PLANNER_EXECUTOR_<ROLE> and PLANNER_EXECUTOR_<ROLE>_<SETTING> say.

    PLANNER_EXECUTOR_EXECUTORS holds further executors, by name, as JSON.

    Raises:
        ConfigError: A variable has a value that cannot be, or is no setting's.
    """
    found: dict[Role, Given | None] = {role: _variables(role) for role in ROLES}
    try:
        executors = _EXECUTORS.validate_json(os.environ.get(EXECUTORS_VARIABLE) or "{}")
    except ValidationError as error:
        raise ConfigError(_faults(error, f"{EXECUTORS_VARIABLE} ")) from None
    return {
        role: said for role, said in layer(found, executors).items() if isinstance(said, ModelSettings) and said.said
    }


def from_file(file: str | Path | None) -> Layer:
    """Return what the table `[models]` of a TOML file says.

    Raises:
        ConfigError: The file is not there although it was named, cannot be read, or says what cannot be.
    """
    path, tables = settings_file(file)
    try:
        models = _Models.model_validate(tables.get("models", {}))
    except ValidationError as error:
        raise ConfigError(f"{path}: {_faults(error, 'models.')}") from None
    return layer({role: getattr(models, role) for role in ROLES}, models.executors)


def settings_file(file: str | Path | None) -> tuple[Path, dict[str, Any]]:
    """Return the settings file and all that it says, nothing where there is none.

    Raises:
        ConfigError: The file is not there although it was named, cannot be read, or holds what is none of `TABLES`.
    """
    named = file or os.environ.get(FILE_VARIABLE)
    path = Path(named or FILE)
    if not named and not path.is_file():
        return path, {}
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    if unknown := [name for name in tables if name not in TABLES]:
        raise ConfigError(f"{path}: {unknown[0]} is unknown; there are {listed(TABLES)}")
    return path, tables


def _variables(role: Role) -> ModelSettings:
    prefix = f"{PREFIX}{role.upper()}"
    for name in os.environ:
        if name.startswith(f"{prefix}_") and name[len(prefix) + 1 :].lower() not in NAMES:
            raise ConfigError(f"{name} is no setting; write {prefix}_ and one of {listed(NAMES, 20).upper()}")
    try:
        found = _Variables(_env_prefix=f"{prefix}_")  # type: ignore[call-arg]  # an argument of BaseSettings
        said = {"model": os.environ.get(prefix) or None, **found.said}
        return ModelSettings(**said)
    except ValidationError as error:
        raise ConfigError(_faults(error, f"{prefix}_", upper=True)) from None
    except SettingsError as error:
        raise ConfigError(f"{prefix}_…: {error}; write objects and lists as JSON") from None


def _faults(error: ValidationError, prefix: str, upper: bool = False) -> str:
    """Return what is wrong without what was written, which may be a key."""
    return "; ".join(f"{prefix}{_place(part['loc'], upper)}: {_words(part)}" for part in error.errors())


def _place(loc: Sequence[Any], upper: bool) -> str:
    place = ".".join(map(str, loc))
    return place.upper() if upper else place


def _words(part: Any) -> str:
    if part["type"] == "extra_forbidden":
        known = ROLES if len(part["loc"]) == 1 else NAMES
        return f"no such setting; there are {listed(known, 20)}"
    return str(part["msg"])
