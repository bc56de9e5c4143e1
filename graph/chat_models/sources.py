"""Model settings from the environment and the settings file."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from planner_executor.graph.chat_models.settings import (
    NAMES,
    ROLES,
    Layer,
    ModelSettings,
    ModelSpec,
    Role,
    layer,
    setting_fault,
)
from planner_executor.graph.chat_models.untrusted import acts_needing_trust
from planner_executor.graph.errors import ConfigError
from planner_executor.graph.settings.settings_file import Table, settings_file
from planner_executor.graph.words.name_list import listed
from planner_executor.graph.words.tables import OpenTable, Shape, fault, unknown_entry

PREFIX = "PLANNER_EXECUTOR_"
CLIENT_MODELS_VARIABLE = "PLANNER_EXECUTOR_CLIENT_MODELS"
EXECUTORS_VARIABLE = "PLANNER_EXECUTOR_EXECUTORS"
_EXECUTORS = TypeAdapter(dict[str, ModelSettings], config=ConfigDict(defer_build=True, hide_input_in_errors=True))


def _known(given: Any) -> Any:
    for name in given if isinstance(given, Mapping) else ():
        if name not in NAMES:
            raise fault(unknown_entry(NAMES, name), name)
    return given


RoleTable = Annotated[ModelSettings, BeforeValidator(_known)]


class _Models(OpenTable):
    """The table `[models]` of the settings file."""

    planner: RoleTable | None = None
    executor: RoleTable | None = None
    replanner: RoleTable | None = None
    judge: RoleTable | None = None
    executors: Annotated[Mapping[str, RoleTable], Shape()] = Field(default_factory=dict)


def sources(file: str | Path | None) -> list[Layer]:
    """Return the layers of the environment and, weaker, of the file.

    Args:
        file: A TOML file. Default: the one found by `graph.settings.settings_file`.

    Raises:
        ConfigError: One of them cannot be read, or a setting is invalid.
    """
    return [from_environment(), from_file(file)]


def from_environment() -> Layer:
    """Return the settings in PLANNER_EXECUTOR_<ROLE> and PLANNER_EXECUTOR_<ROLE>_<SETTING>.

    PLANNER_EXECUTOR_EXECUTORS contains named executors as JSON.

    Raises:
        ConfigError: A variable has an invalid value or an unknown name.
    """
    found: dict[Role, ModelSpec | None] = {role: _variables(role) for role in ROLES}
    try:
        executors = _EXECUTORS.validate_json(os.environ.get(EXECUTORS_VARIABLE) or "{}")
    except ValidationError as error:
        raise ConfigError(_faults(error, f"{EXECUTORS_VARIABLE} ")) from None
    return {
        role: settings
        for role, settings in layer(found, executors).items()
        if isinstance(settings, ModelSettings) and settings.explicit
    }


def models_for_clients() -> tuple[str, ...] | None:
    """Return the models in PLANNER_EXECUTOR_CLIENT_MODELS, comma-separated; None if it is not set."""
    listed_ones = os.environ.get(CLIENT_MODELS_VARIABLE)
    return tuple(name.strip() for name in listed_ones.split(",") if name.strip()) if listed_ones is not None else None


def from_file(file: str | Path | None) -> Layer:
    """Return the settings in the table `[models]` of a TOML file.

    Raises:
        ConfigError: A named file is missing, the file cannot be read or is invalid, or it needs trust (decision 0021).
    """
    return MODELS.value_in(settings_file(file)) or layer({}, {})


def _layer(models: _Models) -> Layer:
    return layer({role: getattr(models, role) for role in ROLES}, models.executors)


MODELS: Table[Layer] = Table("models", Annotated[_Models, AfterValidator(_layer), Shape()], acts_needing_trust)


def _variables(role: Role) -> ModelSettings:
    prefix = f"{PREFIX}{role.upper()}"
    for name in os.environ:
        if name.startswith(f"{prefix}_") and name[len(prefix) + 1 :].lower() not in NAMES:
            raise ConfigError(f"{name} is not a setting; write {prefix}_ and one of {listed(NAMES, 20).upper()}")
    try:
        return ModelSettings(**{"model": os.environ.get(prefix) or None, **_more_of_role(f"{prefix}_")})
    except ValidationError as error:
        raise ConfigError(_faults(error, f"{prefix}_", upper=True)) from None


def _more_of_role(prefix: str) -> dict[str, Any]:
    """Return the settings in variables with this prefix."""
    if not any(name.upper().startswith(prefix) for name in os.environ):
        return {}
    from planner_executor.graph.chat_models.role_variables import settings_in_variables  # long to import, seldom needed

    return settings_in_variables(prefix)


def _faults(error: ValidationError, prefix: str, upper: bool = False) -> str:
    """Return the faults without the values, which may be keys."""
    return "; ".join(f"{prefix}{_place(part['loc'], upper)}: {setting_fault(part)}" for part in error.errors())


def _place(loc: Sequence[Any], upper: bool) -> str:
    place = ".".join(map(str, loc))
    return place.upper() if upper else place
