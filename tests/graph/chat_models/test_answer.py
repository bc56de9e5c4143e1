"""Answers in one form, with what is wrong with them."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, messages_to_dict

from planner_executor.graph.calls.model_gate import _storable
from planner_executor.graph.chat_models.answer import flaw_of, recordable, usage_of

CALL: Any = {"name": "send", "args": {"to": "x"}, "id": "1", "type": "tool_call"}


@pytest.mark.parametrize(
    ("message", "flaw"),
    [
        (AIMessage("fine", response_metadata={"finish_reason": "stop"}), None),
        (AIMessage("", tool_calls=[CALL]), None),
        (AIMessage(" \n"), "empty"),
        (AIMessage("half", response_metadata={"finish_reason": "length"}), "truncated"),
        (AIMessage("half", response_metadata={"stop_reason": "max_tokens"}), "truncated"),
        (AIMessage("half", response_metadata={"finish_reason": "MAX_TOKENS"}), "truncated"),
        (AIMessage("half", response_metadata={"incomplete_details": {"reason": "max_output_tokens"}}), "truncated"),
        (AIMessage("half", response_metadata={"status": "incomplete"}), "truncated"),
        (AIMessage("fine", response_metadata={"status": "completed"}), None),
        (AIMessage("", additional_kwargs={"refusal": "I will not"}), "refused"),
        (AIMessage([{"type": "refusal", "refusal": "I will not"}]), "refused"),
        (AIMessage("", response_metadata={"finish_reason": "content_filter"}), "refused"),
        (AIMessage("no", response_metadata={"stop_reason": "refusal"}), "refused"),
    ],
)
def test_what_is_wrong_with_an_answer_is_seen_in_every_providers_words(message: AIMessage, flaw: str | None) -> None:
    assert flaw_of(recordable(message)) == flaw


def test_the_words_of_a_refusal_are_the_answer() -> None:
    message = recordable(AIMessage("", additional_kwargs={"refusal": "I will not", "parsed": object()}))

    assert message.text == "I will not"
    assert message.additional_kwargs == {}


@pytest.mark.parametrize(
    "message",
    [
        AIMessage("text", response_metadata={"finish_reason": "stop", "logprobs": None, "model_name": "gpt"}, id="c1"),
        AIMessage("", tool_calls=[CALL], additional_kwargs={"signature": "abc", "odd": object(), "refusal": None}),
        AIMessage(
            [{"type": "text", "text": "a"}], usage_metadata={"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        ),
        AIMessage(
            "",
            invalid_tool_calls=[{"name": "send", "args": "{", "id": "2", "error": None, "type": "invalid_tool_call"}],
        ),
    ],
)
def test_an_answer_on_record_is_the_answer_that_was_given(message: AIMessage) -> None:
    given = recordable(message)

    known = AIMessage.model_validate(_storable(given))

    assert messages_to_dict([known]) == messages_to_dict([given])


def test_tokens_are_those_the_server_counted() -> None:
    counted = AIMessage("x", usage_metadata={"input_tokens": 7, "output_tokens": 2, "total_tokens": 9})

    assert usage_of([HumanMessage("hello")], counted) == {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9}


@pytest.mark.parametrize("counted", [None, {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}])
def test_tokens_that_nobody_counted_are_estimated_and_said_to_be(counted: Any) -> None:
    usage = usage_of([HumanMessage("a" * 400)], AIMessage("b" * 40, usage_metadata=counted))

    assert usage["estimated"] is True
    assert 100 <= usage["input_tokens"] <= 120 and 10 <= usage["output_tokens"] <= 20
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]


@pytest.mark.parametrize("wrong", [-1, -(10**6), 10**30, True, "7", 1.5, float("nan")])
@pytest.mark.parametrize("name", ["input_tokens", "output_tokens", "total_tokens"])
def test_a_count_that_cannot_be_is_not_believed_and_the_tokens_are_estimated(name: str, wrong: Any) -> None:
    answer = AIMessage("b" * 40, usage_metadata={"input_tokens": 7, "output_tokens": 2, "total_tokens": 9})
    answer.usage_metadata[name] = wrong  # type: ignore[literal-required,index]

    usage = usage_of([HumanMessage("a" * 400)], answer)

    assert usage["estimated"] is True
    assert all(usage[each] > 0 for each in ("input_tokens", "output_tokens", "total_tokens"))


def test_counts_in_the_other_place_are_looked_at_as_closely() -> None:
    metadata = {"token_usage": {"prompt_tokens": 7, "completion_tokens": -5}}

    assert usage_of([HumanMessage("a")], AIMessage("b", response_metadata=metadata))["estimated"] is True


def test_a_total_is_at_least_the_sum() -> None:
    counted: Any = {"input_tokens": 700, "output_tokens": 20, "total_tokens": 1}

    assert usage_of([HumanMessage("a")], AIMessage("b", usage_metadata=counted))["total_tokens"] == 720
