"""Keys never stand in words that are kept."""

import pytest
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from planner_executor.graph.chat_models.redaction import secrets_of, without_secrets

KEY = "sk-proj-aBcDeFgH12345678"


@pytest.mark.parametrize(
    "words",
    [
        f"Incorrect API key provided: {KEY}",
        "Incorrect API key provided: sk-pr****5678",
        f"headers: {{'Authorization': 'Bearer {KEY[3:]}'}}",
        "GET https://host/v1?api_key=0123456789abcdef&q=1",
        "cannot reach http://user:hunter2hunter2@host:80/v1",
        "'x-token=0123456789'",
    ],
)
def test_what_looks_like_a_key_is_taken_out(words: str) -> None:
    shown = without_secrets(words)

    assert "[key]" in shown
    assert not any(part in shown for part in ("aBcDeFgH", "5678", "0123456789", "hunter2"))


@pytest.mark.parametrize("words", ["too many requests (429): slow down", "a token is missing", "https://host/v1?q=1"])
def test_other_words_stay_as_they_are(words: str) -> None:
    assert without_secrets(words) == words


def test_a_known_secret_is_taken_out_wherever_it_stands() -> None:
    assert without_secrets("the server said: hunter2hunter2!", {"hunter2hunter2"}) == "the server said: [key]!"


def test_keys_of_the_environment_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_API_KEY", "plainwords12")
    monkeypatch.setenv("ACME_GREETING", "good morning")

    assert without_secrets("echo: plainwords12, good morning") == "echo: [key], good morning"


def test_a_short_value_is_no_key() -> None:
    assert without_secrets("ab is not taken out", {"ab"}) == "ab is not taken out"
    assert without_secrets("1234567 12345678", {"1234567", "12345678"}) == "1234567 [key]"


def test_a_key_that_begins_like_another_leaves_no_rest() -> None:
    assert without_secrets("hunter2hunter2", {"hunter2h", "hunter2hunter2"}) == "[key]"


def test_the_secrets_of_a_chat_model_are_found_in_its_options_too() -> None:
    model = ChatOpenAI(
        model="x",
        api_key=SecretStr(KEY),
        default_headers={"Authorization": "Bearer abcdefghij", "X-Tenant": "tenant-1234"},
        default_query={"sig": "signed-1234\nsecond-1234"},
        extra_body={"user": "plain-user", "api_key": "body-key-1234"},
    )

    found = secrets_of(model)

    assert {KEY, "abcdefghij", "tenant-1234", "signed-1234", "second-1234", "body-key-1234"} <= found
    assert "plain-user" not in found
    assert secrets_of({"headers": [{"X-Tenant": ["tenant-1234"]}], "keys": ["plain"]}) == {"tenant-1234"}
