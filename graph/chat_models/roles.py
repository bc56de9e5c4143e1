"""Which chat model plays which role: what Python, the environment and the settings file say, in this order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graph.chat_models.making import chat_of
from graph.chat_models.preflight import check_models
from graph.chat_models.role_model import RoleModel
from graph.chat_models.settings import ClientSettings, Given, Layer, ModelSettings, Role, Said, layer, resolved
from graph.chat_models.sources import sources
from graph.errors import ModelConfigError


@dataclass(frozen=True)
class RoleModels:
    """The models of all roles; a judge is there only where one is named. `layers` is what they were made from.

    `named` are further executors, which steps choose by name.
    """

    planner: RoleModel
    executor: RoleModel
    replanner: RoleModel
    judge: RoleModel | None
    layers: tuple[Layer, ...] = field(repr=False)
    named: Mapping[str, RoleModel] = field(default_factory=dict)

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
        return made((stronger, *self.layers)) if stronger else self

    def for_client(self, role: Role, model: str | None, said: ClientSettings) -> ModelSettings:
        """Return what a client of a graph server says of a role; with an address comes the key that is for it.

        Raises:
            ModelConfigError: The address is none that our own settings name: a client could have our keys sent there.
        """
        told: dict[str, Any] = said.model_dump(exclude_defaults=True)
        if said.base_url is not None:
            known = next((server for server in self._servers() if server.base_url == said.base_url), None)
            if known is None:
                why = f"{said.base_url} is no server that this graph's settings name"
                raise ModelConfigError(model or f"of the {role}", why)
            told |= {"api_key": known.api_key, "api_key_env": known.api_key_env}
        return ModelSettings(model=model or None, **told)

    def _servers(self) -> Iterator[ModelSettings]:
        for said in (entry for place in self.layers for entry in place.values()):
            if isinstance(said, ModelSettings):
                yield from (said, *said.fallbacks)


def role_models(
    given: Mapping[Role, Given | None],
    file: str | Path | None = None,
    executors: Mapping[str, Given] | None = None,
) -> RoleModels:
    """Return the models of all roles; what is given is heard before the environment, and that before the file.

    Args:
        given: Role -> a name, settings or a chat model; None says nothing.
        executors: Further executors, by name.
        file: The settings file, see `graph.chat_models.sources.sources`.

    Raises:
        ConfigError: A place says what cannot be, or a model cannot be made.
    """
    return made((layer(given, executors), *sources(file)))


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
