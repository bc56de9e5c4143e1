"""What a client of a graph server may set for one invocation."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from planner_executor.graph.chat_models.roles import RoleModels
from planner_executor.graph.chat_models.settings import ROLES, ClientSettings, Layer, Role
from planner_executor.graph.errors import ConfigError
from planner_executor.graph.name_list import right_name
from planner_executor.graph.settings import Settings
from planner_executor.graph.validation_message import fault_messages

LIMITS: Mapping[str, int] = {"max_concurrency": 1, "max_replans": 0, "max_repairs": 0}
"""Limits that a client may lower, and the minimum of each."""

FIXED = (
    "approval",
    "replan",
    "horizon",
    "budget",
    "max_steps",
    "max_rounds",
    "max_check_attempts",
    "timeout_s",
    "attempts",
    "backoff_s",
    "max_feedback",
    "max_depth",
    "record_prompts",
)
"""Settings of the operator that a client sees and cannot change."""


def _for_nodes(*nodes: str) -> dict[str, Any]:
    """Return the metadata that lets Studio show a setting beside its nodes."""
    return {"langgraph_nodes": list(nodes)}


def _fixed(description: str, *nodes: str) -> Any:
    told = f"{description} The operator's choice: it is shown here, and another value is refused."
    return Field(default=None, description=told, json_schema_extra=_for_nodes(*nodes))


class Context(BaseModel):
    """A client's settings for one invocation: names and limits. Default: those that the graph was built with.

    A client chooses among the models that the operator allows, and can only lower limits. The approval mode is the
    operator's alone.
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
        ge=LIMITS["max_concurrency"],
        description="Most steps that run at a time; at most the server's limit.",
        json_schema_extra=_for_nodes("executor"),
    )
    max_replans: int | None = Field(
        default=None,
        ge=LIMITS["max_replans"],
        description="Most replans of a run; at most the server's limit.",
        json_schema_extra=_for_nodes("replanner"),
    )
    max_repairs: int | None = Field(
        default=None,
        ge=LIMITS["max_repairs"],
        description="Most corrections of an invalid plan; at most the server's limit.",
        json_schema_extra=_for_nodes("planner", "replanner"),
    )
    approval: str | None = _fixed("When a person is asked before a plan is carried out.", "review")
    replan: str | None = _fixed("When the rest of a plan is revised.", "replanner")
    horizon: int | None = _fixed("How many steps are planned at a time; all of them without a number.", "planner")
    budget: dict[str, Any] | None = _fixed("What a new run may spend.", "executor")
    max_steps: int | None = _fixed("How many steps a plan may have.", "planner", "replanner")
    max_rounds: int | None = _fixed("How often a run is planned on step by step.", "planner", "replanner")
    max_check_attempts: int | None = _fixed("How often a step is tried whose result misses its criteria.", "executor")
    timeout_s: float | None = _fixed("Seconds that a call, or all turns of a model step, may take.", "executor")
    attempts: int | None = _fixed("How often a call is tried whose failure may pass.", "executor")
    backoff_s: float | None = _fixed("Seconds before the second attempt of a call.", "executor")
    max_feedback: int | None = _fixed("How often a person may ask for another plan.", "review")
    max_depth: int | None = _fixed("How many refined steps may lie within one another.", "replanner")
    record_prompts: bool | None = _fixed("Whether the ledger keeps what models are asked.", "planner", "executor")

    def limits(self, settings: Settings) -> dict[str, Any]:
        """Return the limits that are set here.

        Raises:
            ConfigError: A limit is higher than the operator's, or a setting of the operator has another value.
        """
        limits = self.model_dump(include=set(LIMITS), exclude_none=True)
        for name, value in limits.items():
            if value > (most := getattr(settings, name)):
                raise ConfigError(f"{name}={value} is more than this graph allows; set {most} at most, or leave it out")
        for name, value in self.model_dump(include=set(FIXED), exclude_none=True).items():
            if value != (own := in_force(settings, name)):
                raise ConfigError(
                    f"{name}={value!r} is not for a client to choose; this graph has {own!r}: leave it out"
                )
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


def check_context(context: Any) -> None:
    """Refuse a client's context that names a setting which does not exist, or has a value that is none.

    LangGraph's server drops such keys before the graph sees them (decision 0106).

    Raises:
        ConfigError: It does.
    """
    if not isinstance(context, Mapping):
        return
    for name in context:
        if name not in Context.model_fields:
            raise ConfigError(f"the context has no setting {name!r}; {right_name(name, Context.model_fields)}")
    try:
        Context.model_validate(context)
    except ValidationError as error:
        raise ConfigError(f"the context is invalid: {fault_messages(error)}") from None


def in_force(settings: Settings, name: str) -> Any:
    """Return the value of a setting as plain JSON."""
    return settings.budget.to_json() if name == "budget" else getattr(settings, name)
