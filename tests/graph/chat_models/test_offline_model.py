"""The rules as a chat model."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage

from planner_executor import default_tools
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.chat_models.json_text import NoJson, json_from
from planner_executor.graph.chat_models.offline import OfflineModel
from planner_executor.graph.chat_models.offline.rules import answer_to
from planner_executor.graph.chat_models.roles import role_model, role_models
from planner_executor.graph.plan.reading import read_plan
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.prompts.executor import executor_messages
from planner_executor.graph.prompts.planner import planner_messages, repair_message
from planner_executor.graph.prompts.tool_lines import tools_text
from planner_executor.graph.record.goal import Goal
from planner_executor.graph.record.plan_state import PlanState
from planner_executor.graph.record.run_state import RunState

SPECS = Toolbox(default_tools(Path("documents"), Path("workspace"))).specs


def test_no_model_named_means_the_rules() -> None:
    assert isinstance(role_models({}).planner.chats[0].model, OfflineModel)
    assert isinstance(role_model("offline").chats[0].model, OfflineModel)


def test_it_says_what_it_is_and_costs_nothing() -> None:
    model = OfflineModel()

    answer = model.invoke("hello")

    assert (model.model_name, model._llm_type) == ("offline", "offline-rules")
    assert answer.usage_metadata == {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
    assert "set of rules" in str(answer.text)


async def test_awaited_it_answers_the_same() -> None:
    messages = planner_messages(Goal("What is 42?"), [], RunState(), {})

    answer = await OfflineModel().ainvoke(messages)

    assert answer.text == OfflineModel().invoke(messages).text
    assert json.loads(str(answer.text)) == {"steps": [], "answer": 42}


def test_a_step_for_a_model_is_refused_and_not_answered_with_an_excuse() -> None:
    messages = executor_messages("any", Step(id="step_1", objective="Decide which matters most"), {}, {})

    with pytest.raises(NotImplementedError, match="executor"):
        OfflineModel().invoke(messages)


def test_a_question_for_repair_is_answered_like_the_first() -> None:
    messages = planner_messages(Goal("Write a poem"), [], RunState(), {})
    first = OfflineModel().invoke(messages)

    assert OfflineModel().invoke([*messages, first, repair_message([])]).text == first.text


@pytest.mark.parametrize(
    "goal", ["Write a poem about love", "Book a flight", "What is love?", "", "{", '[{"steps": []}]']
)
def test_other_goals_are_answered_in_words_that_nobody_takes_for_json(goal: str) -> None:
    answer = str(OfflineModel().invoke(planner_messages(Goal(goal), [], RunState(), {})).text)

    with pytest.raises(NoJson):
        json_from(answer)
    assert "openai:gpt-5-mini" in answer


@pytest.mark.parametrize("text", ["no JSON", "[]", "3", '{"goal": 3}', '{"plan": {"steps": []}, "goal": "x"}', "{}"])
def test_any_message_gets_an_answer(text: str) -> None:
    assert OfflineModel().invoke([HumanMessage(text)]).text


@settings(deadline=None)
@given(
    st.sampled_from(["", "Research ", "write a report about ", "What is ", "summarise what the documents say about "]),
    st.text(max_size=40),
    st.sampled_from(["", " and write a report", " to notes.md", " on the web", " + 2"]),
    st.lists(st.text(max_size=30) | st.sampled_from(["only 99 searches", "search for {a_result}"]), max_size=2),
)
def test_whatever_is_asked_the_answer_is_a_valid_plan_or_words(
    before: str, words: str, after: str, wishes: list[str]
) -> None:
    goal = Goal(before + words + after, tuple(wishes))

    answer = str(
        OfflineModel()
        .invoke(
            planner_messages(
                goal, tools_text(SPECS.values()), RunState(plan_state=PlanState(feedback=list(wishes))), {}
            )
        )
        .text
    )

    try:
        raw = json_from(answer)
    except NoJson:
        return
    assert read_plan(raw, SPECS).issues == ()


@pytest.mark.parametrize(
    "goal", [" " * 3_000 + "x", "1" * 4_000, "\n" * 3_000 + "x", "a " * 2_000, " " * 500_000, "1" * 500_000]
)
def test_a_goal_of_any_text_is_answered_in_time(goal: str) -> None:
    begun = time.process_time()

    assert answer_to([HumanMessage(json.dumps({"goal": goal, "tools": []}))])

    assert time.process_time() - begun < 3
