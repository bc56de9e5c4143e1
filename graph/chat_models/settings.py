"""Which chat model a role has and how it is asked, as one place says it; and how several places are read as one."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, get_args

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, ConfigDict, Field, JsonValue, SecretStr, field_validator, model_validator

from graph.errors import ModelConfigError, listed

Role = Literal["planner", "executor", "replanner", "judge"]
ROLES: tuple[Role, ...] = get_args(Role)
OFFLINE = "offline"
EXECUTOR = "executor."
EXECUTOR_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")

SAMPLING = (
    "frequency_penalty",
    "max_completion_tokens",
    "max_tokens",
    "presence_penalty",
    "reasoning_effort",
    "seed",
    "stop",
    "top_k",
    "top_p",
    "verbosity",
)
"""Options that hold no secret and lead nowhere: they are remembered with a run, and clients may set them."""


class ModelSettings(BaseModel):
    """A role's model and how it is asked; what is left out is said elsewhere, or has its default.

    `model` is `provider:model`. `timeout_s` bounds one request, in seconds; `max_attempts` the requests for one answer.
    `api_key_env` names the environment variable that holds the key. `fallbacks` are models that stand in, in order.
    `structured_output` set to false takes JSON from the model's text only. `options` go to the chat model as they are.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    model: str | None = Field(default=None, min_length=1)
    temperature: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    timeout_s: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    base_url: str | None = Field(default=None, pattern=r"^https?://\S+$")
    api_key: SecretStr | None = None
    api_key_env: str | None = Field(default=None, min_length=1)
    max_attempts: int | None = Field(default=None, ge=1, le=20)
    requests_per_second: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    fallbacks: tuple["ModelSettings", ...] = ()
    structured_output: bool | None = None
    options: dict[str, Any] = Field(default_factory=dict, repr=False)

    @model_validator(mode="before")
    @classmethod
    def _a_name_is_a_model(cls, given: Any) -> Any:
        return {"model": given} if isinstance(given, str) else given

    @field_validator("fallbacks")
    @classmethod
    def _fallbacks_are_named(cls, given: "tuple[ModelSettings, ...]") -> "tuple[ModelSettings, ...]":
        if any(entry.model is None or entry.fallbacks for entry in given):
            raise ValueError("a fallback names a model, and has no fallbacks of its own")
        return given

    @field_validator("base_url")
    @classmethod
    def _no_key_in_an_address(cls, given: str | None) -> str | None:
        if given and "@" in given.split("/")[2]:
            raise ValueError("an address holds no user and no password; give the key by api_key_env")
        if given and ("?" in given or "#" in given):
            raise ValueError("an address ends before its query; give that by options.default_query")
        return given

    @property
    def said(self) -> dict[str, Any]:
        """What is set, by name."""
        return {name: value for name, value in self if value not in (None, (), {})}

    def over(self, weaker: "ModelSettings") -> "ModelSettings":
        """Return these settings, completed by those of a weaker place.

        Another model starts afresh. Another server keeps the model's name and nothing else: a key is for one server.
        """
        said, before = self.said, weaker.said
        if "model" in said and said["model"] != before.get("model"):
            return self
        if "base_url" in said and said["base_url"] != before.get("base_url"):
            before = {"model": before.get("model")}
        options = {**before.get("options", {}), **said.get("options", {})}
        return ModelSettings(**{**before, **said, "options": options})

    def without_secrets(self) -> dict[str, Any]:
        """Return what may be written down: no key, and only options that cannot hold one."""
        told = self.model_dump(mode="json", exclude_defaults=True, exclude={"api_key", "options", "fallbacks"})
        options = {name: value for name, value in self.options.items() if name in SAMPLING}
        fallbacks = [fallback.without_secrets() for fallback in self.fallbacks]
        return {**told, **({"options": options} if options else {}), **({"fallbacks": fallbacks} if fallbacks else {})}


