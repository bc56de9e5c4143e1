"""What a client of a graph server may set for one invocation."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import Field, ValidationError, create_model

from planner_executor.graph.chat_models.roles import RoleModels
from planner_executor.graph.chat_models.settings import ROLES, ClientSettings, Layer, Role
from planner_executor.graph.errors import ConfigError
from planner_executor.graph.settings.settings import SETTINGS, TYPES, Settings
from planner_executor.graph.words.name_list import right_name
from planner_executor.graph.words.tables import ClosedTable
from planner_executor.graph.words.validation_message import fault_messages

LIMITS: Mapping[str, int] = {name: told.least or 0 for name, told in SETTINGS.items() if told.client == "lowers"}
"""Limits that a client may lower, and the minimum of each."""

FIXED = tuple(name for name, told in SETTINGS.items() if told.client == "sees")
"""Settings of the operator that a client sees and cannot change."""


def _for_nodes(*nodes: str) -> dict[str, Any]:
    """Return the metadata that lets Studio show a setting beside its nodes."""
    return {"langgraph_nodes": list(nodes)}


def _field(name: str) -> tuple[Any, Any]:
    """Return a setting's type and field, for a form; unset it is the operator's."""
    told = SETTINGS[name]
    said = "at most the server's limit" if name in LIMITS else "the operator's choice, and another value is refused"
    kind = dict[str, Any] if name == "budget" else TYPES[name]
    described = Field(
        default=None, ge=told.least, description=f"{told.help}: {said}.", json_schema_extra=_for_nodes(*told.nodes)
    )
    return kind | None, described


class ModelChoices(ClosedTable):
    """The models that a client chooses."""

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


if TYPE_CHECKING:
    ContextFields = ModelChoices
else:
    ContextFields = create_model(
        "ContextFields", __base__=ModelChoices, **{name: _field(name) for name in (*LIMITS, *FIXED)}
    )


class Context(ContextFields):
    """A client's settings for one invocation: names and limits. Default: those that the graph was built with.

    A client chooses among the models that the operator allows, and can only lower limits. The approval mode is the
    operator's alone.
    """

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
