"""Arithmetic: one step for each operation."""

import json
import math
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.chat_models.json_text import NoJson, json_from
from planner_executor.graph.chat_models.offline import OfflineModel
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.reading import read_plan
from planner_executor.graph.plan.references import resolve
from planner_executor.graph.plan.schedule import waits_for
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.prompts.planner import planner_messages
from planner_executor.graph.prompts.replanner import replanner_messages
from planner_executor.graph.prompts.tool_lines import tools_text
from planner_executor.graph.record.goal import Goal
from planner_executor.graph.record.plan_state import PlanState
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.steps import Steps
from planner_executor.tools.calculator import calculator

CALCULATOR = Toolbox([calculator()]).specs


def plan_for(goal: str, tools: dict[str, ToolSpec] | None = None) -> Plan:
    messages = planner_messages(Goal(goal), tools_text((tools or CALCULATOR).values()), RunState(), {})
    reading = read_plan(json.loads(str(OfflineModel().invoke(messages).text)), CALCULATOR)
    assert reading.plan is not None, reading.issues
    return reading.plan


def value_of(plan: Plan, evaluate: Callable[[str], object]) -> object:
    results: dict[str, object] = {}
    for step in plan.steps:
        results[step.id] = evaluate(resolve(step.args, results)["expression"])
    return resolve(plan.answer, results)


def value_in_python(text: str) -> object:
    return eval(text, {"__builtins__": {}}, {"abs": abs, "max": max, "Infinity": math.inf, "NaN": math.nan})


def by_tool(text: str) -> object:
    return calculator().invoke({"expression": text})


def test_one_step_for_each_operation_with_references_between_them() -> None:
    plan = plan_for("What is 12 * 4 + 5?")

    assert plan.to_json() == {
        "steps": [
            {
                "id": "step_1",
                "objective": "Multiply 12 by 4",
                "tool": "calculator",
                "args": {"expression": "12 * 4"},
            },
            {
                "id": "step_2",
                "objective": "Add 5 to the result of step_1",
                "tool": "calculator",
                "args": {"expression": "({step_1_result}) + 5"},
            },
        ],
        "answer": "{step_2_result}",
    }
    assert value_of(plan, by_tool) == 53


def test_parts_that_do_not_wait_for_each_other_run_at_once() -> None:
    plan = plan_for("calculate (2+3)*7 - 4/2")

    assert waits_for(plan.steps) == {
        "step_1": (),
        "step_2": ("step_1",),
        "step_3": (),
        "step_4": ("step_2", "step_3"),
    }


@pytest.mark.parametrize(
    ("goal", "value"),
    [
        ("12 times 4 plus 5", 53),
        ("what's 2^10", 1024),
        ("What\u2019s 1,234,567 \u00f7 7?", 176366.71428571428),
        ("3 \u00d7 4 \u2212 20", -8),
        ("15% of 80", 12),
        ("what is the square root of 16 plus 2", 6),
        ("sqrt(9 + 7) * 2", 8),
        ("add 5 to 7", 12),
        ("subtract 3 from 10", 7),
        ("divide 10 by 4", 2.5),
        ("Please compute 12 x 4.", 48),
        ("how much is 2(3 + 4)?", 14),
        ("max(3, 40) mod 7", 5),
        ("-(2 + 3)", -5),
        ("(1 - 4) ** 2", 9),
        ("-3 squared", -9),
        ("10 over -4", -2.5),
    ],
)
def test_many_ways_to_ask_are_read(goal: str, value: float) -> None:
    assert value_of(plan_for(goal), by_tool) == value


@pytest.mark.parametrize(
    ("goal", "number"), [("What is 42?", 42), ("-7", -7), ("2,500.5", 2500.5), (str(2**70), str(2**70))]
)
def test_a_mere_number_needs_no_steps(goal: str, number: object) -> None:
    assert plan_for(goal) == Plan(answer=number)


