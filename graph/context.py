"""Settings of a graph, and the live objects that its nodes use."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from graph.calls.rate_limit import RateLimiter
from graph.calls.threads import run_sync
from graph.calls.toolbox import Toolbox
from graph.chat_models.roles import RoleModels
from graph.chat_models.settings import ROLES, ClientSettings, Layer, Role
from graph.errors import ConfigError
from graph.ledger.protocol import Ledger
from graph.plan.reading import MAX_STEPS
from graph.policy.policy import NO_POLICY, ApprovalMode, Policy
from graph.policy.replanning import Replan
from graph.prompts.data import shown_text, tools_shown
from graph.recent import Recent
from graph.record.budget import NO_BUDGET, Budget
from graph.record.events import Configuration, Content
from graph.record.values import Kept, normalise


@dataclass(frozen=True)
class Settings:
    """Names and limits; every limit is at least its least sensible value, checked by `build_graph`.

    `max_repairs` bounds how often a model is told what is wrong with its plan, `max_feedback` how often a person may
    ask for another one, `max_replans` how often the replanner is called after failures, `max_rounds` how often a run
    is planned on step by step, `max_retries` how often a step is tried again whose result does not meet its criteria,
    `max_depth` how many refined steps may lie within one another. With `horizon` 1 the planner gives one step at a
    time. `budget` is what a new run may spend. `record_prompts` says whether the ledger keeps what models are asked;
    what they answer it always keeps. `instructions` adds to what a role is told.
    """

    approval: ApprovalMode = "always"
    policy: Policy = NO_POLICY
    budget: Budget = NO_BUDGET
    replan: Replan = "failure"
    horizon: Literal[1] | None = None
    max_concurrency: int = 16
    max_replans: int = 2
    max_rounds: int = 10
    max_retries: int = 1
    max_repairs: int = 1
    max_feedback: int = 10
    max_steps: int = MAX_STEPS
    max_depth: int = 2
    record_prompts: bool = True
    instructions: Mapping[str, str] = field(default_factory=dict)


LIMITS = ("max_concurrency", "max_replans", "max_repairs")
"""What a client may lower."""


def _for_nodes(*nodes: str) -> dict[str, Any]:
    """Return the metadata that lets Studio show a setting beside its nodes."""
    return {"langgraph_nodes": list(nodes)}


class Context(BaseModel):
    """What a client may set for one invocation: names and limits; what is left out is as the graph was built.

    The operator decides what there is to choose from, and limits can only be lowered. The approval mode is deliberately
    no setting of a client.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    planner: str | None = Field(
        default=None,
        description="Model that plans, as provider:model; one of those that the server's settings name.",
        json_schema_extra=_for_nodes("planner"),
    )
    executor: str | None = Field(
        default=None,
        description="Model that does the steps which are no plain tool call; the planner's by default.",
        json_schema_extra=_for_nodes("executor"),
    )
    replanner: str | None = Field(
        default=None,
        description="Model that revises a plan after a failure; the planner's by default.",
        json_schema_extra=_for_nodes("replanner"),
    )
    judge: str | None = Field(
        default=None,
        description="Model that judges success criteria in words; nobody does by default.",
        json_schema_extra=_for_nodes("executor"),
    )
    model_settings: dict[Role, ClientSettings] = Field(
        default_factory=dict,
        description="How the models are asked: role -> temperature, timeout_s, base_url, options.",
        json_schema_extra=_for_nodes("planner", "executor", "replanner"),
    )
    max_concurrency: int | None = Field(
        default=None,
        ge=1,
        description="How many steps may run at a time; no more than the server allows.",
        json_schema_extra=_for_nodes("executor"),
    )
    max_replans: int | None = Field(
        default=None,
        ge=0,
        description="How often a run may be replanned; no more than the server allows.",
        json_schema_extra=_for_nodes("replanner"),
    )
    max_repairs: int | None = Field(
        default=None,
        ge=0,
        description="How often a model is told what is wrong with its plan; no more than the server allows.",
        json_schema_extra=_for_nodes("planner", "replanner"),
    )

    def limits(self, settings: Settings) -> dict[str, Any]:
        """Return the limits that are set here.

        Raises:
            ConfigError: One is beyond the operator's.
        """
        said = self.model_dump(include=set(LIMITS), exclude_none=True)
        for name, value in said.items():
            if value > (most := getattr(settings, name)):
                raise ConfigError(f"{name}={value} is more than this graph allows; set {most} at most, or leave it out")
        return said

    def layer(self, models: RoleModels) -> Layer:
        """Return the client's model settings.

        Raises:
            ModelConfigError: A model is none that clients may choose, an address none that the graph's own settings
                name, or a client would wait longer for answers than the graph does.
        """
        named = {role: getattr(self, role) or None for role in ROLES}
        for role, model in named.items():
            models.check_choice(role, model, self.model_settings.get(role, ClientSettings()))
        said = {role: self.model_settings.get(role, ClientSettings()) for role in ROLES}
        read = {role: models.for_client(role, named[role], said[role]) for role in ROLES}
        return {role: settings for role, settings in read.items() if settings.explicit}


