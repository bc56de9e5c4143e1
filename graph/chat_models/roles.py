"""The models of all roles, from Python arguments, the environment and the settings file, in this order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from planner_executor.graph.chat_models.factory import TIMEOUT_S, create_chat, provider_and_name
from planner_executor.graph.chat_models.preflight import check_models
from planner_executor.graph.chat_models.role_model import RoleModel
from planner_executor.graph.chat_models.settings import (
    OFFLINE,
    ClientSettings,
    Layer,
    ModelSettings,
    ModelSource,
    ModelSpec,
    Role,
    layer,
    resolved,
)
from planner_executor.graph.chat_models.sources import models_for_clients, sources
from planner_executor.graph.errors import ModelConfigError
from planner_executor.graph.words.name_list import listed


@dataclass(frozen=True)
class RoleModels:
    """The models of all roles; the judge is optional. `layers` are the settings they were created from.

    `named` are further executors, which steps select by name. `for_clients` lists the models that clients of a graph
    server may choose, `*` for any; None means those named in the layers.
    """

    planner: RoleModel
    executor: RoleModel
    replanner: RoleModel
    judge: RoleModel | None
    layers: tuple[Layer, ...] = field(repr=False)
    named: Mapping[str, RoleModel] = field(default_factory=dict)
    for_clients: tuple[str, ...] | None = None

    @property
    def executors(self) -> dict[str | None, RoleModel]:
        """Executors by the name used in steps; None is the default executor."""
        found: dict[str | None, RoleModel] = {None: self.executor}
        found.update(self.named)
        return found

    @property
    def by_role(self) -> dict[Role, RoleModel]:
        """Models by role; the judge only if there is one."""
        found: dict[Role, RoleModel | None] = {
            "planner": self.planner,
            "executor": self.executor,
            "replanner": self.replanner,
            "judge": self.judge,
        }
        return {role: model for role, model in found.items() if model is not None}

    @property
    def all_models(self) -> dict[str, RoleModel]:
        """All models by display name: the role, or `executor <name>`."""
        named = {f"executor {name}": model for name, model in self.named.items()}
        return {**{str(role): model for role, model in self.by_role.items()}, **named}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all models in records, fallbacks included."""
        return tuple(dict.fromkeys(name for model in self.all_models.values() for name in model.names))

    async def check(self) -> None:
        """See `graph.chat_models.preflight.check_models`."""
        await check_models(self.all_models.values())

    def under(self, stronger: Layer) -> "RoleModels":
        """Return the models with a stronger layer of settings on top.

        Raises:
            ModelConfigError: A model cannot be created.
        """
        layers = (stronger, *self.layers)
        if resolved(layers) == resolved(self.layers):  # a form sends what it was shown, changed or not
            return self
        return replace(create_models(layers), for_clients=self.for_clients)

    def offered(self, role: Role) -> tuple[str, ...]:
        """Return the models that clients may choose for a role; `*` stands for any."""
        chosen = self.for_clients if self.for_clients is not None else tuple(entry.model for entry in self._entries())
        free = (OFFLINE,) if role != "judge" else ()  # free, but it must not replace the operator's judge
        return tuple(name for name in dict.fromkeys((*chosen, *free, self._own(role).model)) if name)

    def shown(self, role: Role) -> dict[str, Any]:
        """Return the settings of a role that clients may see: no key, no address; none for a chat model object."""
        own = self._own(role).without_secrets()
        return {name: own[name] for name in ("model", "temperature", "timeout_s", "options") if name in own}

    def check_choice(self, role: Role, model: str | None, settings: ClientSettings) -> None:
        """Check that a client of a graph server may choose this model and settings for a role.

        Raises:
            ModelConfigError: The operator does not offer the model, or the timeout exceeds the operator's.
        """
        own, offered = self._own(role), self.offered(role)
        if model is not None and "*" not in offered and canonical_name(model) not in map(canonical_name, offered):
            fault = f"clients may not choose it for the {role}; choose {listed(offered)}, or omit it"
            raise ModelConfigError(model, fault)
        most = own.timeout_s or TIMEOUT_S
        if settings.timeout_s is not None and settings.timeout_s > most:
            raise ModelConfigError(
                model or f"of the {role}", f"timeout_s={settings.timeout_s:g} is too long; set {most:g} at most"
            )

    def for_client(self, role: Role, model: str | None, settings: ClientSettings) -> ModelSettings:
        """Return a client's settings for a role, completed by the operator's settings for that model.

        A server address brings the operator's key for it.

        Raises:
            ModelConfigError: The address is not in the operator's settings; a client could redirect keys to it.
        """
        changed: dict[str, Any] = settings.model_dump(exclude_defaults=True)
        if settings.base_url is not None:
            known = [entry for entry in self._entries() if entry.base_url == settings.base_url]
            if not known:
                fault = f"the settings of this graph do not name the server {settings.base_url}; omit base_url"
                raise ModelConfigError(model or f"of the {role}", fault)
            server = next((entry for entry in known if _names(entry, model)), known[0])
            # Only the server's own key is sent to it, even if the role's model has another.
            return ModelSettings(model=model, **changed, api_key=server.api_key, api_key_env=server.api_key_env)
        own = self._own(role)
        if model is None or _names(own, model):  # the role's own settings complete it
            return ModelSettings(model=model and own.model, **changed)
        found = next((entry for entry in self._entries() if _names(entry, model)), ModelSettings())
        return ModelSettings(model=found.model or model, **changed).over(found)

    def _own(self, role: Role) -> ModelSettings:
        """Return the settings of a role's model, empty for a chat model object or a missing judge."""
        found = resolved(self.layers)[role]
        return found if isinstance(found, ModelSettings) else ModelSettings()

    def _entries(self) -> Iterator[ModelSettings]:
        """Yield all model settings: first those of the roles, resolved, then those of each layer."""
        found = resolved(self.layers)
        roles: list[ModelSource | None] = [found["planner"], found["executor"], found["replanner"], found["judge"]]
        for settings in (
            *roles,
            *found["executors"].values(),
            *(entry for place in self.layers for entry in place.values()),
        ):
            if isinstance(settings, ModelSettings):
                yield from (settings, *settings.fallbacks)