class ClientSettings(BaseModel):
    """How a client of a graph server may have a model asked: nothing that leads elsewhere or could hold a key."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    temperature: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    timeout_s: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    base_url: str | None = None
    options: dict[str, JsonValue] = Field(default_factory=dict)

    @field_validator("options")
    @classmethod
    def _options_only_shape_the_answer(cls, given: dict[str, JsonValue]) -> dict[str, JsonValue]:
        if other := [name for name in given if name not in SAMPLING]:
            raise ValueError(f"a client cannot set {listed(other)}; it can set {listed(SAMPLING, 20)}")
        return given


Said = ModelSettings | BaseChatModel
Given = str | Said
Layer = Mapping[str, Said]
"""What one place says: role, or `executor.<name>` for a further executor -> its model; others are not in it."""


def layer(given: Mapping[Role, Given | None], executors: Mapping[str, Given] | None = None) -> Layer:
    """Return what was given for each role, and for further executors, as a layer; None says nothing.

    Raises:
        ModelConfigError: It is neither a name nor settings nor a chat model, or an executor's name cannot be one.
    """
    said: dict[str, Given | None] = {str(role): value for role, value in given.items()}
    said |= {executor_key(name): value for name, value in (executors or {}).items()}
    return {role: _read(value) for role, value in said.items() if value is not None}


def executor_key(name: str) -> str:
    """Return what a further executor is called in a layer.

    Raises:
        ModelConfigError: No step could call it so.
    """
    if not EXECUTOR_NAME.fullmatch(name) or name in ModelSettings.model_fields:
        raise ModelConfigError(name, "an executor's name is letters, digits, _ and -, and not that of a setting")
    return f"{EXECUTOR}{name}"


def _read(value: Given) -> Said:
    if isinstance(value, ModelSettings | BaseChatModel):
        return value
    if isinstance(value, str):
        return ModelSettings(model=value) if value else ModelSettings()
    raise ModelConfigError(
        repr(value)[:80], "give a name like openai:gpt-5-mini, ModelSettings, or a LangChain chat model"
    )


class Resolved(TypedDict):
    """What each role has."""

    planner: Said
    executor: Said
    replanner: Said
    judge: Said | None
    executors: dict[str, Said]


def resolved(layers: Sequence[Layer]) -> Resolved:
    """Return what each role has; the strongest layer comes first.

    The planner is the embedded rules by default, executor and replanner are as the planner is, further executors as the
    executor is, and a judge is none.

    Raises:
        ModelConfigError: A place says how to ask a model that no place names.
    """
    said = folded(layers)
    planner = _completed("planner", said, ModelSettings(model=OFFLINE))
    executor = _completed("executor", said, planner)
    named = [key for key in said if key.startswith(EXECUTOR)]
    return {
        "planner": planner,
        "executor": executor,
        "replanner": _completed("replanner", said, planner),
        "judge": _completed("judge", said, ModelSettings()) if "judge" in said else None,
        "executors": {key.removeprefix(EXECUTOR): _completed(key, said, executor) for key in named},
    }


def folded(layers: Sequence[Layer]) -> Layer:
    """Return several layers as one; the strongest comes first.

    Raises:
        ModelConfigError: Settings without a model stand over a chat model that is already made.
    """
    found: dict[str, Said] = {}
    for place in reversed(layers):
        for role, said in place.items():
            found[role] = _over(role, said, found[role]) if role in found else said
    return found


def _completed(role: str, said: Layer, default: Said) -> Said:
    found = _over(role, said[role], default) if role in said else default
    if isinstance(found, ModelSettings) and found.model is None:
        raise ModelConfigError(role, f"its settings name no model; name the {role}'s model")
    return found


def _over(role: str, said: Said, weaker: Said) -> Said:
    if isinstance(said, BaseChatModel):
        return said
    if isinstance(weaker, ModelSettings):
        return said.over(weaker)
    if said.model is None:
        raise ModelConfigError(role, "settings cannot change a chat model that is already made; name a model")
    return said
