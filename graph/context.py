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
from graph.chat_models.retry import Clock
from graph.chat_models.roles import RoleModels
from graph.chat_models.settings import ROLES, ClientSettings, Layer, Role
from graph.errors import ConfigError
from graph.ledger.protocol import Ledger
from graph.plan.attempts import AttemptLimits
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
    """Names and limits; each limit has a minimum, enforced by `build_graph`.

    `max_repairs` bounds the corrections of an invalid plan, `max_feedback` the plans that a person may send back,
    `max_replans` the calls of the replanner after failures, `max_rounds` the rounds of a run that is planned step by
    step, `max_check_attempts` the attempts at a step whose result does not meet its criteria, `max_depth` the nesting
    of refined steps. With `horizon` 1 the planner plans one step at a time. `budget` limits a new run.
    `timeout_s`, `attempts` and `backoff_s` are those of every step, see `graph.plan.attempts`.
    `record_prompts` records prompts in the ledger; answers are always recorded. `instructions` adds to a role's prompt.
    """

    approval: ApprovalMode = "always"
    policy: Policy = NO_POLICY
    budget: Budget = NO_BUDGET
    replan: Replan = "failure"
    horizon: Literal[1] | None = None
    max_concurrency: int = 16
    max_replans: int = 2
    max_rounds: int = 10
    max_check_attempts: int = 2
    max_repairs: int = 1
    max_feedback: int = 10
    max_steps: int = MAX_STEPS
    max_depth: int = 2
    timeout_s: float | None = None
    attempts: int | None = None
    backoff_s: float | None = None
    record_prompts: bool = True
    instructions: Mapping[str, str] = field(default_factory=dict)

    @property
    def attempt_limits(self) -> AttemptLimits:
        """How long and how often a step is tried, by these settings and the policy."""
        return AttemptLimits(self.timeout_s, self.attempts, self.backoff_s).lowest(self.policy.steps)


LIMITS = ("max_concurrency", "max_replans", "max_repairs")
"""Limits that a client may lower."""


def _for_nodes(*nodes: str) -> dict[str, Any]:
    """Return the metadata that lets Studio show a setting beside its nodes."""
    return {"langgraph_nodes": list(nodes)}


class Context(BaseModel):
    """A client's settings for one invocation: names and limits. Default: those that the graph was built with.

    A client chooses among the models that the operator allows, and can only lower limits. The approval mode is
    deliberately not a client setting.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    planner: str | None = Field(
        default=None,
        description="Model that plans, as provider:model; one that the server's settings allow.",
        json_schema_extra=_for_nodes("planner"),
    )
    executor: str | None = Field(
        default=None,
        description="Model for steps that are not plain tool calls. Default: the planner's.",
        json_schema_extra=_for_nodes("executor"),
    )
    replanner: str | None = Field(
        default=None,
        description="Model that revises a plan after a failure. Default: the planner's.",
        json_schema_extra=_for_nodes("replanner"),
    )
    judge: str | None = Field(
        default=None,
        description="Model that judges natural-language success criteria. Default: none.",
        json_schema_extra=_for_nodes("executor"),
    )
    model_settings: dict[Role, ClientSettings] = Field(
        default_factory=dict,
        description="Settings of the models: role -> temperature, timeout_s, base_url, options.",
        json_schema_extra=_for_nodes("planner", "executor", "replanner"),
    )
    max_concurrency: int | None = Field(
        default=None,
        ge=1,
        description="Most steps that run at a time; at most the server's limit.",
        json_schema_extra=_for_nodes("executor"),
    )
    max_replans: int | None = Field(
        default=None,
        ge=0,
        description="Most replans of a run; at most the server's limit.",
        json_schema_extra=_for_nodes("replanner"),
    )
    max_repairs: int | None = Field(
        default=None,
        ge=0,
        description="Most corrections of an invalid plan; at most the server's limit.",
        json_schema_extra=_for_nodes("planner", "replanner"),
    )

    def limits(self, settings: Settings) -> dict[str, Any]:
        """Return the limits that are set here.

        Raises:
            ConfigError: A limit is higher than the operator's.
        """
        limits = self.model_dump(include=set(LIMITS), exclude_none=True)
        for name, value in limits.items():
            if value > (most := getattr(settings, name)):
                raise ConfigError(f"{name}={value} is more than this graph allows; set {most} at most, or leave it out")
        return limits

    def layer(self, models: RoleModels) -> Layer:
        """Return the client's model settings.

        Raises:
            ModelConfigError: Clients may not choose the model, the graph's own settings do not name the address, or
                the client's timeout is longer than the graph's.
        """
        named = {role: getattr(self, role) or None for role in ROLES}
        for role, model in named.items():
            models.check_choice(role, model, self.model_settings.get(role, ClientSettings()))
        own = {role: self.model_settings.get(role, ClientSettings()) for role in ROLES}
        read = {role: models.for_client(role, named[role], own[role]) for role in ROLES}
        return {role: settings for role, settings in read.items() if settings.explicit}


def _named_only(tools: Content | None) -> Content | None:
    """Return recorded tools by their artifact's id alone; an earlier release recorded its size and preview too."""
    if tools is None or tools.artifact is None:
        return tools
    return Content(artifact={"id": tools.artifact.get("id")})


@dataclass(frozen=True)
class Services:
    """The live objects behind a graph; `ledger` opens the ledger on first use, `clock` is monotonic, in seconds."""

    settings: Settings
    toolbox: Toolbox
    models: RoleModels
    ledger: Callable[[], Awaitable[Ledger]]
    turns: RateLimiter
    clock: Callable[[], float] = time.monotonic
    pauses: Clock = field(default_factory=Clock)
    descriptions: Recent[str] = field(default_factory=Recent, repr=False, compare=False)
    """Texts of reviews; a plan that a person approves needs its text three times."""

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
        """The tools that planners are shown; denied tools are left out."""
        return tools_shown(self.toolbox.specs.values(), self.settings.policy)

    @cached_property
    def offered_text(self) -> str:
        """The offered tools as prompt text."""
        return shown_text(self.offered)

    def is_configured_as(self, recorded: Configuration) -> bool:
        """Whether a configuration on record equals this one; earlier releases recorded the tools inline."""
        current, tools = self.configuration
        if recorded.tools is not None and recorded.tools.artifact is None:
            current = replace(current, tools=Content(tools.value))
        return current in (recorded, replace(recorded, tools=_named_only(recorded.tools)))

    async def under(self, context: Context | None) -> "Services":
        """Return the services with a client's settings for this invocation.

        Raises:
            ConfigError: A setting exceeds the operator's limits, a model cannot be made, or a model that needs a price
                has none.
        """
        if context is None:
            return self
        changed = replace(self, settings=replace(self.settings, **context.limits(self.settings)))
        stronger = context.layer(self.models)
        if not stronger:
            return changed
        # on a thread, because making a model may import its package
        changed = replace(changed, models=await run_sync(lambda: self.models.under(stronger)))
        changed.check_prices()
        return changed

    def check_prices(self) -> None:
        """Refuse models without a known price if the budget limits the run's cost.

        Raises:
            ConfigError: A model has no price.
        """
        policy = self.settings.policy
        if self.settings.budget.cost_usd is None and policy.limits.cost_usd is None:
            return
        for role, model in self.models.all_models.items():
            for name in model.paid:
                if name not in policy.prices:
                    why = f'has no price, so cost_usd cannot hold; add [prices."{name}"]'
                    raise ConfigError(f"the {role} model {name} {why}")
