"""What a model was asked: plain data, and of a conversation only what is new."""

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from graph.calls.prompt import Asked, Prompt, Prompts, prompt_of
from graph.plan.canonical import digest


def asked(key: str, prompt: Prompt) -> Asked:
    return Asked(key, len(prompt), digest(prompt))


def test_messages_are_told_by_what_a_model_reads_of_them() -> None:
    call = {"name": "send", "args": {"to": "x"}, "id": "1", "type": "tool_call"}
    messages = [
        SystemMessage("You plan.", id="a"),
        HumanMessage("Go"),
        AIMessage("", tool_calls=[call], id="b", response_metadata={"took_s": 1}),
        ToolMessage("sent", tool_call_id="1", id="c"),
    ]

    assert prompt_of(messages) == [
        {"type": "system", "content": "You plan."},
        {"type": "human", "content": "Go"},
        {"type": "ai", "content": "", "tool_calls": [{"name": "send", "args": {"to": "x"}, "id": "1"}]},
        {"type": "tool", "content": "sent", "tool_call_id": "1", "status": "success"},
    ]


def test_a_conversation_that_grows_is_kept_once() -> None:
    prompts, first, second = Prompts(), prompt_of([HumanMessage("1")]), prompt_of([HumanMessage("1"), AIMessage("2")])

    whole, before = prompts.kept(asked("k1", first), "executor", "a", first)
    rest, continued = prompts.kept(asked("k2", second), "executor", "a", second)

    assert (whole.value, before) == (first, None)
    assert (rest.value, continued) == (second[1:], "k1")


def test_another_conversation_is_kept_whole() -> None:
    prompts, prompt, other = Prompts(), prompt_of([HumanMessage("1")]), prompt_of([HumanMessage("x"), AIMessage("2")])
    prompts.kept(asked("k1", prompt), "executor", "a", prompt)

    assert prompts.kept(asked("k2", other), "executor", "a", other)[1] is None
    assert prompts.kept(asked("k3", other), "executor", "b", other)[1] is None
    assert prompts.kept(asked("k4", other), "planner", "", other)[1] is None