def _named_only(tools: Content | None) -> Content | None:
    """Return recorded tools by their artifact's id alone; an earlier release recorded its size and preview too."""
    if tools is None or tools.artifact is None:
        return tools
    return Content(artifact={"id": tools.artifact.get("id")})


@dataclass(frozen=True)
class Services:
    """The live things behind a graph; `ledger` opens it on first use, `clock` counts seconds and never goes back."""

    settings: Settings
    toolbox: Toolbox
    models: RoleModels
    ledger: Callable[[], Awaitable[Ledger]]
    turns: RateLimiter
    clock: Callable[[], float] = time.monotonic
    descriptions: Recent[str] = field(default_factory=Recent, repr=False, compare=False)
    """Texts of reviews: each is made three times for a plan that a person approves."""

    @cached_property
    def configuration(self) -> tuple[Configuration, Kept]:
        """The configuration that decisions depend on, as the ledger keeps it, and the artifact with the tools."""
        tools = self.toolbox.kept
        models: dict[str, Any] = {role: list(model.names) for role, model in self.models.by_role.items()}
        executors = {name: list(model.names) for name, model in self.models.named.items()}
        settings = {field.name: getattr(self.settings, field.name) for field in fields(self.settings)}
        settings["policy"] = self.settings.policy.to_json()
        del settings["budget"]  # each run has its own, recorded when it starts
        plain: Any = normalise(settings)
        named = Content(artifact=tools.named)
        return Configuration(settings=plain, models=models, executors=executors, tools=named), tools

    @cached_property
    def offered(self) -> Sequence[dict[str, Any]]:
        """The tools as planners are shown them, denied ones left out."""
        return tools_shown(self.toolbox.specs.values(), self.settings.policy)

    @cached_property
    def offered_text(self) -> str:
        """The same as it stands in prompts."""
        return shown_text(self.offered)

    def is_configured_as(self, recorded: Configuration) -> bool:
        """Whether a configuration on record is this one; earlier records hold the tools themselves."""
        told, tools = self.configuration
        if recorded.tools is not None and recorded.tools.artifact is None:
            told = replace(told, tools=Content(tools.value))
        return told in (recorded, replace(recorded, tools=_named_only(recorded.tools)))

    async def under(self, context: Context | None) -> "Services":
        """Return the services with a client's settings for this invocation.

        Raises:
            ConfigError: Something is beyond what the operator allows; or a model cannot be made, or has no price and
                needs one.
        """
        if context is None:
            return self
        changed = replace(self, settings=replace(self.settings, **context.limits(self.settings)))
        stronger = context.layer(self.models)
        if not stronger:
            return changed
        # away from the event loop: a package may have to be imported first
        changed = replace(changed, models=await run_sync(lambda: self.models.under(stronger)))
        changed.check_prices()
        return changed

    def check_prices(self) -> None:
        """Refuse models without a known price if the budget limits the run's cost.

        Raises:
            ConfigError: There is such a model.
        """
        policy = self.settings.policy
        if self.settings.budget.cost_usd is None and policy.limits.cost_usd is None:
            return
        for role, model in self.models.all_models.items():
            for name in model.paid:
                if name not in policy.prices:
                    why = f'has no price, so cost_usd cannot hold; add [prices."{name}"]'
                    raise ConfigError(f"the {role} model {name} {why}")
