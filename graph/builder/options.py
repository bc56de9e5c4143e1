"""The options of a graph: all of them checked before a ledger or a checkpointer is there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Unpack

from planner_executor.graph.builder.configuration import (
    check,
    check_reach,
    identity_in_file,
    looks_in_file,
    policy_named,
    settings_of,
)
from planner_executor.graph.builder.import_guard import guard_imports
from planner_executor.graph.builder.user_tools import GivenPacks, Tool, adapter_named, toolset_of
from planner_executor.graph.calls.equipment import Equipment
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.chat_models.roles import role_models
from planner_executor.graph.chat_models.settings import ROLES, ModelSpec
from planner_executor.graph.checkpoints.kept_checkpoints import KeepCheckpoints, keep_checkpoints_of
from planner_executor.graph.errors import ConfigError
from planner_executor.graph.notices.addresses import Addresses, addresses_of
from planner_executor.graph.observing.listener import Observer
from planner_executor.graph.observing.otel_export import with_exported_spans
from planner_executor.graph.plain_text.sanitize import text_fault
from planner_executor.graph.plan.attempts import ATTEMPT_FIELDS
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.library import Library
from planner_executor.graph.playbooks.folder import folder_of, library_of
from planner_executor.graph.settings.argument_kinds import kind_fault
from planner_executor.graph.settings.identity import Adapter
from planner_executor.graph.settings.settings import SETTINGS, GivenSettings
from planner_executor.graph.settings.settings_file import settings_file
from planner_executor.graph.words.name_list import right_name

NAME = "planner-executor"


class Options(NamedTuple):
    """What options come to."""

    equipment: Equipment
    observers: Sequence[Observer]
    addresses: Addresses | None
    keep_checkpoints: KeepCheckpoints | None
    name: str

    def check_file(self, file: str | Path) -> None:
        """Check that no tool can write the file of the ledger.

        Raises:
            ConfigError: One can.
        """
        check_reach(self.equipment.every_tool.specs, file)


class GraphOptions(GivenSettings, total=False):
    """The arguments of `build_graph`, but for the checkpointer and the ledger."""

    planner: ModelSpec | None
    executor: ModelSpec | None
    replanner: ModelSpec | None
    judge: ModelSpec | None
    executors: Mapping[str, ModelSpec] | None
    client_models: Sequence[str] | None
    config: str | Path | None
    tools: Sequence[Tool] | None
    pack: GivenPacks
    reserve: Collection[str]
    keep_checkpoints: KeepCheckpoints | None
    observers: Sequence[Observer]
    identity: Adapter | None
    name: str


def options_of(**given: Unpack[GraphOptions]) -> Options:
    """Return what the options of `build_graph` come to.

    Raises:
        ConfigError: A setting, a model or a tool is invalid; the message names it.
    """
    _check_names(given)
    values: Mapping[str, Any] = {**given}
    _check_kinds(values)
    config = given.get("config")
    policy = policy_named(given.get("policy"), config)
    settings = {name: value for name, value in values.items() if name in GivenSettings.__annotations__}
    chosen = settings_of({"look": looks_in_file(config), **settings, "policy": policy})
    toolset = toolset_of(given.get("tools"), given.get("pack"), config)
    everything, held_back = Toolbox(toolset.tools), {*toolset.reserve, *given.get("reserve", ())}
    roles = {role: values.get(role) for role in ROLES}
    equipment = Equipment(
        settings=chosen,
        toolbox=everything.only({*everything} - held_back),
        reserve=everything.only(held_back),
        models=role_models(roles, config, given.get("executors"), given.get("client_models")),
        identity=given.get("identity") or identity_adapter(config, toolset.tools),
        library=playbooks_in_file(config, everything.specs),
    )
    addresses = addresses_of(config)
    check(equipment, policy, config)
    # From here on the tools may write, so that what is imported later has to be looked at.
    guard_imports(equipment.toolbox.specs)
    keep = given.get("keep_checkpoints")
    return Options(
        equipment,
        with_exported_spans(given.get("observers", ())),
        addresses,
        None if keep is None else keep_checkpoints_of(keep),
        given.get("name", NAME),
    )


def _check_names(given: Collection[str]) -> None:
    """Check that all arguments are those of `build_graph`.

    Raises:
        ConfigError: One is not.
    """
    own = [name for name in GraphOptions.__annotations__ if name not in GivenSettings.__annotations__]
    known = [*own, "checkpointer", "ledger", *GivenSettings.__annotations__]
    if unknown := sorted(set(given) - set(known)):
        raise ConfigError(f"{unknown[0]}: unknown argument; {right_name(unknown[0], known)}")


def _check_kinds(given: Mapping[str, Any]) -> None:
    """Check that each argument is of its type; numbers have checks of their own, which name their bounds too.

    Raises:
        ConfigError: One is of another type, or a text that names no file.
    """
    for name, value in given.items():
        is_bounded = name in ATTEMPT_FIELDS or (name in SETTINGS and SETTINGS[name].least is not None)
        if is_bounded or (name == "look" and isinstance(value, str)):  # "packs" stands for a list
            continue
        fault = kind_fault(name, GraphOptions.__annotations__[name].__forward_arg__, value)
        if fault := fault or (text_fault(str(value)) if isinstance(value, str | Path) else None):
            raise ConfigError(f"{name}: {fault}")


def identity_adapter(config: str | Path | None, tools: Sequence[Tool]) -> Adapter | None:
    """Return the adapter that the settings file names.

    Raises:
        ConfigError: It cannot be imported, one of the tools can write it, or the file is not trusted.
    """
    named = identity_in_file(config)
    return adapter_named(named, Toolbox(tools).specs) if named is not None else None


def playbooks_in_file(config: str | Path | None, tools: Mapping[str, ToolSpec]) -> Library:
    """Return the playbooks that planners may choose: those of the settings file's folder, see `library_of`.

    Raises:
        ConfigError: The name of the folder is no text.
    """
    folder = folder_of(settings_file(config))
    return library_of(folder, tools) if folder is not None and folder.is_dir() else {}
