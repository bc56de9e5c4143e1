"""Creates LangChain chat models from settings; every failure becomes a one-sentence configuration error."""

import os
import warnings
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.rate_limiters import InMemoryRateLimiter
from pydantic import SecretStr, ValidationError

from planner_executor.graph.chat_models.chat import Chat
from planner_executor.graph.chat_models.client import configure_client, retries_itself
from planner_executor.graph.chat_models.redaction import without_secrets
from planner_executor.graph.chat_models.retry import ONCE, RetryPolicy
from planner_executor.graph.chat_models.settings import OFFLINE, ModelSettings, ModelSource
from planner_executor.graph.errors import MissingPackageError, ModelConfigError, ModelKeyError
from planner_executor.graph.words.name_list import did_you_mean, listed
from planner_executor.graph.words.validation_message import fault_message

TIMEOUT_S = 300.0
CLIENT_TIMEOUT_S = 600.0
"""Default timeout of OpenAI's client."""

NO_KEY = SecretStr("none")
"""Key for servers without authentication; OpenAI's client requires one."""


def create_chat(given: ModelSource) -> Chat:
    """Return the chat model with its retry policy and limits.

    Raises:
        ModelConfigError: The model cannot be created; the subclass names the cause.
    """
    if isinstance(given, BaseChatModel):
        return Chat(
            configure_client(given), retry_policy=ONCE if retries_itself(configure_client(given)) else RetryPolicy()
        )
    if given.model == OFFLINE:
        from planner_executor.graph.chat_models.offline import OfflineModel

        return Chat(OfflineModel())
    model = configure_client(_create(given))
    attempts = RetryPolicy() if given.max_attempts is None else RetryPolicy(given.max_attempts)
    rate = given.requests_per_second
    return Chat(
        model,
        timeout_s=given.timeout_s or TIMEOUT_S,
        # Two policies on top of each other would multiply their attempts.
        retry_policy=ONCE if retries_itself(model) else attempts,
        limiter=InMemoryRateLimiter(requests_per_second=rate, max_bucket_size=max(1.0, rate)) if rate else None,
        structured=given.structured_output is not False,
        optional=frozenset() if given.temperature is not None else frozenset({"temperature"}),
    )


def provider_and_name(model: str) -> tuple[str, str]:
    """Split `provider:model` or `provider/model`; the model's name may contain both separators.

    Raises:
        ModelConfigError: A part is missing.

    >>> provider_and_name("ollama/qwen3:8b"), provider_and_name("openai:meta-llama/Llama-3")
    (('ollama', 'qwen3:8b'), ('openai', 'meta-llama/Llama-3'))
    """
    marks = [place for place in (model.find(":"), model.find("/")) if place >= 0]
    place = min(marks, default=len(model))
    provider, name = model[:place].strip().lower().replace("-", "_"), model[place + 1 :].strip()
    if not provider or not name:
        raise ModelConfigError(model, "write it as provider:model, such as openai:gpt-5-mini")
    return provider, name


def _create(settings: ModelSettings) -> BaseChatModel:
    name = settings.model or ""
    provider, _ = provider_and_name(name)
    options = {"temperature": settings.temperature or 0, **settings.options, **_server(settings, provider)}
    # A longer wait is of no use if the client gives up before it; a shorter one is kept around the call.
    if (settings.timeout_s or 0) > CLIENT_TIMEOUT_S:
        options.setdefault("timeout", settings.timeout_s)
    model = _construct(name, options)
    _check_options(name, model, options)
    _check_headers(name, model)
    if settings.base_url is None and (variable := missing_key(model)):
        raise ModelKeyError(name, f"no key; set {variable}, or omit the model to stay offline")
    if settings.base_url and "api_key" not in options and (variable := _key_of_environment(model)):
        fault = f"its package would send {variable} to {settings.base_url}"
        raise ModelKeyError(name, f"{fault}; if the key is for that server, set api_key_env")
    if retries_itself(configure_client(model)) and "max_retries" not in settings.options:
        # A client that retries as well would multiply the attempts, and none of its own is on record.
        model = _construct(name, {**options, "max_retries": 0})
    return model


