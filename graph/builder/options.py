"""The options of a graph: all of them checked before a ledger or a checkpointer is there."""

from collections.abc import Collection, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import NamedTuple, Unpack

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
from planner_executor.graph.chat_models.settings import ModelSpec, Role
from planner_executor.graph.checkpoints.kept_checkpoints import KeepCheckpoints, keep_checkpoints_of
from planner_executor.graph.errors import ConfigError
from planner_executor.graph.notices.addresses import Addresses, addresses_of
from planner_executor.graph.observing.listener import Observer
from planner_executor.graph.observing.otel_export import with_exported_spans
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.library import Library
from planner_executor.graph.playbooks.folder import folder_of, library_of
from planner_executor.graph.settings.identity import Adapter
from planner_executor.graph.settings.settings import GivenSettings
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


def options_of(
    *,
    planner: ModelSpec | None = None,
    executor: ModelSpec | None = None,
    replanner: ModelSpec | None = None,
    judge: ModelSpec | None = None,
    executors: Mapping[str, ModelSpec] | None = None,
    client_models: Sequence[str] | None = None,
    config: str | Path | None = None,
    tools: Sequence[Tool] | None = None,
    pack: GivenPacks = None,
    reserve: Collection[str] = (),
    keep_checkpoints: KeepCheckpoints | None = None,
    observers: Sequence[Observer] = (),
    identity: Adapter | None = None,
    name: str = NAME,
    **settings: Unpack[GivenSettings],
) -> Options:
    """Return what the options of `build_graph` come to.

    Raises:
        ConfigError: A setting, a model or a tool is invalid; the message names it.
    """
    roles: dict[Role, ModelSpec | None] = {
        "planner": planner,
        "executor": executor,
        "replanner": replanner,
        "judge": judge,
    }
    _check_names(settings)
    policy = policy_named(settings.get("policy"), config)
    chosen = settings_of({"look": looks_in_file(config), **settings, "policy": policy})
    toolset = toolset_of(tools, pack, config)
    everything, held_back = Toolbox(toolset.tools), {*toolset.reserve, *reserve}
    equipment = Equipment(
        settings=chosen,
        toolbox=everything.only({*everything} - held_back),
        reserve=everything.only(held_back),
        models=role_models(roles, config, executors, client_models),
        identity=identity or identity_adapter(config, toolset.tools),
        library=playbooks_in_file(config, everything.specs),
    )
    addresses = addresses_of(config)
    check(equipment, policy, config)
    # From here on the tools may write, so that what is imported later has to be looked at.
    guard_imports(equipment.toolbox.specs)
    keep = None if keep_checkpoints is None else keep_checkpoints_of(keep_checkpoints)
    return Options(equipment, with_exported_spans(observers), addresses, keep, name)


def _check_names(settings: Collection[str]) -> None:
    """Check that the other arguments of `build_graph` are settings.

    Raises:
        ConfigError: One is not.
    """
    known = [*signature(options_of).parameters, "checkpointer", "ledger", *GivenSettings.__annotations__]
    if unknown := sorted(set(settings) - set(known)):
        known.remove("settings")
        raise ConfigError(f"{unknown[0]}: unknown argument; {right_name(unknown[0], known)}")


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
