"""Model settings of the roles: layers from several sources, and how they are merged."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, get_args

from langchain_core.language_models import BaseChatModel
from pydantic import Field, JsonValue, SecretStr, field_validator, model_validator

from planner_executor.graph.errors import ModelConfigError
from planner_executor.graph.plain_text.sanitize import text_fault
from planner_executor.graph.words.name_list import listed
from planner_executor.graph.words.tables import ClosedTable
from planner_executor.graph.words.validation_message import fault_message

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
"""Options without secrets or addresses: they are recorded with a run, and clients may set them."""


class ModelSettings(ClosedTable, hide_input_in_errors=True):
    """Settings of a role's model; missing ones come from weaker layers or defaults.

    `model` is `provider:model`. `timeout_s` bounds one request, in seconds; `max_attempts` the requests per answer.
    `api_key_env` names the environment variable of the key. `fallbacks` are tried in order if the model fails.
    With `structured_output` false, JSON is taken from the model's text only. `options` are passed to the chat model.
    """

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
    def _read_name(cls, given: Any) -> Any:
        return {"model": given} if isinstance(given, str) else given

    @field_validator("fallbacks")
    @classmethod
    def _check_fallbacks(cls, given: "tuple[ModelSettings, ...]") -> "tuple[ModelSettings, ...]":
        if any(entry.model is None or entry.fallbacks for entry in given):
            raise ValueError("a fallback must name a model and have no fallbacks of its own")
        return given

    @field_validator("base_url")
    @classmethod
    def _check_base_url(cls, given: str | None) -> str | None:
        if given and "@" in given.split("/")[2]:
            raise ValueError("base_url must not contain credentials; give the key by api_key_env")
        if given and ("?" in given or "#" in given):
            raise ValueError("base_url must not contain a query; give it by options.default_query")
        return given

    @property
    def explicit(self) -> dict[str, Any]:
        """The settings that are set, by name."""
        return {name: value for name, value in self if value not in (None, (), {})}

    def over(self, weaker: "ModelSettings") -> "ModelSettings":
        """Return these settings, completed by those of a weaker layer.

        If the model differs, nothing is taken over. If only the server differs, only the model's name is, since a key
        belongs to one server.
        """
        settings, before = self.explicit, weaker.explicit
        if "model" in settings and settings["model"] != before.get("model"):
            return self
        if "base_url" in settings and settings["base_url"] != before.get("base_url"):
            before = {"model": before.get("model")}
        options = {**before.get("options", {}), **settings.get("options", {})}
        return ModelSettings(**{**before, **settings, "options": options})

    def without_secrets(self) -> dict[str, Any]:
        """Return the settings to record: no key, and only options that cannot contain one."""
        plain = self.model_dump(mode="json", exclude_defaults=True, exclude={"api_key", "options", "fallbacks"})
        options = {name: value for name, value in self.options.items() if name in SAMPLING}
        fallbacks = [fallback.without_secrets() for fallback in self.fallbacks]
        return {**plain, **({"options": options} if options else {}), **({"fallbacks": fallbacks} if fallbacks else {})}


NAMES = tuple(ModelSettings.model_fields)


def setting_fault(part: Mapping[str, Any]) -> str:
    """Return what is wrong with a setting, from pydantic's error on it, without its value, which may be a key.

    >>> setting_fault({"type": "greater_than", "msg": "Input should be greater than 0"})
    'must be greater than 0'
    """
    if part["type"] == "extra_forbidden":
        return f"unknown setting; use {listed(NAMES, 20)}"
    return fault_message(part)


class ClientSettings(ClosedTable):
    """Model settings that a client of a graph server may set: no new addresses, no keys."""

    temperature: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    timeout_s: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    base_url: str | None = None
    options: dict[str, JsonValue] = Field(default_factory=dict)

    @field_validator("options")
    @classmethod
    def _check_options(cls, given: dict[str, JsonValue]) -> dict[str, JsonValue]:
        if other := [name for name in given if name not in SAMPLING]:
            raise ValueError(f"a client cannot set {listed(other)}; it can set {listed(SAMPLING, 20)}")
        return given


ModelSource = ModelSettings | BaseChatModel
ModelSpec = str | ModelSource
Layer = Mapping[str, ModelSource]
"""Settings of one source, by role or by `executor.<name>` for a named executor."""


def layer(given: Mapping[Role, ModelSpec | None], executors: Mapping[str, ModelSpec] | None = None) -> Layer:
    """Return the given models of roles and named executors as a layer; None means not given.

    Raises:
        ModelConfigError: A value is not a name, settings or a chat model, or an executor's name is invalid.
    """
    settings: dict[str, ModelSpec | None] = {str(role): value for role, value in given.items()}
    settings |= {executor_key(name): value for name, value in (executors or {}).items()}
    return {role: _read(value) for role, value in settings.items() if value is not None}


def executor_key(name: str) -> str:
    """Return the key of a named executor in a layer.

    Raises:
        ModelConfigError: The name is invalid.
    """
    if not EXECUTOR_NAME.fullmatch(name) or name in ModelSettings.model_fields:
        raise ModelConfigError(
            name, "an executor's name must consist of letters, digits, _ and -, and must not be a setting"
        )
    return f"{EXECUTOR}{name}"


def _read(value: ModelSpec) -> ModelSource:
    if isinstance(value, ModelSettings | BaseChatModel):
        return value
    if isinstance(value, str):
        if fault := text_fault(value):
            raise ModelConfigError(value[:80], fault)
        return ModelSettings(model=value) if value else ModelSettings()
    raise ModelConfigError(
        repr(value)[:80], "give a name like openai:gpt-5-mini, ModelSettings, or a LangChain chat model"
    )


class Resolved(TypedDict):
    """Model of each role."""

    planner: ModelSource
    executor: ModelSource
    replanner: ModelSource
    judge: ModelSource | None
    executors: dict[str, ModelSource]


def resolved(layers: Sequence[Layer]) -> Resolved:
    """Return the model of each role; the strongest layer comes first.

    Defaults: the planner is the embedded rules, executor and replanner are the planner's model, named executors the
    executor's, and there is no judge.

    Raises:
        ModelConfigError: A role has settings but no layer names its model.
    """
    settings = merged_layers(layers)
    planner = _completed("planner", settings, ModelSettings(model=OFFLINE))
    executor = _completed("executor", settings, planner)
    named = [key for key in settings if key.startswith(EXECUTOR)]
    return {
        "planner": planner,
        "executor": executor,
        "replanner": _completed("replanner", settings, planner),
        "judge": _completed("judge", settings, ModelSettings()) if "judge" in settings else None,
        "executors": {key.removeprefix(EXECUTOR): _completed(key, settings, executor) for key in named},
    }


def merged_layers(layers: Sequence[Layer]) -> Layer:
    """Merge layers; the strongest comes first.

    Raises:
        ModelConfigError: Settings without a model are layered over a chat model object.
    """
    found: dict[str, ModelSource] = {}
    for place in reversed(layers):
        for role, settings in place.items():
            found[role] = _over(role, settings, found[role]) if role in found else settings
    return found


def _completed(role: str, settings: Layer, default: ModelSource) -> ModelSource:
    found = _over(role, settings[role], default) if role in settings else default
    if isinstance(found, ModelSettings) and found.model is None:
        raise ModelConfigError(role, f"its settings lack a model; name the {role}'s model")
    return found


def _over(role: str, settings: ModelSource, weaker: ModelSource) -> ModelSource:
    if isinstance(settings, BaseChatModel):
        return settings
    if isinstance(weaker, ModelSettings):
        return settings.over(weaker)
    if settings.model is None:
        raise ModelConfigError(role, "settings cannot change a chat model object; name a model")
    return settings
