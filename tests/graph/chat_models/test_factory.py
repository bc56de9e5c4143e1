"""Chat models made from settings, and what stands in the way, as one sentence; no server is asked here."""

import os
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from langchain.chat_models import base as chat_models
from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI
from pydantic import Field, SecretStr

from planner_executor.graph.chat_models.factory import create_chat, missing_key
from planner_executor.graph.chat_models.offline import OfflineModel
from planner_executor.graph.chat_models.retry import ONCE, RetryPolicy
from planner_executor.graph.chat_models.roles import role_model, role_models
from planner_executor.graph.chat_models.settings import ModelSettings
from planner_executor.graph.errors import MissingPackageError, ModelConfigError, ModelKeyError
from planner_executor.graph.testing import ScriptedModel

LOCAL = "http://127.0.0.1:9/v1"


def made(**settings: Any) -> Any:
    return create_chat(ModelSettings(**{"model": "openai:some-model", "base_url": LOCAL, **settings})).model


def key_of(model: Any) -> str:
    return str(model.openai_api_key.get_secret_value())


def test_settings_reach_the_chat_model() -> None:
    model = made(temperature=0.5, options={"seed": 7, "extra_body": {"top_k": 3}})

    assert (model.model_name, model.temperature, model.seed) == ("some-model", 0.5, 7)
    assert (model.openai_api_base, model.extra_body) == (LOCAL, {"top_k": 3})


def test_the_defaults_are_temperature_0_one_layer_of_retries_and_tokens_counted_while_streaming() -> None:
    chat = create_chat(ModelSettings(model="openai:some-model", base_url=LOCAL))
    model: Any = chat.model

    assert (model.temperature, model.root_async_client.max_retries, model.stream_usage) == (0, 0, True)
    assert (chat.retry_policy, chat.timeout_s, chat.provider) == (RetryPolicy(), 300, "openai")


def test_a_users_own_chat_model_is_asked_in_the_same_way_and_left_unchanged() -> None:
    own = ChatOpenAI(model="x", base_url=LOCAL, api_key=SecretStr("k"), temperature=0.7)

    chat = create_chat(own)
    model: Any = chat.model

    assert (model.root_async_client.max_retries, model.stream_usage, model.temperature) == (0, True, 0.7)
    assert (own.root_async_client.max_retries, own.stream_usage) == (2, None)
    assert chat.timeout_s is None


def test_a_model_that_retries_by_itself_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class Retrying(type(role_model("offline").chats[0].model)):  # type: ignore[misc]
        max_retries: int = 6

    assert create_chat(Retrying()).retry_policy == ONCE
    assert create_chat(Retrying(max_retries=0)).retry_policy == RetryPolicy()


@pytest.mark.parametrize("key", ["key-of-a-file\n", "schl\u00fcssel", "two\nlines"])
def test_a_key_or_header_that_cannot_be_sent_is_told_and_not_shown(key: str) -> None:
    with pytest.raises(ModelKeyError) as refused:
        made(api_key=SecretStr(key))
    with pytest.raises(ModelConfigError, match="X-Key") as refused_too:
        made(options={"default_headers": {"X-Key": key}})

    assert not [word for word in key.split() if word in f"{refused.value} {refused_too.value}"]


@pytest.mark.parametrize(
    ("secrets", "key", "variable"),
    [
        ({"api_key": "ACME_API_KEY", "mcp_servers": "ACME_MCP_SERVERS"}, SecretStr(""), "ACME_API_KEY"),
        ({"api_key": "ACME_API_KEY"}, None, "ACME_API_KEY"),
        ({"api_key": "ACME_API_KEY"}, SecretStr("key"), None),
        ({}, None, None),
    ],
)
def test_a_key_whose_absence_the_package_does_not_mind_is_missed(secrets: Any, key: Any, variable: str | None) -> None:
    class Acme(OfflineModel):
        api_key: SecretStr | None = None

        @property
        def lc_secrets(self) -> dict[str, str]:
            return dict(secrets)

    class WithCredentials(Acme):
        credentials: str | None = None

    assert missing_key(Acme(api_key=key)) == variable
    assert missing_key(WithCredentials(api_key=key)) is None


