"""Which chat model plays which role."""

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable

from graph.errors import ModelConfigError

OFFLINE = "offline"
Model = str | BaseChatModel | None


def chat_model(model: Model) -> BaseChatModel:
    """Return the chat model that `provider:model` or `provider/model` names; none named means the embedded rules.

    Raises:
        ModelConfigError: Unknown provider, a package that is not installed, a missing key.
    """
    if isinstance(model, BaseChatModel):
        return model
    if model is None or model == OFFLINE:
        from graph.chat_models.offline import OfflineModel

        return OfflineModel()
    if not isinstance(model, str):
        raise ModelConfigError(repr(model)[:80], "give a name like openai:gpt-5-mini, or a LangChain chat model")
    return _named(model)


def _named(name: str) -> BaseChatModel:
    from langchain.chat_models import init_chat_model

    provider, colon, rest = name.partition(":")
    if not colon:
        provider, colon, rest = name.partition("/")
    if not colon or not provider.strip() or not rest.strip():
        raise ModelConfigError(name, "write it as provider:model, such as openai:gpt-5-mini")
    try:
        made: BaseChatModel = init_chat_model(rest.strip(), model_provider=provider.strip().lower(), temperature=0)
    except ImportError as error:
        raise ModelConfigError(name, f"{error}".splitlines()[0]) from error
    except Exception as error:
        raise ModelConfigError(name, _why(provider.strip().lower(), error)) from error
    return made


def _why(provider: str, error: Exception) -> str:
    words = (str(error).strip() or type(error).__name__).splitlines()[0]
    if "api_key" in words or "API_KEY" in words or "credentials" in words.lower():
        return f"no key; set {provider.upper()}_API_KEY in the environment, or leave the model out to stay offline"
    return words


def with_tools(model: BaseChatModel, tools: list[Any]) -> Runnable[Any, Any]:
    """Return the model with tools bound; one that cannot bind tools is told of them in words only."""
    if not tools:
        return model
    try:
        return model.bind_tools(tools)
    except NotImplementedError:
        return model
