"""The setup of a run: folders, models and limits, recorded in the ledger so that `resume` uses the same ones."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from os.path import lexists
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner_executor.graph.cli.model_options import build_arguments, merge_layers, recorded_models, settings_of
from planner_executor.graph.errors import InputError
from planner_executor.graph.settings.run_settings import REMEMBERED

if TYPE_CHECKING:
    from planner_executor.graph.builder.user_tools import Tool, Toolset
    from planner_executor.graph.chat_models.roles import RoleModels
    from planner_executor.graph.chat_models.settings import Layer


_UNCHANGED = {**REMEMBERED, "approval": None}
"""The settings of the command line at their defaults; the approval mode is the policy's, if it has one."""


@dataclass(frozen=True)
class Setup:
    """The setup of a run; paths are absolute. `settings` are those of the command line; without a mode the policy's."""

    documents: str
    workspace: str
    models: "Layer" = field(default_factory=dict)
    config: str | None = None
    mcp: str | None = None
    policy: str | None = None
    settings: Mapping[str, Any] = field(default_factory=lambda: {**_UNCHANGED})
    own_tools: tuple[str, ...] = ()
    packs: tuple[str, ...] | None = None

    @classmethod
    def default(cls) -> "Setup":
        """Return the defaults."""
        return cls(documents=absolute(Path("docs")), workspace=absolute(Path("workspace")))

    def from_record(self, setup: Mapping[str, Any]) -> "Setup":
        """Return the setup that a run recorded, missing values taken from this one.

        `own_tools` is left out: a record never causes an import.
        """
        names = [*(entry.name for entry in fields(self) if entry.name != "own_tools"), *REMEMBERED]
        names.remove("settings")
        known: dict[str, Any] = {name: setup.get(name) for name in names}
        return self.changed(**known | {"models": settings_of(setup.get("models") or {})})

    def changed(self, **given: Any) -> "Setup":
        """Return the setup with the given values; None means not given. Models are merged, own tools appended."""
        named = {name: value for name, value in given.items() if value is not None}
        for path in ("documents", "workspace", "config", "mcp", "policy"):
            if path in named:
                named[path] = absolute(Path(named[path]))
        if "own_tools" in named:
            named["own_tools"] = (*self.own_tools, *named["own_tools"])
        if "packs" in named:
            named["packs"] = tuple(named["packs"])
        if "models" in named:
            named["models"] = merge_layers(named["models"], self.models)
        named["settings"] = {name: named.pop(name, before) for name, before in self.settings.items()}
        return replace(self, **named)

    def to_json(self) -> dict[str, Any]:
        """Return the setup as recorded: models and policy as merged from all sources, without keys."""
        from planner_executor.graph.builder.configuration import policy_named

        plain = {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "settings"}
        policy = policy_named(self.policy, self.config)
        everywhere = {"models": recorded_models(self.models, self.config), "policy": policy and absolute(Path(policy))}
        return {**plain, **self.settings, **everywhere}

    @cached_property
    def role_models(self) -> "RoleModels":
        """The models of the roles.

        Raises:
            ConfigError: A setting is invalid, or a model cannot be created.
        """
        from planner_executor.graph.chat_models.roles import create_models
        from planner_executor.graph.chat_models.sources import sources

        return create_models((self.models, *sources(self.config)))

    def options(self) -> dict[str, Any]:
        """Return the options of `graph.build_graph`.

        Raises:
            ConfigError: A model or a tool cannot be created, or the policy is invalid.
        """
        from planner_executor.graph.builder.configuration import policy_named, policy_of

        _ = self.role_models  # fail before a database is opened
        policy_of(policy_named(self.policy, self.config))
        toolset = self.toolset()
        return {
            **build_arguments(self.models),
            "config": self.config,
            "tools": toolset.tools,
            "reserve": toolset.reserve,
            "policy": self.policy,
            **self.chosen,
        }

    @property
    def chosen(self) -> dict[str, Any]:
        """The settings without those that are unset."""
        return {name: value for name, value in self.settings.items() if value is not None}

    def tools(self) -> "list[Tool]":
        """Return the tools that runs which begin are offered, see `toolset`."""
        return self.toolset().offered

    def toolset(self) -> "Toolset":
        """Return the built-in tools over these folders, and the user's own tools, which win if names clash.

        Raises:
            ToolConfigError: The environment names an invalid host, or tools cannot be imported.
            ConfigError: The settings file names tools but is not trusted, a tool can write what is imported, or a pack
                is unknown.
        """
        from planner_executor.graph.builder.configuration import tools_in_file
        from planner_executor.graph.builder.user_tools import packs_chosen, toolset_over

        names = [*tools_in_file(self.config), *self.own_tools]
        packs = packs_chosen(self.packs, self.config, has_tools=bool(names))
        return toolset_over(Path(self.documents), Path(self.workspace), packs, names)

    @contextmanager
    def opened(self) -> Iterator[dict[str, Any]]:
        """Yield the options with the tools of the MCP servers, which are connected until the end of the block.

        Raises:
            ConfigError: A model cannot be created, or an MCP server cannot be started or reached.
        """
        from planner_executor.graph.builder.tool_servers import with_servers

        options = self.options()
        with with_servers(self.mcp, options["tools"]) as tools:
            yield {**options, "tools": tools}


def check_folders(documents: Path | None, workspace: Path | None) -> None:
    """Refuse folders that cannot be used; a missing workspace is fine, it is created on the first write.

    Raises:
        InputError: The path is not a folder.
    """
    if documents is not None and not documents.is_dir():
        raise InputError("--docs", f"{documents} is not a folder; name the folder of the documents")
    if workspace is not None and lexists(workspace) and not workspace.is_dir():
        raise InputError(
            "--workspace", f"{workspace} is not a folder; name a folder, or a path that does not exist yet"
        )


def absolute(path: Path) -> str:
    """Return the absolute path as recorded in the ledger."""
    return str(path.absolute())