def role_models(
    given: Mapping[Role, ModelSpec | None],
    file: str | Path | None = None,
    executors: Mapping[str, ModelSpec] | None = None,
    for_clients: Sequence[str] | None = None,
) -> RoleModels:
    """Return the models of all roles; arguments win over the environment, which wins over the file.

    Args:
        given: A name, settings or a chat model by role; None means not given.
        executors: Further executors, by name.
        file: The settings file, see `graph.chat_models.sources.sources`.
        for_clients: The models that clients may choose. Default: PLANNER_EXECUTOR_CLIENT_MODELS, else all models named
            for a role.

    Raises:
        ConfigError: A setting is invalid, or a model cannot be created.
    """
    offered = models_for_clients() if for_clients is None else tuple(for_clients)
    return replace(create_models((layer(given, executors), *sources(file))), for_clients=offered)


def create_models(layers: Sequence[Layer]) -> RoleModels:
    """Return the models of the layers; roles with equal settings share a model."""
    known: list[tuple[ModelSource, RoleModel]] = []

    def model(settings: ModelSource) -> RoleModel:
        for other, same in known:
            if other is settings or (isinstance(settings, ModelSettings) and other == settings):
                return same
        known.append((settings, role_model(settings)))
        return known[-1][1]

    found = resolved(layers)
    judge = found["judge"]
    return RoleModels(
        planner=model(found["planner"]),
        executor=model(found["executor"]),
        replanner=model(found["replanner"]),
        judge=None if judge is None else model(judge),
        layers=tuple(layers),
        named={name: model(settings) for name, settings in found["executors"].items()},
    )


def role_model(given: ModelSpec) -> RoleModel:
    """Return the model, with the fallbacks in its settings.

    Raises:
        ModelConfigError: The model cannot be created.
    """
    settings = layer({"planner": given})["planner"]
    fallbacks = settings.fallbacks if isinstance(settings, ModelSettings) else ()
    return RoleModel(tuple(create_chat(entry) for entry in (settings, *fallbacks)))


def canonical_name(model: str) -> str:
    """Return a model's name in canonical spelling.

    >>> canonical_name("openai/gpt-5") == canonical_name("OpenAI:gpt-5"), canonical_name("offline")
    (True, 'offline')
    """
    try:
        return ":".join(provider_and_name(model))
    except ModelConfigError:
        return model


def _names(entry: ModelSettings, model: str | None) -> bool:
    return entry.model is not None and model is not None and canonical_name(entry.model) == canonical_name(model)