def test_the_key_of_the_environment_is_not_sent_to_another_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    monkeypatch.setenv("LOCAL_KEY", "sk-of-local")

    keys = [key_of(made()), key_of(made(api_key_env="LOCAL_KEY")), key_of(made(api_key="given"))]

    assert keys == ["none", "sk-of-local", "given"]
    assert key_of(made(base_url=None)) == "sk-of-openai"


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"model": "anthropic:claude"}, MissingPackageError, "pip install langchain-anthropic"),
        ({"base_url": None}, ModelKeyError, "set OPENAI_API_KEY"),
        ({"api_key_env": "NO_SUCH_KEY"}, ModelKeyError, "NO_SUCH_KEY is not set"),
        ({"model": "opnai:gpt"}, ModelConfigError, "did you mean openai?"),
        ({"model": "gpt-5"}, ModelConfigError, "write it as provider:model"),
        ({"model": ":gpt-5"}, ModelConfigError, "write it as provider:model"),
        ({"options": {"temprature": 1}}, ModelConfigError, "did you mean temperature?"),
        ({"options": {"zzz": 1}}, ModelConfigError, "extra_body"),
        ({"options": {"max_tokens": "many"}}, ModelConfigError, "option max_tokens"),
    ],
)
def test_what_stands_in_the_way_is_one_sentence(settings: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as caught:
        made(**settings)

    assert words in str(caught.value) and "\n" not in str(caught.value)
    assert type(caught.value) is error


@pytest.mark.parametrize("name", ["openai:a/b:c", "openai/a/b:c", " OpenAI : a/b:c "])
def test_a_models_name_may_hold_the_marks_that_part_it_from_its_provider(name: str) -> None:
    assert made(model=name).model_name == "a/b:c"


def test_roles_that_are_asked_in_the_same_way_share_a_model() -> None:
    models = role_models(
        {
            "planner": ModelSettings(model="openai:a", base_url=LOCAL),
            "executor": ModelSettings(model="openai:b", base_url=LOCAL),
        }
    )

    assert models.replanner is models.planner
    assert {role: model.name for role, model in models.by_role.items()} == {
        "planner": "a",
        "executor": "b",
        "replanner": "a",
    }


def test_fallbacks_stand_behind_the_model_in_order() -> None:
    settings = {"model": "openai:a", "base_url": LOCAL, "fallbacks": ["offline"]}

    assert [chat.name for chat in role_model(ModelSettings.model_validate(settings)).chats] == ["a", "offline"]


def test_a_rate_limit_is_a_limiter() -> None:
    assert create_chat(ModelSettings(model="openai:a", base_url=LOCAL, requests_per_second=5)).limiter is not None


def test_nothing_that_is_made_shows_a_key() -> None:
    settings = ModelSettings(
        model="openai:a",
        base_url=LOCAL,
        api_key=SecretStr("sk-0123456789"),
        options={"default_headers": {"X-Key": "k-0123456789"}},
    )

    assert "0123456789" not in repr(role_models({"planner": settings}))


class ProvidersModel(ScriptedModel):
    """A provider's chat model, which takes its key from the environment whatever address it is given."""

    model_name: str
    temperature: float
    base_url: str | None = None
    api_key: SecretStr = Field(default_factory=lambda: SecretStr(os.environ.get("PROVIDERS_KEY", "")))

    def __init__(self, **given: Any) -> None:
        BaseChatModel.__init__(self, **{"model_name": given.pop("model"), **given})


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a package of the provider, and its key."""
    package = ModuleType("langchain_anthropic")
    package.ChatAnthropic = ProvidersModel  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "langchain_anthropic", package)
    monkeypatch.setenv("PROVIDERS_KEY", "sk-of-the-provider")
    yield
    chat_models._get_chat_model_creator.cache_clear()  # LangChain keeps the class of a package for the whole process


@pytest.mark.usefixtures("provider")
def test_no_providers_package_sends_a_key_of_the_environment_to_another_address() -> None:
    with pytest.raises(ModelKeyError, match=rf"would send PROVIDERS_KEY to {LOCAL}; .* set api_key_env"):
        made(model="anthropic:m")

    said, own = made(model="anthropic:m", api_key_env="PROVIDERS_KEY"), made(model="anthropic:m", base_url=None)
    assert {model.api_key.get_secret_value() for model in (said, own)} == {"sk-of-the-provider"}


class TestClients:
    """A client of a graph server names models, and leads nowhere."""

    models = role_models(
        {"planner": ModelSettings(model="openai:a", base_url=LOCAL, api_key=SecretStr("sk-0123456789"))}
    )

    def test_a_client_may_choose_a_server_that_is_configured_and_its_key_comes_with_it(self) -> None:
        from planner_executor.graph.chat_models.settings import ClientSettings

        said = self.models.for_client("planner", "openai:b", ClientSettings(base_url=LOCAL, temperature=0.5))

        assert said == ModelSettings(
            model="openai:b", base_url=LOCAL, temperature=0.5, api_key=SecretStr("sk-0123456789")
        )

    def test_a_client_cannot_have_requests_sent_elsewhere(self) -> None:
        from planner_executor.graph.chat_models.settings import ClientSettings

        with pytest.raises(ModelConfigError, match="do not name the server"):
            self.models.for_client("planner", "openai:b", ClientSettings(base_url="http://169.254.169.254/v1"))
