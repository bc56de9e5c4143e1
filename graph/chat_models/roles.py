"""Which chat model plays which role: what Python, the environment and the settings file say, in this order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from graph.chat_models.making import TIMEOUT_S, chat_of, provider_and_name
from graph.chat_models.preflight import check_models
from graph.chat_models.role_model import RoleModel
from graph.chat_models.settings import (
    OFFLINE,
    ClientSettings,
    Given,
    Layer,
    ModelSettings,
    Role,
    Said,
    layer,
    resolved,
)
from graph.chat_models.sources import models_for_clients, sources
from graph.errors import ModelConfigError, listed


@dataclass(frozen=True)
class RoleModels:
    """The models of all roles; a judge is there only where one is named. `layers` is what they were made from.

    `named` are further executors, which steps choose by name. `for_clients` are the models that clients of a graph
    server may choose, `*` for any; by default those that the layers name.
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
        """What does model steps: by the name that a step gives, None where it gives none."""
        found: dict[str | None, RoleModel] = {None: self.executor}
        found.update(self.named)
        return found

    @property
    def by_role(self) -> dict[Role, RoleModel]:
        """Role -> its model; the judge only where there is one."""
        found: dict[Role, RoleModel | None] = {
            "planner": self.planner,
            "executor": self.executor,
            "replanner": self.replanner,
            "judge": self.judge,
        }
        return {role: model for role, model in found.items() if model is not None}

    @property
    def everyone(self) -> dict[str, RoleModel]:
        """All of them, by what people call them: the role, or `executor <name>`."""
        named = {f"executor {name}": model for name, model in self.named.items()}
        return {**{str(role): model for role, model in self.by_role.items()}, **named}

    @property
    def names(self) -> tuple[str, ...]:
        """How all that may answer are called in records, fallbacks included."""
        return tuple(dict.fromkeys(name for model in self.everyone.values() for name in model.names))

    async def check(self) -> None:
        """See `graph.chat_models.preflight.check_models`."""
        await check_models(self.everyone.values())

    def under(self, stronger: Layer) -> "RoleModels":
        """Return the models as they are when a stronger place is heard too.

        Raises:
            ModelConfigError: A model cannot be made.
        """
        return replace(made((stronger, *self.layers)), for_clients=self.for_clients) if stronger else self

    def check_choice(self, role: Role, model: str | None, said: ClientSettings) -> None:
        """Check that a client of a graph server may have a role played by a model, and asked as it says.

        Raises:
            ModelConfigError: The operator does not offer the model, or would not wait so long for an answer.
        """
        own = self._own(role)
        chosen = self.for_clients if self.for_clients is not None else tuple(entry.model for entry in self._entries())
        free = (OFFLINE,) if role != "judge" else ()  # it costs nothing, but it would judge for the operator's judge
        offered = [name for name in dict.fromkeys((*chosen, *free, own.model)) if name]
        if model is not None and "*" not in offered and plain(model) not in map(plain, offered):
            why = f"clients may not choose it for the {role}; choose {listed(offered)}, or leave it out"
            raise ModelConfigError(model, why)
        most = own.timeout_s or TIMEOUT_S
        if said.timeout_s is not None and said.timeout_s > most:
            raise ModelConfigError(model or f"of the {role}", f"timeout_s={said.timeout_s:g}; set {most:g} at most")

    def for_client(self, role: Role, model: str | None, said: ClientSettings) -> ModelSettings:
        """Return what a client of a graph server says of a role, as the operator's settings have that model asked.

        With an address comes the key that is for it.

        Raises:
            ModelConfigError: The address is none that our own settings name: a client could have our keys sent there.
        """
        told: dict[str, Any] = said.model_dump(exclude_defaults=True)
        if said.base_url is not None:
            known = [entry for entry in self._entries() if entry.base_url == said.base_url]
            if not known:
                why = f"{said.base_url} is no server that this graph's settings name"
                raise ModelConfigError(model or f"of the {role}", why)
            server = next((entry for entry in known if _names(entry, model)), known[0])
            return ModelSettings(model=model, **told, api_key=server.api_key, api_key_env=server.api_key_env)
        own = self._own(role)
        if model is None or _names(own, model):  # completed by what is said of the role already
            return ModelSettings(model=model and own.model, **told)
        found = next((entry for entry in self._entries() if _names(entry, model)), ModelSettings())
        return ModelSettings(model=found.model or model, **told).over(found)

    def _own(self, role: Role) -> ModelSettings:
        """Return how the role's model is asked, nothing where it is a chat model or where there is none."""
        found = resolved(self.layers)[role]
        return found if isinstance(found, ModelSettings) else ModelSettings()

    def _entries(self) -> Iterator[ModelSettings]:
        """Yield what the settings have on each model, first as the roles have it, then as the places say it."""
        found = resolved(self.layers)
        roles: list[Said | None] = [found["planner"], found["executor"], found["replanner"], found["judge"]]
        for said in (
            *roles,
            *found["executors"].values(),
            *(entry for place in self.layers for entry in place.values()),
        ):
            if isinstance(said, ModelSettings):
                yield from (said, *said.fallbacks)


def role_models(
    given: Mapping[Role, Given | None],
    file: str | Path | None = None,
    executors: Mapping[str, Given] | None = None,
    for_clients: Sequence[str] | None = None,
) -> RoleModels:
    """Return the models of all roles; what is given is heard before the environment, and that before the file.

    Args:
        given: Role -> a name, settings or a chat model; None says nothing.
        executors: Further executors, by name.
        file: The settings file, see `graph.chat_models.sources.sources`.
        for_clients: The models that clients may choose; by default those that PLANNER_EXECUTOR_CLIENT_MODELS names, or
            else those that are named for any role.

    Raises:
        ConfigError: A place says what cannot be, or a model cannot be made.
    """
    offered = models_for_clients() if for_clients is None else tuple(for_clients)
    return replace(made((layer(given, executors), *sources(file))), for_clients=offered)


def made(layers: Sequence[Layer]) -> RoleModels:
    """Return the models that the layers name; roles that are asked in the same way share one."""
    known: list[tuple[Said, RoleModel]] = []

    def model(said: Said) -> RoleModel:
        for other, same in known:
            if other is said or (isinstance(said, ModelSettings) and other == said):
                return same
        known.append((said, role_model(said)))
        return known[-1][1]

    found = resolved(layers)
    judge = found["judge"]
    return RoleModels(
        planner=model(found["planner"]),
        executor=model(found["executor"]),
        replanner=model(found["replanner"]),
        judge=None if judge is None else model(judge),
        layers=tuple(layers),
        named={name: model(said) for name, said in found["executors"].items()},
    )


def role_model(given: Given) -> RoleModel:
    """Return what asks one chat model, and the fallbacks of its settings.

    Raises:
        ModelConfigError: It cannot be made.
    """
    said = layer({"planner": given})["planner"]
    fallbacks = said.fallbacks if isinstance(said, ModelSettings) else ()
    return RoleModel(tuple(chat_of(entry) for entry in (said, *fallbacks)))


def plain(model: str) -> str:
    """Return a model's name in one spelling.

    >>> plain("openai/gpt-5") == plain("OpenAI:gpt-5"), plain("offline")
    (True, 'offline')
    """
    try:
        return ":".join(provider_and_name(model))
    except ModelConfigError:
        return model


def _names(entry: ModelSettings, model: str | None) -> bool:
    return entry.model is not None and model is not None and plain(entry.model) == plain(model)
