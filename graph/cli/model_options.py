"""What the command line says about models: the flags of the roles, and `--set`."""

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from graph.errors import InputError, listed

if TYPE_CHECKING:
    from graph.chat_models.settings import Layer


def models_from_options(names: Mapping[str, str | None], sets: Iterable[str]) -> "Layer":
    """Return what is said of each role's model.

    Args:
        names: Role -> `provider:model`; None says nothing.
        sets: `ROLE.NAME=VALUE`, the value as JSON or as text; `ROLE.options.NAME=VALUE` for an option of the model,
            `executor.<executor>.NAME=VALUE` for a further executor.

    Raises:
        InputError: One of `sets` cannot be read, names no role or setting, or holds a key.
    """
    said: dict[str, dict[str, Any]] = {role: {"model": name} for role, name in names.items() if name is not None}
    for entry in sets:
        role, path, value = _read(entry)
        place = said.setdefault(role, {})
        for name in path[:-1]:
            place = place.setdefault(name, {})
        place[path[-1]] = value
    return settings_of(said)


def settings_of(said: Mapping[str, Mapping[str, Any]]) -> "Layer":
    """Return plain data, as a run remembers it, as settings.

    Raises:
        InputError: A setting is unknown, or has a value that cannot be.
    """
    if not said:
        return {}
    from pydantic import ValidationError

    from graph.chat_models.settings import ModelSettings

    found: dict[Any, Any] = {}
    for role, place in said.items():
        try:
            found[role] = ModelSettings.model_validate(place)
        except ValidationError as error:
            faults = [f"{role}.{'.'.join(map(str, part['loc']))}: {part['msg']}" for part in error.errors()]
            raise InputError("models", "; ".join(faults)) from None
    return found


def models_to_build(said: "Layer") -> dict[str, Any]:
    """Return the models as `graph.build_graph` takes them."""
    roles = {role: place for role, place in said.items() if "." not in role}
    named = {role.partition(".")[2]: place for role, place in said.items() if "." in role}
    return {**roles, "executors": named}


def completed_by(said: "Layer", weaker: "Layer") -> "Layer":
    """Return what is said of models, completed by what a weaker place said."""
    from graph.chat_models.settings import folded

    return folded([said, weaker]) if said and weaker else said or weaker


def recorded_models(said: "Layer", config: str | None) -> dict[str, dict[str, Any]]:
    """Return what this command line, the environment and the settings file say together, without any key."""
    from graph.chat_models.settings import ModelSettings, folded
    from graph.chat_models.sources import sources

    together = folded([said, *sources(config)])
    return {role: place.without_secrets() for role, place in together.items() if isinstance(place, ModelSettings)}


def _read(entry: str) -> tuple[str, list[str], Any]:
    from graph.chat_models.settings import ROLES, ModelSettings, executor_key

    where, equals, value = entry.partition("=")
    role, *path = where.strip().split(".")
    if role == "executor" and len(path) > 1 and path[0] not in ModelSettings.model_fields:
        role, path = executor_key(path[0]), path[1:]
    if not equals or not path or not all(path) or role.partition(".")[0] not in ROLES:
        raise InputError("--set", f"write ROLE.NAME=VALUE with a role of {listed(ROLES)}, not {where!r}")
    if path[0] == "api_key":
        raise InputError("--set", "a key on the command line is seen by others; name its variable: api_key_env")
    if len(path) > (2 if path[0] == "options" else 1):
        raise InputError("--set", f"{where!r} goes too deep; only options have names of their own")
    try:
        return role, path, json.loads(value)
    except (ValueError, RecursionError):
        return role, path, value