@pytest.mark.parametrize(
    "goal",
    [
        "3 apples plus 4",
        "what is 5!",
        "100 + 10%",
        "1, 2",
        "5 5",
        "1 if 2",
        "(" * 300 + "1",
        "1+" * 900 + "1",
        "1e999 + 1",
    ],
)
def test_what_is_not_plain_arithmetic_is_left_alone(goal: str) -> None:
    answer = OfflineModel().invoke(planner_messages(Goal(goal), tools_text(CALCULATOR.values()), RunState(), {}))

    with pytest.raises(NoJson):
        json_from(str(answer.text))


def test_without_a_calculator_the_missing_tool_is_named() -> None:
    answer = OfflineModel().invoke(planner_messages(Goal("What is 12 * 4 + 5?"), [], RunState(), {}))

    assert "calculator" in str(answer.text)


def test_whole_numbers_are_checked_and_other_wishes_refused() -> None:
    def told(*constraints: str) -> str:
        goal = Goal("What is 12 / 5 + 4?", constraints)
        return str(OfflineModel().invoke(planner_messages(goal, tools_text(CALCULATOR.values()), RunState(), {})).text)

    steps = json_from(told("whole numbers"))["steps"]
    assert [step["checks"] for step in steps] == [[{"schema": {"type": "integer"}}]] * 2
    schema = json_from(told('Answer with JSON only, without any other words. It fits this JSON Schema: {"minimum": 0}'))
    assert schema["steps"][-1]["checks"] == [{"schema": {"minimum": 0}}]
    assert "cannot keep to this constraint: in Roman numerals" in told("in Roman numerals")


def test_feedback_on_arithmetic_is_declined_in_words() -> None:
    answer = OfflineModel().invoke(
        planner_messages(
            Goal("1 + 2"),
            tools_text(CALCULATOR.values()),
            RunState(plan_state=PlanState(plan={}, feedback=["use {words}"])),
            {},
        )
    )

    assert "use (words)" in str(answer.text)


NUMBERS = st.one_of(
    st.integers(0, 10**6).map(str), st.floats(0, 1e6, allow_nan=False).map(repr), st.just("2"), st.just("0.5")
)
EXPRESSIONS = st.recursive(
    NUMBERS,
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*", "/", "//", "%"]), inner),
        st.builds("{} {} {}".format, NUMBERS, st.sampled_from(["+", "-", "*"]), inner),
        st.builds("(-{})".format, inner),
        st.builds("({}) ** 2".format, inner),
        st.builds("abs({})".format, inner),
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(EXPRESSIONS)
def test_the_steps_together_give_what_python_gives(expression: str) -> None:
    try:
        expected = value_in_python(expression)
    except (ZeroDivisionError, OverflowError) as error:
        with pytest.raises(type(error)):
            value_of(plan_for(expression), value_in_python)
        return

    assert value_of(plan_for(expression), value_in_python) == pytest.approx(expected, rel=0, abs=0, nan_ok=True)


def test_one_step_at_a_time_the_steps_and_the_answer_are_those_of_the_whole_plan() -> None:
    goal, tools = Goal("What is (1 + 2) * -(3 - 4)?"), tools_text(CALCULATOR.values())
    whole = plan_for(goal.goal)
    record, plan = RunState(), Plan(steps=())
    said = []
    while len(said) <= len(whole.steps):
        messages = (
            replanner_messages(goal, tools, plan, record, "the next step", {}, 1)
            if plan.steps
            else planner_messages(goal, tools, record, {}, 1)
        )
        said.append(json.loads(str(OfflineModel().invoke(messages).text)))
        plan = Plan(steps=whole.steps[: len(said)])
        record.steps.results.update({step.id: StepResult("succeeded", 1) for step in plan.steps})

    assert [step for answer in said for step in answer["steps"]] == whole.to_json()["steps"]
    assert said[-1] == {"steps": [], "answer": whole.answer}


def test_one_step_at_a_time_nothing_is_mended() -> None:
    record = RunState(steps=Steps({"step_1": StepResult("failed", error="no")}))
    plan = plan_for("What is 1 / 0 + 1?")

    messages = replanner_messages(Goal("What is 1 / 0 + 1?"), [], plan, record, "a step failed", {}, 1)

    assert "step_1: no" in str(OfflineModel().invoke(messages).text)
