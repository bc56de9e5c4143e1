"""Requests to models: repeated where that helps, bounded, with stand-ins; nobody waits in these tests."""

import asyncio
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.rate_limiters import BaseRateLimiter
from langchain_core.runnables import RunnableLambda

from planner_executor.graph.chat_models.answer import ModelAnswer
from planner_executor.graph.chat_models.chat import Chat, ModelRequest
from planner_executor.graph.chat_models.retry import ONCE, RetryPolicy
from planner_executor.graph.chat_models.role_model import RoleModel
from planner_executor.graph.errors import ModelCallError
from planner_executor.graph.testing import PassingClock, ScriptedModel

QUESTION = ModelRequest([HumanMessage("x")])


class TooMany(Exception):
    """A 429 that asks to wait."""

    status_code = 429

    def __init__(self, seconds: str) -> None:
        super().__init__("slow down")
        self.response = type("Response", (), {"headers": {"retry-after": seconds}, "status_code": 429})()


def ask(*chats: Chat, clock: PassingClock | None = None) -> ModelAnswer:
    return asyncio.run(RoleModel(chats, (clock or PassingClock()).clock).ask(QUESTION))


def test_a_failure_that_may_pass_is_tried_again_after_longer_and_longer_waits() -> None:
    clock = PassingClock()
    model = ScriptedModel([ConnectionError("gone"), ConnectionError("gone"), "here"])

    answer = ask(Chat(model), clock=clock)

    assert answer.message.text == "here"
    assert clock.waits == [1.0, 2.0]
    assert [(attempt.model, attempt.kind, attempt.wait_s) for attempt in answer.attempts] == [
        ("scripted", "connection", 1.0),
        ("scripted", "connection", 2.0),
    ]


def test_the_wait_that_a_server_asks_for_is_kept() -> None:
    clock = PassingClock()

    ask(Chat(ScriptedModel([TooMany("7"), "here"])), clock=clock)

    assert clock.waits == [7.0]


def test_a_server_that_asks_for_too_long_a_wait_is_given_up() -> None:
    clock = PassingClock()

    with pytest.raises(ModelCallError, match="too many requests"):
        ask(Chat(ScriptedModel([TooMany("3600"), "too late"])), clock=clock)

    assert clock.waits == []


def test_attempts_are_bounded() -> None:
    model = ScriptedModel([ConnectionError("gone")] * 9)

    with pytest.raises(ModelCallError) as caught:
        ask(Chat(model, retry_policy=RetryPolicy(attempts=3)))

    assert len(model.prompts) == 3
    assert [attempt["kind"] for attempt in caught.value.attempts] == ["connection"] * 3
    assert str(caught.value) == "scripted failed 3 times: the server cannot be reached: gone"


def test_a_failure_that_stays_is_not_tried_again() -> None:
    model = ScriptedModel([ValueError("odd"), "never asked for"])

    with pytest.raises(ModelCallError):
        ask(Chat(model))

    assert len(model.prompts) == 1


def test_a_model_that_repeats_requests_itself_is_asked_once() -> None:
    model = ScriptedModel([ConnectionError("gone"), "never asked for"])

    with pytest.raises(ModelCallError):
        ask(Chat(model, retry_policy=ONCE))

    assert len(model.prompts) == 1


def test_another_model_stands_in() -> None:
    first, second = ScriptedModel([ValueError("odd")]), ScriptedModel(["here"])
    second.model_name = "second"

    answer = ask(Chat(first), Chat(second))

    assert (answer.message.text, answer.model) == ("here", "second")
    assert [attempt.model for attempt in answer.attempts] == ["scripted"]


def test_where_all_models_fail_each_says_why() -> None:
    first, second = ScriptedModel([ValueError("odd")]), ScriptedModel([ValueError("even")])
    second.model_name = "second"

    with pytest.raises(ModelCallError, match="scripted failed: ValueError: odd; second failed: ValueError: even"):
        ask(Chat(first), Chat(second))


class Slow(BaseChatModel):
    """Never answers; `cancelled` says whether it was told to stop."""

    cancelled: bool = False

    @property
    def _llm_type(self) -> str:
        return "slow"

    def _generate(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def _agenerate(self, *_: Any, **__: Any) -> Any:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise


def test_a_request_that_takes_too_long_is_stopped_and_counts_as_failed() -> None:
    model = Slow()

    with pytest.raises(ModelCallError, match=r"no answer in time: the limit is 0\.01 s"):
        ask(Chat(model, timeout_s=0.01, retry_policy=ONCE))

    assert model.cancelled


async def test_cancelling_stops_the_request_and_nothing_is_tried_again() -> None:
    model = Slow()

    with pytest.raises(asyncio.CancelledError):
        task = asyncio.create_task(RoleModel((Chat(model),)).ask(QUESTION))
        await asyncio.sleep(0.01)
        task.cancel()
        await task

    assert model.cancelled


class Counting(BaseRateLimiter):
    """Lets everybody through and counts them."""

    def __init__(self) -> None:
        self.passed = 0

    def acquire(self, *, blocking: bool = True) -> bool:
        raise NotImplementedError

    async def aacquire(self, *, blocking: bool = True) -> bool:
        self.passed += blocking
        return True


def test_every_request_waits_for_its_turn() -> None:
    limiter = Counting()

    ask(Chat(ScriptedModel([ConnectionError("gone"), "here"]), limiter=limiter))

    assert limiter.passed == 2


def test_keys_in_an_error_are_taken_out() -> None:
    with pytest.raises(ModelCallError) as caught:
        ask(Chat(ScriptedModel([ValueError("you sent sk-abcdefgh12345678")])))

    assert "sk-abc" not in str(caught.value) + str(caught.value.attempts)


def test_an_answer_is_told_with_the_model_that_gave_it_and_its_tokens() -> None:
    counted = AIMessage("x", usage_metadata={"input_tokens": 7, "output_tokens": 2, "total_tokens": 9})

    answer = ask(Chat(ScriptedModel([counted])))

    assert (answer.model, answer.usage["total_tokens"], answer.attempts) == ("scripted", 9, ())


def test_an_answer_in_a_form_that_nobody_knows_is_a_failure() -> None:
    odd = AIMessage("x")
    odd.tool_calls = [{"name": "send"}]  # type: ignore[list-item,typeddict-item]

    with pytest.raises(ModelCallError, match="KeyError"):
        ask(Chat(ScriptedModel([odd])))


class Refusing(ScriptedModel):
    """Takes the schema of a plan, and refuses that of a result."""

    def with_structured_output(self, schema: Any, **_: Any) -> Any:
        def answer(_: Any) -> Any:
            if schema["title"] == "result":
                raise Rejected
            return {"raw": AIMessage("by schema")}

        return RunnableLambda(answer)


class Rejected(Exception):
    """A 400 on the schema."""

    status_code = 400

    def __init__(self) -> None:
        super().__init__("invalid schema for response_format")


def test_a_server_that_refuses_the_schema_of_a_result_is_asked_without_it_and_keeps_that_of_a_plan() -> None:
    model = RoleModel((Chat(Refusing(["first", "second"])),), PassingClock().clock)
    result, plan = (ModelRequest([HumanMessage("x")], schema={"title": title}) for title in ("result", "plan"))

    answers = [asyncio.run(model.ask(request)) for request in (result, result, plan)]

    assert [answer.message.text for answer in answers] == ["first", "second", "by schema"]
    assert [len(answer.attempts) for answer in answers] == [1, 0, 0]
    assert "repeated without schema of a result" in answers[0].attempts[0].error
