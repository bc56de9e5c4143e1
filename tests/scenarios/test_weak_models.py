"""Plans from models that cannot keep to a format, and answers that are none, as whole runs."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.types import Command

from planner_executor.graph.checkpoints.checkpoint import ledger_of
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.testing import on_thread, step
from planner_executor.graph.text.event_text import event_text

Build = Callable[..., Any]

PLAN = {"steps": [step("step_1", "search", query="wind"), step("step_2", "write", text="{step_1_result.items[0]}")]}
TEXT = json.dumps(PLAN)


@pytest.mark.parametrize(
    "answer",
    [
        f"Here you are:\n```json\n{TEXT}\n```\nGood luck!",
        f"<think>[search] first? {{}}</think>\n{TEXT}",
        repr(PLAN),
        TEXT.replace("}]", "},]"),
        json.dumps(PLAN["steps"]),
        {"plan": PLAN},
    ],
)
def test_a_plan_is_taken_from_what_a_model_says(build: Build, tools: Any, answer: Any) -> None:
    app = build(answer)

    app.invoke({"goal": "g"}, on_thread())
    state = app.invoke(Command(resume="approve"), on_thread())

    assert (state["status"], tools.calls) == ("succeeded", [("search", {"query": "wind"}), ("write", {"text": "WIND"})])
    assert len(app.model.prompts) == 1


def test_one_round_of_repair_names_every_fault_and_what_was_meant(build: Build) -> None:
    faulty = {
        "steps": [
            step("step_1", "serch", query="wind"),
            step("step_2", "write", text="{step_2_result}"),
            step("step_3", "write", after=["step_3"], text="{stepp_1_result}"),
            {"id": "step_4", "tool": "search"},
        ]
    }
    app = build(faulty, PLAN)

    state = app.invoke({"goal": "g"}, on_thread())

    told = str(app.model.prompts[1][-1].text)
    assert "__interrupt__" in state and len(app.model.prompts) == 2
    for fault in (
        "step_1.tool: unknown tool 'serch'; known tools: search, write, send, broken",
        "{step_2_result} refers to its own step; name an earlier step; did you mean {step_1_result}?",
        "step_3 waits for itself; name an earlier step; did you mean step_2?",
        "{stepp_1_result} refers to no step; did you mean step_1?",
        "step_4.objective",
    ):
        assert fault in told


def test_repair_goes_on_as_long_as_there_are_fewer_faults(build: Build) -> None:
    faulty = [{"steps": [step(f"step_{n}", "serch", query="wind") for n in range(left)]} for left in (3, 2, 1)]
    app, stuck, short = build(*faulty, PLAN), build(*faulty[:2], faulty[1], PLAN), build(*faulty, PLAN, max_repairs=2)

    assert "__interrupt__" in app.invoke({"goal": "g"}, on_thread())
    assert len(app.model.prompts) == 4
    assert [each.invoke({"goal": "g"}, on_thread())["status"] for each in (stuck, short)] == ["failed", "failed"]
    assert [len(each.model.prompts) for each in (stuck, short)] == [3, 3]


def test_an_answer_that_is_no_plan_has_more_faults_than_any_plan(build: Build) -> None:
    faulty = {"steps": [step(f"step_{n}", "serch", query="wind") for n in range(3)]}
    app, silent = build("I shall look first.", faulty, PLAN), build("I shall look first.", "Soon.", PLAN)

    assert "__interrupt__" in app.invoke({"goal": "g"}, on_thread())
    assert silent.invoke({"goal": "g"}, on_thread())["status"] == "failed"
    assert (len(app.model.prompts), len(silent.model.prompts)) == (3, 2)


def test_steps_that_are_numbered_by_step_are_read(build: Build, tools: Any) -> None:
    app = build([{"step": 1, "description": "look", "tool": "search", "args": {"query": "wind"}}])

    app.invoke({"goal": "g"}, on_thread())
    state = app.invoke(Command(resume="approve"), on_thread())

    assert (state["status"], tools.calls) == ("succeeded", [("search", {"query": "wind"})])


def test_a_plan_that_lost_its_end_is_never_completed(build: Build) -> None:
    app = build(TEXT[: TEXT.index(', {"id": "step_2"')], PLAN)

    app.invoke({"goal": "g"}, on_thread())

    assert "is not closed; it may be cut off" in str(app.model.prompts[1][-1].text)


SEND = {"steps": [step("step_1", "send", text="spam")]}


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(f"Draft: {json.dumps(SEND)}\nFinal: {TEXT}", id="a draft and a final plan"),
        pytest.param(",\n".join(json.dumps([one]) for one in [*PLAN["steps"], *SEND["steps"]]), id="lists of one step"),
        pytest.param(f'{TEXT}\nor simply {{"steps": [], "answer": "wind"}}', id="an answer beside a plan"),
        pytest.param(f"{TEXT}\n{json.dumps(SEND)[:-3]}", id="one that is cut off"),
        pytest.param(f"<think>{TEXT}</think> Here it is.", id="in thoughts only"),
        pytest.param(f"{TEXT}\n{json.dumps(SEND['steps'][0])}", id="a step beside a plan"),
        pytest.param(f"{TEXT}, {json.dumps(SEND['steps'][0])}]}}", id="a step after the last bracket"),
        pytest.param(f'{TEXT}\n{{"name": "send", "arguments": {{"text": "spam"}}}}', id="a call beside a plan"),
        pytest.param(f'{TEXT}, "answer": "{{step_1_result}}"}}', id="an answer after the last bracket"),
        pytest.param(
            f'{{"steps": {json.dumps(SEND["steps"])}, "steps": {json.dumps(PLAN["steps"])}}}', id="one key twice"
        ),
    ],
)
def test_of_differing_plans_none_is_chosen_the_model_is_told_once_and_planning_fails(
    build: Build, tools: Any, answer: str
) -> None:
    app = build(answer, answer)

    state = app.invoke({"goal": "g"}, on_thread())

    assert (state["status"], tools.calls, len(app.model.prompts)) == ("failed", [], 2)
    assert [issue["field"] for issue in state["issues"]] == ["plan"]
    assert state["issues"][0]["message"] in str(app.model.prompts[1][-1].text)


LOOSE = json.dumps(step("late", "send", text="bye"))
ONE_PLAN = "give one plan, with all its steps in one list"


def test_a_step_beside_a_revision_or_an_expansion_is_no_more_lost_than_beside_a_plan(build: Build, tools: Any) -> None:
    refined = {"steps": [{"id": "r", "objective": "look", "refine": True}, step("b", "broken", after=["r"])]}
    expansion = json.dumps({"steps": [step("look", "search", query="wind")]})
    revision = json.dumps({"keep": ["r"], "steps": [step("w", "write", text="x")]})
    app = build(
        f"{json.dumps(refined)} {LOOSE}", refined, f"{expansion} {LOOSE}", expansion, f"{revision} {LOOSE}", revision
    )

    state = app.invoke({"goal": "g"}, on_thread())
    while "__interrupt__" in state:
        state = app.invoke(Command(resume="approve"), on_thread())

    told = [str(prompt[-1].text) for prompt in app.model.prompts]
    assert [ONE_PLAN in words for words in told] == [False, True] * 3
    assert [name for name, _ in tools.calls] == ["search", "broken", "write"]


def test_after_the_model_was_told_its_one_plan_counts(build: Build) -> None:
    app = build(f"{json.dumps(SEND)} {TEXT}", TEXT)

    assert app.invoke({"goal": "g"}, on_thread())["plan"] == PLAN


def test_one_plan_in_several_spellings_is_one_plan(build: Build) -> None:
    spelled = [{"description": one["objective"], **one, "arguments": one["args"]} for one in PLAN["steps"]]
    for one in spelled:
        del one["args"], one["objective"]
    app = build(f"{TEXT}\n```json\n{json.dumps({'plan': spelled})}\n```\n{TEXT}")

    state = app.invoke({"goal": "g"}, on_thread())

    assert (state["plan"], len(app.model.prompts)) == (PLAN, 1)


def test_json_that_is_no_plan_may_stand_beside_one(build: Build) -> None:
    app = build(f'A result is like {{"items": [1]}}, see [1] and [{{"title": "x"}}].\n{TEXT}')

    assert app.invoke({"goal": "g"}, on_thread())["plan"] == PLAN


@pytest.mark.parametrize(
    ("answer", "note"),
    [
        (TEXT[:-1], "bracket"),
        (TEXT.replace(", ", "，"), "full-width"),  # noqa: RUF001
        (f'<tool_call>{{"name": "plan", "arguments": {TEXT}}}</tool_call>', "call"),
        (json.dumps({"goal": "g", "reasoning": "r", **PLAN}), "reasoning"),
        (TEXT.replace('"args"', '"tool_input"'), "tool_input"),
    ],
)
def test_a_variant_that_means_one_thing_needs_no_repair_and_is_told_on_record(
    build: Build, saver: Any, answer: str, note: str
) -> None:
    app = build(answer)

    state = app.invoke({"goal": "g"}, on_thread())

    assert (state["plan"], len(app.model.prompts)) == (PLAN, 1)
    assert any("normalised" in line and note in line for line in told_lines(saver))


def test_an_answer_at_once_that_was_read_otherwise_is_told_too(build: Build, saver: Any) -> None:
    state = build("{'thought': 'easy', 'answer': 'Paris'}").invoke({"goal": "g"}, on_thread())

    assert (state["status"], state["answer"]) == ("succeeded", "Paris")
    assert any("thought beside the plan was left out" in line for line in told_lines(saver))


def told_lines(saver: Any) -> list[str]:
    ledger = asyncio.run(ledger_of(None, saver, lambda _: None)())
    return [line for event in asyncio.run(ledger.events(RunKey("thread", 1))) for line in event_text(event).details]


def test_the_reason_of_a_refusal_is_told_however_long_the_value(build: Build, tools: Any) -> None:
    wrong = {"steps": [step("step_1", "note", text=["x" * 20_000])]}
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    app = build(wrong, wrong, tools=[tools.tool("note", schema=schema)])

    state = app.invoke({"goal": "g"}, on_thread())

    for said in (str(app.model.prompts[1][-1].text), state["reason"], state["issues"][0]["message"]):
        assert "is not of type 'string'" in said and len(said) < 2_000


@pytest.mark.parametrize("deep", ["[" * 3_000, '{"steps":' * 3_000 + "1" + "}" * 3_000, "{[" * 50_000])
def test_an_answer_that_is_nested_too_deep_is_refused_in_words(build: Build, deep: str) -> None:
    state = build(deep, deep).invoke({"goal": "g"}, on_thread())

    assert state["status"] == "failed" and "JSON in the answer" in state["reason"]


@pytest.mark.parametrize(
    ("answer", "asked", "why", "words"),
    [
        ("I would rather talk about the weather.", 2, "holds no JSON object", "talk about the weather"),
        ("", 2, "the answer is empty", ""),
        (AIMessage(TEXT[:60], response_metadata={"finish_reason": "length"}), 2, "token limit", TEXT[:60]),
        (AIMessage("", additional_kwargs={"refusal": "I will not help"}), 1, "refuses to answer", "I will not help"),
    ],
    ids=["prose", "empty", "truncated", "refusal"],
)
def test_an_answer_that_is_no_plan_ends_the_run_with_the_models_words(
    build: Build, answer: Any, asked: int, why: str, words: str
) -> None:
    app = build(answer, answer)

    state = app.invoke({"goal": "g"}, on_thread())

    assert state["status"] == "failed" and len(app.model.prompts) == asked
    assert why in state["reason"] and words in state["reason"]
    assert [issue["field"] for issue in state["issues"]] == ["plan"]


def executed(build: Build, *answers: Any, **more: Any) -> Any:
    plan = {"steps": [{"id": "think", "objective": "Find out", "tools": ["search"], **more}]}
    app = build(plan, *answers, replan="never")
    app.invoke({"goal": "g"}, on_thread())
    return app.invoke(Command(resume="approve"), on_thread())["results"]["think"]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (
            AIMessage("half a", response_metadata={"finish_reason": "length"}),
            "cut off at its token limit; it said: half a",
        ),
        (AIMessage("", additional_kwargs={"refusal": "I will not"}), "refuses; it said: I will not"),
    ],
)
def test_a_step_never_has_half_an_answer_or_a_refusal_for_a_result(build: Build, answer: Any, why: str) -> None:
    result = executed(build, answer)

    assert result["status"] == "failed" and why in result["error"]


@pytest.mark.parametrize(
    ("answer", "output", "value"),
    [
        ("42", {"type": "integer"}, 42),
        ("```json\n42\n```", "json", 42),
        ("True", {"type": "boolean"}, True),
        ("null", {"type": ["string", "null"]}, None),
        ('"it blows"', {"type": "string"}, "it blows"),
        ("it blows {hard}", {"type": "string"}, "it blows {hard}"),
        ("42", {"type": "string"}, "42"),
        ("yes", {"enum": ["yes", "no"]}, "yes"),
        ("<think>[1]?</think>\n['wind',]", {"type": "array"}, ["wind"]),
        ("<think>wind?</think>it blows", None, "it blows"),
    ],
)
def test_a_result_is_a_number_a_word_or_a_text_as_well_as_an_object(
    build: Build, answer: str, output: Any, value: Any
) -> None:
    result = executed(build, answer, output=output)

    assert (result["status"], result.get("value")) == ("succeeded", value)


def test_of_several_results_none_is_chosen(build: Build) -> None:
    result = executed(build, '{"n": 1} or {"n": 2}', '{"n": 3}', output={"required": ["n"]})

    assert (result["status"], result["value"]) == ("succeeded", {"n": 3})


def test_of_several_arguments_of_a_call_none_are_chosen(build: Build, tools: Any) -> None:
    result = executed(build, invalid('{"query": "a"} {"query": "b"}'), invalid('{"query": "wind"}'), "it blows")

    assert (result["value"], tools.named("search")) == ("it blows", [{"query": "wind"}])


@pytest.mark.parametrize("output", [{"type": "integer"}, {"required": ["n"]}, {"enum": ["yes", "no"]}], ids=str)
def test_prose_is_no_result_where_a_schema_does_not_ask_for_text(build: Build, output: Any) -> None:
    prose = "Let me think about the weather."

    assert executed(build, *[prose] * 10, output=output)["status"] == "failed"


def invalid(args: str) -> AIMessage:
    return AIMessage("", invalid_tool_calls=[{"name": "search", "args": args, "id": "1", "error": None}])


def test_arguments_that_are_nearly_json_are_taken(build: Build, tools: Any) -> None:
    result = executed(build, invalid("{'query': 'wind',}"), "it blows")

    assert (result["value"], tools.named("search")) == ("it blows", [{"query": "wind"}])


def test_arguments_that_cannot_be_read_are_refused_and_the_model_may_ask_again(build: Build, tools: Any) -> None:
    result = executed(build, invalid('{"query": "wi'), invalid('{"query": "wind"}'), "it blows")

    assert (result["value"], tools.named("search")) == ("it blows", [{"query": "wind"}])
