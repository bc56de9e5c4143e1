"""A model that says that it cannot: the run ends with its words, or the step fails and the replanner has them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.types import Command

from planner_executor import Agent, build_graph
from planner_executor.graph.cli.exit_codes import exit_code
from planner_executor.graph.testing import LoggedTools, ScriptedModel, on_thread, step

WORDS = "no tool can send a letter; a tool such as send_letter would help"
CANNOT = {"steps": [], "cannot": WORDS}
BROKEN = {"steps": [step("a", "search", query="q"), step("b", "broken", after=["a"])]}

Start = Callable[..., Any]


@pytest.fixture
def start(saver: Any, tools: LoggedTools) -> Start:
    """Start a run with scripted models, and approve its first plan."""

    def fail(**_: Any) -> None:
        raise ValueError("the service is down")

    own = [
        tools.tool("search", lambda query: query.upper(), effect="read"),
        tools.tool("broken", fail, effect="read"),
    ]

    def start(*, planner: Any, replanner: Any = (), executor: Any = (), **settings: Any) -> Any:
        models = {"planner": planner, "replanner": replanner, "executor": executor}
        made: dict[str, Any] = {role: ScriptedModel(answers) for role, answers in models.items()}
        graph: Any = build_graph(**made, tools=own, checkpointer=saver, **settings)
        graph.models = made
        graph.state = graph.invoke({"goal": "g"}, on_thread())
        if "__interrupt__" in graph.state:
            graph.state = graph.invoke(Command(resume="approve"), on_thread())
        return graph

    return start


@pytest.mark.parametrize(
    "answer", [CANNOT, {"cannot": WORDS}, {"plan": CANNOT}, f"Sorry.\n```json\n{json.dumps(CANNOT)}\n```"]
)
def test_a_planner_that_cannot_ends_the_run_as_failed_with_its_words(start: Start, answer: Any) -> None:
    run = start(planner=[answer])

    assert (run.state["status"], run.state["reason"], run.state["issues"]) == ("failed", WORDS, [])
    assert len(run.models["planner"].prompts) == 1
    assert WORDS in str(run.state["messages"][-1].text)


def test_a_replanner_that_cannot_ends_the_run_by_its_steps_and_asks_nobody(start: Start) -> None:
    run = start(planner=[{**BROKEN, "answer": "{a_result}"}], replanner=[CANNOT])

    assert (run.state["status"], run.state["answer"]) == ("partial", "Q")
    assert "the service is down" in run.state["reason"]
    assert f"the replanner cannot go on: {WORDS}" in run.state["reason"]


def test_a_run_whose_replanner_cannot_has_failed_without_an_answer(start: Start) -> None:
    run = start(planner=[BROKEN], replanner=[CANNOT])

    assert run.state["status"] == "failed" and WORDS in run.state["reason"]


@pytest.mark.parametrize(
    "faulty",
    [
        {**CANNOT, "steps": [step("a", "search", query="q")]},
        {**CANNOT, "answer": "half of it"},
        {"steps": [], "cannot": " "},
        {"steps": [], "cannot": ["why"]},
    ],
)
def test_cannot_beside_steps_or_without_words_is_a_fault(start: Start, faulty: Any) -> None:
    run = start(planner=[faulty, CANNOT])

    assert run.models["planner"].prompts[1][-1].text.splitlines()[1].startswith("- cannot: ")
    assert run.state["reason"] == WORDS


def test_cannot_beside_a_differing_plan_is_not_chosen_from(start: Start) -> None:
    plan = {"steps": [step("a", "search", query="q")]}

    run = start(planner=[f"{json.dumps(plan)}\n{json.dumps(CANNOT)}", plan])

    assert "2 differing plans" in run.models["planner"].prompts[1][-1].text


def test_a_planner_that_cannot_heed_a_persons_words_leaves_the_plan_that_waits(start: Start, saver: Any) -> None:
    plan = {"steps": [step("a", "search", query="q")]}
    graph: Any = build_graph(
        planner=ScriptedModel([plan, CANNOT]), tools=[LoggedTools().tool("search", effect="read")], checkpointer=saver
    )

    graph.invoke({"goal": "g"}, on_thread())
    state = graph.invoke(Command(resume="send a letter too"), on_thread())

    assert WORDS in state["__interrupt__"][0].value["action_requests"][0]["description"]


def test_a_plan_of_a_caller_cannot_say_it(start: Start, saver: Any) -> None:
    graph: Any = build_graph(tools=[], checkpointer=saver)

    state = graph.invoke({"goal": "g", "plan": CANNOT}, on_thread())

    assert state["status"] == "failed" and "unknown key 'cannot'" in state["reason"]


def by_tool(why: str, *others: str) -> AIMessage:
    called = [{"name": name, "args": {"query": "q"}, "id": name} for name in others]
    return AIMessage("", tool_calls=[*called, {"name": "cannot", "args": {"why": why}, "id": "1"}])


@pytest.mark.parametrize(
    ("one", "answer"),
    [
        ({}, {"cannot": WORDS}),
        ({}, f"<think>hm</think>```json\n{json.dumps({'cannot': WORDS})}\n```"),
        ({"output": "json"}, {"cannot": WORDS}),
        ({"output": {"type": "object", "required": ["n"]}}, {"cannot": WORDS}),
        ({"tools": ["search"]}, by_tool(WORDS, "search")),
        ({"output": {"type": "object"}}, by_tool(WORDS)),
    ],
)
def test_an_executor_that_cannot_fails_its_step_and_the_replanner_reads_why(
    start: Start, tools: LoggedTools, one: Any, answer: Any
) -> None:
    run = start(planner=[{"steps": [{**step("a"), **one}]}], executor=[answer], replanner=[CANNOT])

    told = json.loads(run.models["replanner"].prompts[0][-1].text)["failed"]
    assert told == {"a": f"the executor model cannot do it: {WORDS}"}
    assert tools.calls == []


@pytest.mark.parametrize(
    "output", [{"type": "object"}, {"type": "object", "properties": {"cannot": {"type": "string"}}}]
)
def test_where_the_output_admits_the_key_an_object_with_it_is_a_result(start: Start, output: Any) -> None:
    run = start(planner=[{"steps": [{**step("a"), "output": output}]}], executor=[{"cannot": WORDS}])

    assert (run.state["status"], run.state["answer"]) == ("succeeded", {"cannot": WORDS})


def test_a_text_that_quotes_the_form_is_a_result(start: Start) -> None:
    text = f"The log says {json.dumps({'cannot': WORDS})}."

    assert start(planner=[{"steps": [step("a")]}], executor=[text]).state["answer"] == text


def test_a_tool_of_that_name_is_an_ordinary_tool(saver: Any, tools: LoggedTools) -> None:
    asks = AIMessage("", tool_calls=[{"name": "cannot", "args": {"why": "x"}, "id": "1"}])
    plan = {"steps": [{**step("a"), "tools": ["cannot"]}]}
    graph: Any = build_graph(
        planner=ScriptedModel([plan]),
        executor=ScriptedModel([asks, "done"]),
        tools=[tools.tool("cannot", lambda why: why, effect="read")],
        checkpointer=saver,
        approval="never",
    )

    assert graph.invoke({"goal": "g"}, on_thread())["answer"] == "done"
    assert tools.named("cannot") == [{"why": "x"}]


def test_a_step_that_cannot_be_refined_fails_with_the_planners_words(start: Start) -> None:
    run = start(planner=[{"steps": [{**step("a"), "refine": True}]}, CANNOT], replanner=[CANNOT])

    told = json.loads(run.models["replanner"].prompts[0][-1].text)["failed"]
    assert told == {"a": f"it could not be refined: {WORDS}"}


def test_the_command_line_ends_with_one_and_the_words(tmp_path: Path) -> None:
    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([CANNOT]), tools=[]) as agent:
        run = agent.start("write a letter")

        assert (run.status, run.reason, exit_code(run.status)) == ("failed", WORDS, 1)