def _server(settings: ModelSettings, provider: str) -> dict[str, Any]:
    """Return address and key; a key from the environment is only for the provider's own server."""
    address: dict[str, Any] = {"base_url": settings.base_url} if settings.base_url else {}
    key = settings.api_key
    # Named by the operator, so a name without a value is a mistake and not the wish for no key.
    if key is None and settings.api_key_env:
        if not (value := os.environ.get(settings.api_key_env)):
            raise ModelKeyError(settings.model or "", f"no key: {settings.api_key_env} is not set")
        key = SecretStr(value)
    # OpenAI's client wants a key where servers of one's own have none; the user's must not go to a stranger's server.
    if key is None and settings.base_url and provider == "openai":
        key = NO_KEY
    return {**address, "api_key": key} if key else address


def _construct(name: str, options: dict[str, Any]) -> BaseChatModel:
    from langchain.chat_models import init_chat_model

    provider, model = provider_and_name(name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # unknown options are refused below, by name
            made: BaseChatModel = init_chat_model(model, model_provider=provider, **options)
    except ImportError as error:
        raise MissingPackageError(name, _package(error)) from error
    except ValidationError as error:
        raise ModelConfigError(name, _faults(error)) from None
    except Exception as error:  # noqa: BLE001  (a provider's package may raise anything)
        raise _refused(name, provider, error) from None
    return made


def missing_key(model: BaseChatModel) -> str | None:
    """Return the variable of a missing key that the model's package does not report as an error.

    Models that support other credentials need no key.
    """
    secrets = {field: variable for field, variable in model.lc_secrets.items() if field.endswith("api_key")}
    if len(secrets) != 1 or any("credentials" in field for field in type(model).model_fields):
        return None
    ((field, variable),) = secrets.items()
    key = getattr(model, field, None)
    return None if (key.get_secret_value() if isinstance(key, SecretStr) else key) else variable


def _key_of_environment(model: BaseChatModel) -> str | None:
    """Return the environment variable from which the model took its key implicitly."""
    keys = [value.get_secret_value() for _, value in model if isinstance(value, SecretStr)]
    return next((name for name, value in os.environ.items() if value and value in keys), None)


def _package(error: ImportError) -> str:
    """Return the install command in the error.

    >>> _package(ImportError("ChatX requires the package. Please install it with `pip install langchain-x`"))
    'its provider is not installed; pip install langchain-x'
    """
    command = str(error).rpartition("pip install ")[2].split("`")[0].split()
    return f"its provider is not installed; pip install {command[0]}" if command else str(error).splitlines()[0]


def _refused(name: str, provider: str, error: Exception) -> ModelConfigError:
    words = without_secrets((str(error).strip() or type(error).__name__).splitlines()[0])
    if words.startswith("Unsupported provider"):
        known = str(error).rpartition("are: ")[2].split(", ")
        hint = did_you_mean(provider, known) or f"use one of {listed(known)}"
        return ModelConfigError(name, f"no provider {provider!r}; {hint}")
    if any(mark in words.lower() for mark in ("api_key", "credential", "api key", "access token")):
        return ModelKeyError(name, f"no key; set {provider.upper()}_API_KEY, or omit the model to stay offline")
    return ModelConfigError(name, words)


def _check_options(name: str, model: BaseChatModel, options: dict[str, Any]) -> None:
    """Refuse options without a field in the chat model; depending on the package, they would be dropped or sent."""
    fields = type(model).model_fields
    known = {*fields, *(field.alias for field in fields.values() if field.alias)}
    for option in options:
        if option not in known:
            hint = did_you_mean(option, known) or "put further parameters of the server into extra_body"
            raise ModelConfigError(name, f"{type(model).__name__} has no option {option!r}; {hint}")


def _check_headers(name: str, model: BaseChatModel) -> None:
    """Refuse keys and headers that cannot be sent, such as a key with a trailing line break."""
    keys = [value.get_secret_value() for _, value in model if isinstance(value, SecretStr)]
    if not all(map(_is_sendable, keys)):
        raise ModelKeyError(name, "the key contains a line break or a non-ASCII character; remove it")
    headers: Any = getattr(model, "default_headers", None) or {}
    if faulty := [header for header, value in headers.items() if not _is_sendable(str(value))]:
        raise ModelConfigError(name, f"header {faulty[0]} contains a line break or a non-ASCII character; remove it")


def _is_sendable(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _faults(error: ValidationError) -> str:
    """Return the faults by option; a model as a whole has no option to name."""
    faults = [(".".join(map(str, part["loc"])), fault_message(part)) for part in error.errors()]
    return "; ".join(f"option {option}: {message}" if option else message for option, message in faults)
