"""Requests over real HTTP: what a server sends, and what is made of it; nobody waits between attempts."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from planner_executor.graph.chat_models.answer import ModelAnswer, flaw_of
from planner_executor.graph.chat_models.chat import ModelRequest
from planner_executor.graph.chat_models.roles import role_model
from planner_executor.graph.errors import ModelCallError
from planner_executor.graph.prompts.planner import PLANNER
from planner_executor.graph.testing import PassingClock

QUESTION = [SystemMessage(PLANNER), HumanMessage("hi")]
SCHEMA = {
    "title": "word",
    "description": "A word.",
    "type": "object",
    "properties": {"word": {"type": "string"}},
    "required": ["word"],
}


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


def ask(given: Any, clock: PassingClock | None = None, **request: Any) -> ModelAnswer:
    model = replace(role_model(given), clock=(clock or PassingClock()).clock)
    return asyncio.run(model.ask(ModelRequest(QUESTION, **request)))


STREAMING = {"streaming": True}


@pytest.mark.parametrize("options", [{}, STREAMING], ids=["whole", "streamed"])
class TestAnswers:
    def test_text_comes_with_its_tokens(self, aimock: Any, options: Any) -> None:
        aimock.answers("planner", aimock.says("hello there, friend " * 5))

        answer = ask(aimock.settings(options=options))

        assert (answer.message.text, answer.attempts) == ("hello there, friend " * 5, ())
        assert answer.usage == {"input_tokens": 11, "output_tokens": 5, "total_tokens": 16}

    def test_a_call_of_a_tool_is_asked_for(self, aimock: Any, options: Any) -> None:
        aimock.answers("planner", aimock.calls("add", a=1, b=2))

        answer = ask(aimock.settings(options=options), tools=[add])

        assert [(call["name"], call["args"]) for call in answer.message.tool_calls] == [("add", {"a": 1, "b": 2})]

    def test_an_answer_keeps_to_a_schema(self, aimock: Any, options: Any) -> None:
        aimock.answers("planner", aimock.says({"word": "ok"}))

        answer = ask(aimock.settings(options=options), schema=SCHEMA)

        (request,) = aimock.requests
        assert request["response_format"]["json_schema"]["schema"]["properties"] == SCHEMA["properties"]
        assert (answer.message.text, answer.usage["total_tokens"]) == ('{"word":"ok"}', 16)

    def test_an_answer_that_hits_the_token_limit_is_known_by_it(self, aimock: Any, options: Any) -> None:
        aimock.answers(
            "planner",
            {
                "response": {
                    "content": '{"word": "o',
                    "finishReason": "length",
                    "usage": aimock.says("")["response"]["usage"],
                }
            },
        )

        answer = ask(aimock.settings(options=options), schema=SCHEMA)

        assert (flaw_of(answer.message), answer.message.text) == ("truncated", '{"word": "o')


@pytest.mark.parametrize(
    ("failure", "kind", "waits"),
    [
        ({"response": {"error": {"message": "slow down"}, "status": 429, "retryAfter": 7}}, "rate_limit", [7.0]),
        ({"response": {"error": {"message": "oh"}, "status": 500}}, "server", [1.0]),
        ({"response": {"error": {"message": "oh"}, "status": 503}}, "server", [1.0]),
        ({"response": {"content": "x"}, "chaos": {"malformedRate": 1}}, "broken_answer", [1.0]),
        ({"response": {"content": "x"}, "chaos": {"disconnectRate": 1}}, "connection", [1.0]),
    ],
    ids=["429", "500", "503", "broken JSON", "disconnected"],
)
def test_what_may_pass_is_tried_again(aimock: Any, failure: Any, kind: str, waits: list[float]) -> None:
    aimock.answers("planner", failure, aimock.says("hello"))
    clock = PassingClock()

    answer = ask(aimock.settings(), clock)

    assert (answer.message.text, clock.waits) == ("hello", waits)
    assert [attempt.kind for attempt in answer.attempts] == [kind]


@pytest.mark.parametrize(
    "cut", [{"truncateAfterChunks": 3}, {"latency": 20, "disconnectAfterMs": 100}], ids=["by chunks", "by time"]
)
def test_a_stream_that_breaks_off_is_tried_again(aimock: Any, cut: Any) -> None:
    aimock.answers("planner", aimock.says("hello there, friend " * 40, **cut), aimock.says("hello"))

    answer = ask(aimock.settings(options=STREAMING))

    assert (answer.message.text, [attempt.kind for attempt in answer.attempts]) == ("hello", ["connection"])


def test_a_server_that_takes_too_long_is_tried_again(aimock: Any) -> None:
    late = aimock.says("late", streamingProfile={"ttft": 60_000, "tps": 1})
    aimock.answers("planner", late, aimock.says("hello"))

    answer = ask(aimock.settings(timeout_s=0.5, options=STREAMING))

    assert [(attempt.kind, attempt.error) for attempt in answer.attempts] == [
        ("timeout", "no answer in time: the limit is 0.5 s")
    ]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_will_not_pass_is_asked_once(aimock: Any, status: int) -> None:
    aimock.answers("planner", aimock.fails(status), aimock.says("never asked for"))

    with pytest.raises(ModelCallError, match=str(status)):
        ask(aimock.settings())

    assert len(aimock.requests) == 1


def test_there_is_one_layer_of_retries_and_it_ends(aimock: Any) -> None:
    aimock.answers("planner", *[aimock.fails(500)] * 20)
    own = ChatOpenAI(model="scripted-model", base_url=aimock.base_url, api_key=SecretStr(aimock.key), max_retries=5)

    for given in (aimock.settings(), own):
        with pytest.raises(ModelCallError, match="failed 4 times"):
            ask(given)

    assert len(aimock.requests) == 8


def test_another_model_stands_in(aimock: Any, replies: Any) -> None:
    aimock.answers("planner", *[aimock.fails(500)] * 4)
    replies.say("hello")

    answer = ask(aimock.settings(fallbacks=(replies.settings(),)))

    assert (answer.message.text, [attempt.kind for attempt in answer.attempts]) == ("hello", ["server"] * 4)


def test_an_http_date_says_how_long_to_wait(replies: Any) -> None:
    later = format_datetime(datetime.fromtimestamp(1_000_030, UTC), usegmt=True)
    replies.reply({"error": {"message": "slow down"}}, 429, retry_after=later)
    replies.say("hello")
    clock = PassingClock(now=1_000_000)

    ask(replies.settings(), clock)

    assert clock.waits == [30.0]


@pytest.mark.parametrize("body", [b"", b'{"id": "c", "choices": [', b"null and void"])
def test_a_body_that_is_no_json_is_tried_again(replies: Any, body: bytes) -> None:
    replies.reply(body)
    replies.say("hello")

    assert [attempt.kind for attempt in ask(replies.settings()).attempts] == ["broken_answer"]


ERROR = {"error": {"message": "upstream overloaded", "code": 502}}
NO_CHOICES = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": None}


@pytest.mark.parametrize("schema", [None, SCHEMA], ids=["text", "schema"])
@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        (ERROR, "server", "the server failed (502): upstream overloaded"),
        ({"error": {"message": "overloaded"}}, "server", "the server failed: overloaded"),
        (b"<html>please log in</html>", "broken_answer", "please log in"),
        ({}, "broken_answer", "the server's response is not a chat completion"),
        (NO_CHOICES, "broken_answer", "the server's response is not a chat completion"),
        ({**NO_CHOICES, "choices": []}, "broken_answer", "it sent nothing"),
    ],
    ids=["an error", "an error without code", "a page", "nothing", "no choices", "an empty list"],
)
def test_success_that_brings_no_answer_is_told_and_tried_again(
    replies: Any, schema: Any, body: Any, kind: str, words: str
) -> None:
    replies.reply(body, kind="text/html" if isinstance(body, bytes) else "application/json")
    replies.say({"word": "ok"})

    (attempt,) = ask(replies.settings(), schema=schema).attempts

    assert attempt.kind == kind and words in attempt.error


@pytest.mark.parametrize("schema", [None, SCHEMA], ids=["text", "schema"])
def test_a_stream_in_which_an_error_comes_is_tried_again(replies: Any, schema: Any) -> None:
    replies.reply(f"data: {json.dumps(ERROR)}\n\n".encode(), kind="text/event-stream")
    replies.reply(b"<html>please log in</html>", kind="text/html")
    replies.stream('{"word": "ok"}', role="assistant")

    answer = ask(replies.settings(options=STREAMING), schema=schema)

    assert [attempt.kind for attempt in answer.attempts] == ["server", "broken_answer"]


def test_a_stream_that_ends_without_its_end_is_no_answer(replies: Any) -> None:
    replies.stream("half an", finish=None)
    replies.stream("hello")

    answer = ask(replies.settings(options=STREAMING))

    assert [attempt.error for attempt in answer.attempts] == [
        "the server cannot be reached: the stream ended before the answer did"
    ]


def test_a_refusal_is_known_and_its_words_are_kept(replies: Any) -> None:
    replies.say("", refusal="I will not help with that")

    answer = ask(replies.settings())

    assert (flaw_of(answer.message), answer.message.text) == ("refused", "I will not help with that")


@pytest.mark.parametrize(
    ("words", "absent"),
    [
        ("Unsupported value: 'temperature' does not support 0 with this model", "temperature"),
        ("Unknown parameter: 'stream_options'", "stream_options"),
        ("'response_format.type' must be 'text'", "response_format"),
        ("Extra inputs are not permitted", "response_format"),
    ],
)
def test_what_a_server_does_not_take_is_left_out_and_not_sent_again(replies: Any, words: str, absent: str) -> None:
    streaming = absent == "stream_options"
    replies.reply({"error": {"message": words}}, 400)
    for _ in range(2):
        (replies.stream if streaming else replies.say)("ok")
    model = role_model(replies.settings(options={"streaming": True} if streaming else {}))
    request = ModelRequest(QUESTION, schema=None if streaming else SCHEMA)

    first = asyncio.run(model.ask(request))
    second = asyncio.run(model.ask(request))

    sent = [absent in body for _, _, body in replies.requests]
    assert sent == [True, False, False]
    assert [len(answer.attempts) for answer in (first, second)] == [1, 0]


def test_a_temperature_that_was_asked_for_is_never_left_out(replies: Any) -> None:
    replies.reply({"error": {"message": "'temperature' does not support 0"}}, 400)

    with pytest.raises(ModelCallError, match="temperature"):
        ask(replies.settings(temperature=0))


async def test_cancelling_closes_the_connection(replies: Any) -> None:
    replies.hangs = True

    with pytest.raises(asyncio.CancelledError):
        task = asyncio.create_task(role_model(replies.settings()).ask(ModelRequest(QUESTION)))
        while not replies.requests:
            await asyncio.sleep(0.01)
        task.cancel()
        await task

    assert replies.closed.wait(5)


def test_a_model_answers_in_one_event_loop_after_another(aimock: Any) -> None:
    aimock.answers("planner", *[aimock.says("hello")] * 4)
    model = role_model(aimock.settings())

    answers = [asyncio.run(model.ask(ModelRequest(QUESTION))) for _ in range(4)]

    assert [answer.attempts for answer in answers] == [()] * 4
