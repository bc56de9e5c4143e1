"""Pictures beside a goal: they reach a planner that takes them, the record names them, else a sentence says why not."""

import base64
import hashlib
import json
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import Field

from planner_executor import build_graph
from planner_executor.graph.checkpoints.checkpoint import ledger_of
from planner_executor.graph.errors import InputError
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.testing import LoggedTools, ScriptedModel, on_thread, step

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"pixels" * 40).decode()
DIGEST = hashlib.sha256(base64.b64decode(PNG)).hexdigest()
PLAN = {"steps": [step("a", "look", name="x")]}
IMAGE = {"type": "image", "mime_type": "image/png", "base64": PNG}
FORMS = [
    IMAGE,
    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
    {"type": "image", "source_type": "base64", "data": PNG, "mime_type": "image/png"},
]


class Blind(ScriptedModel):
    """A model whose profile says that it takes no pictures."""

    profile: Any = Field(default_factory=lambda: {"image_inputs": False})


def message(*blocks: dict[str, Any], words: str = "What is this?") -> dict[str, Any]:
    return {"messages": [HumanMessage([{"type": "text", "text": words}, *blocks])]}


def graph_of(model: Any, tools: LoggedTools, saver: InMemorySaver) -> Any:
    return build_graph(planner=model, tools=[tools.tool("look", effect="read")], checkpointer=saver)


async def recorded(saver: InMemorySaver) -> Any:
    ledger = await ledger_of(None, saver, lambda _: None)()
    return await ledger.events(RunKey("thread", 1))


@pytest.mark.parametrize("form", FORMS, ids=["today's", "OpenAI's", "the older one"])
def test_a_picture_reaches_the_planner_beside_the_goal_also_after_feedback(
    tools: LoggedTools, saver: InMemorySaver, form: dict[str, Any]
) -> None:
    model = ScriptedModel([PLAN, PLAN])
    graph = graph_of(model, tools, saver)

    state = graph.invoke(message(form), on_thread())
    graph.invoke(Command(resume="look closer"), on_thread())

    assert state["goal"] == "What is this?" and state["status"] == "waiting"
    for prompt in model.prompts:
        text, *pictures = prompt[1].content
        assert json.loads(text["text"])["goal"] == "What is this?"
        assert pictures == [IMAGE]


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ({"type": "image", "url": "https://example.org/a.png"}, "by its address cannot be recorded"),
        ({"type": "file", "mime_type": "application/pdf", "base64": PNG}, "a file in a goal cannot be read"),
        ({"type": "audio", "mime_type": "audio/wav", "base64": PNG}, "content of the type 'audio'"),
        ({"type": "image", "mime_type": "image/tiff", "base64": PNG}, "the type 'image/tiff' cannot be read"),
        ({"type": "image", "mime_type": "image/png", "base64": "no base64!"}, "not valid base64"),
        ({"type": "image", "mime_type": "image/png", "base64": ""}, "a picture has 0 bytes"),
    ],
)
def test_what_cannot_be_given_to_a_planner_is_refused_before_a_run_begins(
    tools: LoggedTools, saver: InMemorySaver, block: dict[str, Any], words: str
) -> None:
    model = ScriptedModel([PLAN])

    with pytest.raises(InputError, match=words):
        graph_of(model, tools, saver).invoke(message(block), on_thread())
    assert not model.prompts


@pytest.mark.parametrize("model", [Blind([PLAN]), None], ids=["its profile says so", "the embedded rules"])
def test_a_model_that_takes_no_pictures_is_named(tools: LoggedTools, saver: InMemorySaver, model: Any) -> None:
    with pytest.raises(InputError, match=r"the planner's model \S+ takes no pictures; say in words what they show"):
        graph_of(model, tools, saver).invoke(message(IMAGE), on_thread())


async def test_the_record_names_a_picture_by_its_digest_and_holds_its_bytes_once(
    tools: LoggedTools, saver: InMemorySaver
) -> None:
    graph_of(ScriptedModel([PLAN]), tools, saver).invoke(message(IMAGE), on_thread())

    started, *others = await recorded(saver)
    assert started.payload["pictures"] == [
        {"mime_type": "image/png", "size": len(base64.b64decode(PNG)), "sha256": DIGEST}
    ]
    assert "artifact" in started.payload["attached"] and PNG not in str(started.payload)
    assert PNG not in str([event.payload for event in others])
    (asked,) = [event for event in others if event.kind == "model_started"]
    assert DIGEST in str(asked.payload["prompt"])


def pictures_in(prompt: Any) -> list[Any]:
    _, *pictures = prompt[1].content
    return pictures


def test_a_fork_by_review_keeps_the_picture(tools: LoggedTools, saver: InMemorySaver) -> None:
    model = ScriptedModel([PLAN, PLAN])
    graph = graph_of(model, tools, saver)
    graph.invoke(message(IMAGE), on_thread())
    before = next(state for state in graph.get_state_history(on_thread()) if state.next == ("review",))
    graph.invoke(Command(resume="approve"), on_thread())

    graph.invoke(None, before.config)
    graph.invoke(Command(resume="look closer"), on_thread())

    assert [pictures_in(prompt) for prompt in model.prompts] == [[IMAGE], [IMAGE]]


def test_a_fork_from_a_step_keeps_the_picture(tools: LoggedTools, saver: InMemorySaver) -> None:
    model = ScriptedModel([PLAN, PLAN])
    graph = graph_of(model, tools, saver)
    graph.invoke(message(IMAGE), on_thread())
    graph.invoke(Command(resume="approve"), on_thread())

    graph.invoke({"fork_from": {"run": "thread.1", "step": "a"}}, on_thread())
    graph.invoke(Command(resume="look closer"), on_thread())

    assert [pictures_in(prompt) for prompt in model.prompts] == [[IMAGE], [IMAGE]]
