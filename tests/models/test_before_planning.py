"""Servers that are not there, keys that are refused, unknown models: one sentence before anything is planned."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import PrivateAttr, SecretStr

from planner_executor import Agent, ModelSettings
from planner_executor.graph.chat_models.preflight import check_models
from planner_executor.graph.chat_models.roles import role_model
from planner_executor.graph.errors import ModelConfigError, ModelKeyError, UnknownModelError, UnreachableModelError
from planner_executor.graph.testing import ScriptedModel

NOBODY = "http://127.0.0.1:9/v1"


def check(*given: Any) -> None:
    asyncio.run(check_models([role_model(entry) for entry in given]))


def test_a_server_that_lists_the_model_is_asked_for_nothing_more(aimock: Any) -> None:
    aimock.answers("planner", aimock.says("never asked for"))

    check(aimock.settings())

    assert aimock.requests == []


def test_models_without_a_server_of_that_kind_are_not_asked() -> None:
    check("offline", ScriptedModel([]))


def test_nobody_answers_at_the_address() -> None:
    with pytest.raises(UnreachableModelError, match=r"no server at http://127\.0\.0\.1:9/v1/"):
        check(ModelSettings(model="openai:m", base_url=NOBODY))


class OfAnotherPackage(ScriptedModel):
    """As packages of other providers make them: with a client of their own, which knows the address."""

    _async_client: Any = PrivateAttr()

    def __init__(self, base_url: str) -> None:
        super().__init__([])
        self._async_client = httpx.AsyncClient(base_url=base_url)


@pytest.mark.parametrize("address", [NOBODY, "http://no-such-host.invalid:11434"])
def test_nobody_answers_at_the_address_of_another_providers_model(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)

    with pytest.raises(UnreachableModelError, match="no server at http://"):
        check(OfAnotherPackage(address))


def test_a_model_of_another_provider_is_asked_for_nothing(replies: Any) -> None:
    check(OfAnotherPackage(replies.base_url))

    assert replies.requests == []


def test_a_host_that_has_no_address() -> None:
    with pytest.raises(UnreachableModelError, match=r"no-such-host\.invalid"):
        check(ModelSettings(model="openai:m", base_url="http://no-such-host.invalid/v1"))


def test_the_server_has_no_such_model(aimock: Any) -> None:
    with pytest.raises(UnknownModelError, match="does not have the model"):
        aimock.answers("planner", aimock.says("x"))
        check(aimock.settings(model="openai:other"))


def test_a_server_that_keeps_no_list_is_left_to_the_first_real_call(replies: Any) -> None:
    check(replies.settings())

    assert replies.requests == []


def test_a_model_that_stands_in_is_enough(aimock: Any) -> None:
    aimock.answers("planner", aimock.says("x"))

    check(ModelSettings(model="openai:m", base_url=NOBODY, fallbacks=(aimock.settings(),)))


def test_the_fault_is_that_of_the_first_model() -> None:
    first = ModelSettings(
        model="openai:first", base_url=NOBODY, fallbacks=(ModelSettings(model="openai:second", base_url=NOBODY),)
    )

    with pytest.raises(UnreachableModelError) as caught:
        check(first)

    assert caught.value.model == "first"


@pytest.mark.parametrize("role", ["planner", "executor", "replanner", "judge"])
def test_nothing_is_begun_while_any_role_has_no_model(aimock: Any, tmp_path: Path, role: str) -> None:
    aimock.answers("planner", aimock.says({"steps": [], "answer": "never asked for"}))
    models = {"planner": aimock.settings(), role: ModelSettings(model="openai:m", base_url=NOBODY)}

    with Agent.open(tmp_path / "runs.db", **models) as agent:
        with pytest.raises(ModelConfigError):
            agent.start("g")

        assert not agent.list() and aimock.requests == []


def test_a_plan_that_is_brought_needs_no_planner(tmp_path: Path) -> None:
    plan = {"steps": [{"id": "a", "objective": "o", "tool": "calculator", "args": {"expression": "1 + 1"}}]}

    with Agent.open(tmp_path / "runs.db", planner=ModelSettings(model="openai:m", base_url=NOBODY)) as agent:
        run = agent.resume(agent.start("g", plan=plan).id, "approve")

    assert run.answer == 2


class TestKeys:
    @pytest.mark.parametrize("key", [{"api_key": SecretStr("sk-another-0123456789")}, {"api_key": None}])
    def test_a_key_that_is_not_for_the_server(self, aimock: Any, key: Any) -> None:
        with pytest.raises(ModelKeyError, match="rejects the key"):
            check(aimock.settings(**key))

    def test_a_refused_key_is_told_and_not_shown(self, replies: Any) -> None:
        replies.lists = 401
        replies.reply({"error": {"message": "bad key sk-secret-0123456789abcdef"}}, 401)

        with pytest.raises(ModelKeyError, match="rejects the key") as caught:
            check(replies.settings())

        assert "0123456789" not in str(caught.value)

    def test_a_key_that_is_good_for_answers_only_is_good(self, replies: Any) -> None:
        replies.lists = 403
        replies.say("ok")

        check(replies.settings())
