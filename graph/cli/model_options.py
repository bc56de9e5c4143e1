"""Model settings from the command line: the role flags and `--set`."""

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from planner_executor.graph.errors import InputError
from planner_executor.graph.words.name_list import listed

if TYPE_CHECKING:
    from planner_executor.graph.chat_models.settings import Layer


def models_from_options(names: Mapping[str, str | None], sets: Iterable[str]) -> "Layer":
    """Return the settings given for each role's model.

    Args:
        names: `provider:model` by role; None if the flag was not given.
        sets: `ROLE.NAME=VALUE`, the value as JSON or text; `ROLE.options.NAME=VALUE` for an option of the model,
            `executor.<executor>.NAME=VALUE` for a named executor.

    Raises:
        InputError: An entry of `sets` is malformed, names an unknown role or setting, or contains a key.
    """
    given: dict[str, dict[str, Any]] = {role: {"model": name} for role, name in names.items() if name is not None}
    for entry in sets:
        role, path, value = _read(entry)
        place = given.setdefault(role, {})
        # Options of a model nest: executor.options.seed=1.
        for name in path[:-1]:
            place = place.setdefault(name, {})
        place[path[-1]] = value
    return settings_of(given)


def settings_of(recorded: Mapping[str, Mapping[str, Any]]) -> "Layer":
    """Return recorded model settings as a settings layer.

    Raises:
        InputError: A setting is unknown or its value is invalid.
    """
    if not recorded:
        return {}
    from pydantic import ValidationError

    from planner_executor.graph.chat_models.settings import ModelSettings, setting_fault

    settings: dict[Any, Any] = {}
    for role, place in recorded.items():
        try:
            settings[role] = ModelSettings.model_validate(place)
        except ValidationError as error:
            faults = [f"{role}.{'.'.join(map(str, part['loc']))}: {setting_fault(part)}" for part in error.errors()]
            raise InputError("models", "; ".join(faults)) from None
    return settings


def build_arguments(layer: "Layer") -> dict[str, Any]:
    """Return the model arguments of `graph.build_graph`."""
    roles = {role: place for role, place in layer.items() if "." not in role}
    named = {role.partition(".")[2]: place for role, place in layer.items() if "." in role}
    return {**roles, "executors": named}


def merge_layers(layer: "Layer", weaker: "Layer") -> "Layer":
    """Return a layer with settings that it lacks taken from a weaker one."""
    from planner_executor.graph.chat_models.settings import merged_layers

    return merged_layers([layer, weaker]) if layer and weaker else layer or weaker


def recorded_models(layer: "Layer", config: str | None) -> dict[str, dict[str, Any]]:
    """Return the merged settings of command line, environment and settings file, without keys."""
    from planner_executor.graph.chat_models.settings import ModelSettings, merged_layers
    from planner_executor.graph.chat_models.sources import sources

    together = merged_layers([layer, *sources(config)])
    return {role: place.without_secrets() for role, place in together.items() if isinstance(place, ModelSettings)}


def _read(entry: str) -> tuple[str, list[str], Any]:
    from planner_executor.graph.chat_models.settings import ROLES, ModelSettings, executor_key

    target, equals, value = entry.partition("=")
    role, *path = target.strip().split(".")
    # `executor.temperature` sets the executor; `executor.cheap.model` sets an executor named cheap.
    if role == "executor" and len(path) > 1 and path[0] not in ModelSettings.model_fields:
        role, path = executor_key(path[0]), path[1:]
    if not equals or not path or not all(path) or role.partition(".")[0] not in ROLES:
        raise InputError("--set", f"{target!r} is not ROLE.NAME=VALUE; roles: {listed(ROLES)}")
    if path[0] == "api_key":
        raise InputError("--set", "other users can read keys on a command line; name a variable with api_key_env")
    if len(path) > (2 if path[0] == "options" else 1):
        raise InputError("--set", f"{target!r} is nested too deeply; only options have subkeys")
    try:
        return role, path, json.loads(value)
    except (ValueError, RecursionError):
        return role, path, value
