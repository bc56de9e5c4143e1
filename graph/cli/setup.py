"""What a run works with: folders, models and limits, kept in the ledger so that `resume` uses the same."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graph.cli.model_options import completed_by, models_to_build, recorded_models, settings_of
from graph.errors import InputError, ToolConfigError

if TYPE_CHECKING:
    from graph.chat_models.roles import RoleModels
    from graph.chat_models.settings import Layer
    from graph.own_tools import Tool


@dataclass(frozen=True)
class Setup:
    """Paths are absolute; `models` is what is said of each role's model here; without `approval` the policy decides."""

    documents: str
    workspace: str
    models: "Layer" = field(default_factory=dict)
    config: str | None = None
    mcp: str | None = None
    policy: str | None = None
    approval: str | None = None
    replan: str = "failure"
    horizon: int | None = None
    max_replans: int = 2
    max_concurrency: int = 16
    own_tools: tuple[str, ...] = ()

    @classmethod
    def default(cls) -> "Setup":
        """Return what holds where nothing is said."""
        return cls(documents=absolute(Path("docs")), workspace=absolute(Path("workspace")))

    def from_record(self, setup: Mapping[str, Any]) -> "Setup":
        """Return the setup of a run that may have been started by other means than this command."""
        names = [
            entry.name for entry in fields(self) if entry.name != "own_tools"
        ]  # which are not imported by a record
        known: dict[str, Any] = {name: setup.get(name) for name in names}
        return self.changed(**known | {"models": settings_of(setup.get("models") or {})})

    def changed(self, **given: Any) -> "Setup":
        """Return the setup with what is given; None is not given, and of models what is not said stays as it was."""
        named = {name: value for name, value in given.items() if value is not None}
        for path in ("documents", "workspace", "config", "mcp", "policy"):
            if path in named:
                named[path] = absolute(Path(named[path]))
        if "own_tools" in named:
            named["own_tools"] = (*self.own_tools, *named["own_tools"])
        if "models" in named:
            named["models"] = completed_by(named["models"], self.models)
        return replace(self, **named)

    def to_json(self) -> dict[str, Any]:
        """Return what the ledger keeps: of models and policy what all places say, but no key."""
        from graph.configuration import policy_named

        plain = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        policy = policy_named(self.policy, self.config)
        everywhere = {"models": recorded_models(self.models, self.config), "policy": policy and absolute(Path(policy))}
        return {**plain, **everywhere}

    @cached_property
    def role_models(self) -> "RoleModels":
        """The models themselves.

        Raises:
            ConfigError: A place says what cannot be, or a model cannot be made.
        """
        from graph.chat_models.roles import made
        from graph.chat_models.sources import sources

        return made((self.models, *sources(self.config)))

    def options(self) -> dict[str, Any]:
        """Return the options of `graph.build_graph`: models, tools and what they may do.

        Raises:
            ConfigError: A model or a tool cannot be made, or the policy is not understood.
        """
        from graph.configuration import policy_named, policy_of

        _ = self.role_models  # a fault is told before a database is opened
        policy_of(policy_named(self.policy, self.config))
        planning = {"replan": self.replan, "horizon": self.horizon, "max_replans": self.max_replans}
        approval = {"approval": self.approval} if self.approval else {}
        return {
            **models_to_build(self.models),
            "config": self.config,
            "tools": self.tools(),
            "policy": self.policy,
            **approval,
            **planning,
            "max_concurrency": self.max_concurrency,
        }

    def tools(self) -> "list[Tool]":
        """Return the project's own tools over these folders; those that were named take the place of own ones.

        Raises:
            ToolConfigError: The environment names a host that cannot be understood, or tools that cannot be imported.
            ConfigError: The settings file names tools, and nobody named or trusted it.
        """
        from graph.configuration import tools_in_file
        from graph.own_tools import beside, tools_named
        from tools import default_tools
        from tools.errors import ConfigInvalid

        try:
            own = default_tools(documents=Path(self.documents), workspace=Path(self.workspace))
        except ConfigInvalid as error:
            raise ToolConfigError("http_get", str(error)) from error
        return beside(own, tools_named([*tools_in_file(self.config), *self.own_tools]))

    @contextmanager
    def opened(self) -> Iterator[dict[str, Any]]:
        """Yield the same, and until the end of the block the tools of the MCP servers beside the others.

        Raises:
            ConfigError: A model cannot be made, or an MCP server cannot be started or reached.
        """
        from graph.tool_servers import with_servers

        options = self.options()
        with with_servers(self.mcp, options["tools"]) as tools:
            yield {**options, "tools": tools}


def check_folders(documents: Path | None, workspace: Path | None) -> None:
    """Refuse folders that were named and cannot serve; the workspace is made when it is first written to.

    Raises:
        InputError: There is no such folder.
    """
    if documents is not None and not documents.is_dir():
        raise InputError("--docs", f"{documents} is no folder; name the folder that holds the documents")
    if workspace is not None and workspace.exists() and not workspace.is_dir():
        raise InputError("--workspace", f"{workspace} is no folder; name a folder, or one that does not exist yet")


def absolute(path: Path) -> str:
    """Return a path as the ledger keeps it."""
    return str(path.absolute())
