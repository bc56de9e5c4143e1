"""Option groups of commands that use tools, ask models or execute runs."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.actor import ActorOptions
from planner_executor.graph.cli.model_options import models_from_options
from planner_executor.graph.cli.setting_options import ApprovalName, setting_option
from planner_executor.graph.cli.setup import check_folders
from planner_executor.graph.policy.modes import Replan
from planner_executor.graph.settings.run_settings import REMEMBERED

if TYPE_CHECKING:
    from planner_executor.graph.chat_models.settings import Layer


TERMS = (
    "documents",
    "workspace",
    "models",
    "policy",
    *REMEMBERED,
)
"""The settings that name a term; tools and servers are what a run needs, whatever its terms are."""


@dataclass(frozen=True)
class ToolOptions:
    """Tools and their folders.

    Raises:
        InputError: A folder cannot be used, see `check_folders`.
    """

    docs: Annotated[
        Path | None,
        typer.Option("--docs", parser=options.path_of, metavar="DIR", help="Folder of documents to search and read."),
    ] = None
    workspace: Annotated[
        Path | None,
        typer.Option("--workspace", parser=options.path_of, metavar="DIR", help="Folder for reports."),
    ] = None
    mcp: options.McpFile = None
    own_tools: options.OwnTools = None
    packs: options.Packs = None

    def __post_init__(self) -> None:
        check_folders(self.docs, self.workspace)

    @property
    def tool_settings(self) -> dict[str, Any]:
        """Arguments of `Setup.changed`; None if an option was not given."""
        return {
            "documents": self.docs,
            "workspace": self.workspace,
            "mcp": self.mcp,
            "own_tools": self.own_tools,
            "packs": self.packs,
        }


@dataclass(frozen=True)
class ModelOptions:
    """The model of each role."""

    planner: Annotated[
        str | None,
        typer.Option("--planner", metavar="MODEL", help="Model of the planner, as provider:model."),
    ] = None
    executor: Annotated[
        str | None,
        typer.Option("--executor", metavar="MODEL", help="Model for steps without a tool."),
    ] = None
    replanner: Annotated[
        str | None,
        typer.Option("--replanner", metavar="MODEL", help="Model that revises plans."),
    ] = None
    judge: Annotated[
        str | None,
        typer.Option("--judge", metavar="MODEL", help="Model that judges natural-language success criteria."),
    ] = None
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="ROLE.NAME=VALUE",
            help="Setting of a role's model, such as executor.temperature=0.2; may be repeated.",
        ),
    ] = None

    @property
    def models(self) -> "Layer":
        """The settings of each role's model.

        Raises:
            InputError: An entry of `--set` is invalid.
        """
        names = {
            "planner": self.planner,
            "executor": self.executor,
            "replanner": self.replanner,
            "judge": self.judge,
        }
        return models_from_options(names, self.set_ or [])


@dataclass(frozen=True)
class RunOptions(ActorOptions, ModelOptions, ToolOptions):
    """Everything a run is started with: the options of commands that execute."""

    config: options.ConfigFile = None
    policy: options.PolicyFile = None
    approval: ApprovalName = None
    replan: Annotated[Replan | None, setting_option("replan")] = None
    horizon: Annotated[int | None, setting_option("horizon")] = None
    max_replans: Annotated[int | None, setting_option("max_replans")] = None
    max_repairs: Annotated[int | None, setting_option("max_repairs")] = None
    max_concurrency: Annotated[int | None, setting_option("max_concurrency")] = None

    @property
    def takes_over(self) -> bool:
        """Whether an option names a term of a run, which asks for it in place of the one on record."""
        settings = self.settings
        return any(settings[name] not in (None, {}) for name in TERMS)

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of `Setup.changed`; None if an option was not given.

        Raises:
            InputError: An entry of `--set` is invalid.
        """
        return {
            **self.tool_settings,
            "models": self.models,
            "config": self.config,
            "policy": self.policy,
            **{name: getattr(self, name) for name in REMEMBERED},
        }
