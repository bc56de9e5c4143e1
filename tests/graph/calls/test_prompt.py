"""What a model was asked: plain data, and of a conversation only what is new."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from planner_executor.graph.calls.prompt import Asked, PromptMessages, Prompts, Recorded, prompt_of
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.record.artifacts import artifacts_named, with_values
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.values import to_text


def asked(key: str, prompt: PromptMessages) -> Asked:
    return Asked(key, len(prompt), digest(prompt))


def test_messages_are_told_by_what_a_model_reads_of_them() -> None:
    call = {"name": "send", "args": {"to": "x"}, "id": "1", "type": "tool_call"}
    messages = [
        SystemMessage("You plan.", id="a"),
        HumanMessage("Go"),
        AIMessage("", tool_calls=[call], id="b", response_metadata={"took_s": 1}),
        AIMessage("Sending"),
        ToolMessage("sent", tool_call_id="1", id="c"),
    ]

    assert prompt_of(messages) == [
        {"type": "system", "content": "You plan."},
        {"type": "human", "content": "Go"},
        {"type": "ai", "content": "", "tool_calls": [{"name": "send", "args": {"to": "x"}, "id": "1"}]},
        {"type": "ai", "content": "Sending"},
        {"type": "tool", "content": "sent", "tool_call_id": "1", "status": "success"},
    ]


def test_a_conversation_that_grows_is_kept_once() -> None:
    prompts, first, second = Prompts(), prompt_of([HumanMessage("1")]), prompt_of([HumanMessage("1"), AIMessage("2")])

    whole = prompts.recorded(asked("k1", first), "executor", "a", first)
    rest = prompts.recorded(asked("k2", second), "executor", "a", second)

    assert whole.prompt.to_json() == {"value": first}
    assert rest.prompt.to_json() == {"continues": "k1", "value": second[1:]}


def test_another_conversation_is_kept_whole() -> None:
    prompts, prompt, other = Prompts(), prompt_of([HumanMessage("1")]), prompt_of([HumanMessage("x"), AIMessage("2")])
    prompts.recorded(asked("k1", prompt), "executor", "a", prompt)

    for key, role, conversation in (("k2", "executor", "a"), ("k3", "executor", "b"), ("k4", "planner", "")):
        assert prompts.recorded(asked(key, other), role, conversation, other).prompt.continues is None


def test_what_prompts_have_in_common_is_kept_once_by_its_content() -> None:
    def recorded(goal: str) -> Recorded:
        messages = [SystemMessage("You plan. " * 50), HumanMessage(f'{{"goal": "{goal}"}}')]
        return Prompts().recorded(asked("k", prompt_of(messages)), "planner", "", prompt_of(messages))

    one, other = recorded("a"), recorded("b")

    assert one.prompt.constants == other.prompt.constants
    assert len(to_text(one.prompt.to_json())) < 500
    assert one.artifacts[1:] == other.artifacts[1:]


def test_a_system_message_is_kept_apart_from_200_characters_on() -> None:
    prompt = prompt_of([SystemMessage("x" * 200), SystemMessage("y" * 199), HumanMessage("z" * 200)])

    recorded = Prompts().recorded(asked("k", prompt), "planner", "", prompt)

    assert [kept.text for kept in recorded.artifacts[1:]] == [to_text("x" * 200)]


def test_a_system_message_in_parts_is_no_text_in_common() -> None:
    prompt = prompt_of([SystemMessage([{"type": "text", "text": "You plan."}] * 200)])

    assert Prompts().recorded(asked("k", prompt), "planner", "", prompt).prompt.constants == ()


@given(
    st.text(max_size=20),
    st.lists(st.sampled_from(["x" * 300, "0", '"', "{", "parts", "goal"]), max_size=6),
    st.booleans(),
)
def test_a_prompt_is_read_as_it_was_asked_whatever_it_has_in_common(system: str, pieces: list[str], more: bool) -> None:
    messages: list[Any] = [SystemMessage(system * 30), HumanMessage("".join(pieces))]
    messages += [AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": "1"}])] if more else []
    prompt = prompt_of(messages)

    recorded = Prompts().recorded(asked("k", prompt), "planner", "", prompt)
    contents = {kept.artifact.id: kept.text for kept in recorded.artifacts if kept.artifact}

    told = {"prompt": recorded.prompt.to_json()}

    assert with_values(told, contents) == {"prompt": {"value": prompt}}
    named = artifacts_named([Event(1, "model_started", None, 0.0, told)])
    assert set(named) == set(contents)
