"""Plans that a model wrote in parts: whatever place they came apart at, no part is dropped without a word."""

import json
import re
from typing import Any

import pytest

from planner_executor.graph.chat_models.json_text import NoJson, plans_in
from planner_executor.graph.plan.fragments import PlanShape

SHAPE = PlanShape(frozenset({"search", "write", "mail"}))
STEPS: list[dict[str, Any]] = [
    {"id": "one1", "objective": "two2", "tool": "search", "args": {"q": "three3"}, "depends_on": []},
    {"id": "four4", "objective": "five5: ... so", "tool": "write", "args": {"text": "six6"}},
    {"id": "seven7", "objective": "eight8"},
]
PLANS: dict[str, Any] = {
    "with an answer": {"steps": STEPS, "answer": "nine9"},
    "without one": {"steps": STEPS},
    "the answer first": {"answer": "nine9", "steps": STEPS},
    "a revision": {"keep": ["ten10", "ten11"], "steps": STEPS},
    "keep at the end": {"steps": STEPS, "keep": ["ten10"]},
    "wrapped": {"plan": {"steps": STEPS, "answer": {"a": "nine9", "b": [1]}}},
    "a bare list": STEPS,
    "thought before": {"thought": "Hm, so", "steps": STEPS},
    "a call": {"name": "plan", "arguments": {"steps": STEPS, "answer": "nine9"}},
}
WORD = re.compile(r"[a-z]+\d+")
FENCE = "\n```\n\nAnd then:\n```json\n"
BETWEEN = ("", FENCE, "\n\nSo the next part is:\n\n", "}", "]}", "}]}", "}, ")
OTHER = json.dumps({"steps": [{"id": "other", "objective": "o", "tool": "search", "args": {}}], "answer": "x"})


def read(text: str) -> list[Any]:
    """Return the one plan of a text, none if there are several or it is refused."""
    try:
        found = [piece.value for piece in plans_in(text, SHAPE)]
    except NoJson:
        return []
    return found if len(found) == 1 and SHAPE.is_plan(found[0]) else []


@pytest.mark.parametrize("plan", PLANS.values(), ids=list(PLANS))
def test_of_a_plan_in_two_parts_all_is_read_or_nothing(plan: Any) -> None:
    text = json.dumps(plan)
    places = range(len(text) + 1)
    parts = [(text[:at] + between + text[at:], between) for at in places for between in BETWEEN]
    parts += [part for at in places for part in ((text[:at], ""), (text[at:], ""))]

    for whole, between in parts:
        found = read(whole)
        if len(found) == 1:
            there = json.dumps(found[0]).replace(json.dumps(between)[1:-1], "") if between else json.dumps(found[0])
            missing = [word for word in WORD.findall(whole.replace(between, "") if between else whole)
                       if word not in re.sub(r'[\]\[}{,"\s:]', "", there)]  # fmt: skip
            assert missing == [], whole


@pytest.mark.parametrize("plan", PLANS.values(), ids=list(PLANS))
def test_the_rest_of_another_plan_beside_a_plan_is_never_dropped(plan: Any) -> None:
    text = json.dumps(plan)
    begun = text.index('"two2"') + 1
    for at in range(len(text) + 1):
        head, tail = text[:at], text[at:]
        beside = [tail + "\n" + OTHER, OTHER + "\n" + tail] if '"id": "seven7"' in tail else []
        if at >= begun:
            beside += [f"{OTHER}\n{head}", f"{head}\n{OTHER}", f"```json\n{head}\n```\n{OTHER}"]
        for whole in beside:
            assert read(whole) == [], whole


PLAN = json.dumps({"steps": STEPS, "answer": "nine9"})


@pytest.mark.parametrize(
    "lost",
    [
        '{"id": "step_9", "tool": "mail", "args": {"to": "ann"}}',
        '{"tool": "mail"}',
        '{"name": "mail", "arguments": {"to": "ann"}}',
        '{"tools": ["mail"]}',
        '{"required_tools": ["mail", "x"]}',
        '{"function": {"name": "mail"}}',
        '{"description": "Tell Ann", "dependencies": [1]}',
        '{"subgoal_id": 4, "input": "x"}',
        '{"next": [{"id": 4, "objective": "Tell Ann"}]}',
        '[{"id": 4, "objective": "Tell Ann"}, "and so on"]',
        '{"id": "one1", "objective": "something else"}',
        '{"id": "step_9", "objective": "Tell "Ann""}',
        "{'id': 'step_9', 'objective': 'Tell Ann'",
        '{"tool": "mail", "to": "ann',
        ', {"id": "step_9", "tool": "mail"}]}',
        ', "answer": "{one1_result}"}',
        ', "id": "step_9", "tool": "unknown"}]}',
    ],
)
@pytest.mark.parametrize("order", ["{plan}{lost}", "{plan}\n\nAnd then:\n{lost}", "```json\n{plan}\n```\n{lost}"])
def test_a_part_of_a_plan_beside_it_makes_a_differing_plan(lost: str, order: str) -> None:
    text = order.format(plan=PLAN, lost=lost)
    if lost.startswith(",") and "\n" in order:
        return  # members that go on after a bracket

    assert read(text) == []


@pytest.mark.parametrize(
    "beside",
    [
        '{"id": 5}',
        '{"id": 5, "title": "wind"}',
        '[{"title": "wind"}, {"title": "sun"}]',
        '{"name": "Ann", "age": 4}',
        '{"tool": "hammer"}',
        '{"tool": null, "id": null}',
        '{"n": 3}, {"unit": "m"}',
        "[1] and [2, 3]",
        '{"id": "one1", "tool": "search"}',
        json.dumps(STEPS[1]),
        '{"q": "three3"}',
        'a step is {"id": "...", "tool": "..."}',
        'of the form {"id": "...", "objective": ..., "tool": <name>}',
        'In the form {"steps": [...], "answer": ...}.',
        "The id: 5, the tool: mail, the objective: none.",
        'Its "objective": short; and its "tool": none.',
        'The {tool} and the {"answer"} are as you like them.',
        '<think>{"id": "x", "tool": "mail"}</think>',
    ],
)
def test_plain_data_and_quotations_beside_a_plan_are_none_of_it(beside: str) -> None:
    for text in (f"{PLAN}\n\nNote: {beside}", f"Note: {beside}\n\n{PLAN}"):
        assert read(text) == [json.loads(PLAN)], text


def test_a_plan_that_lacks_a_bracket_and_has_no_steps_may_be_cut_off() -> None:
    assert read('{"keep": ["a"]') == read('{"answer": "x"') == []
    assert read('{"steps": [], "answer": "x"') == [{"steps": [], "answer": "x"}]


def test_very_many_quotations_are_parts_of_another_plan() -> None:
    many = [{"id": f"s{n}", "objective": "o"} for n in range(101)]
    quoted = " ".join(map(json.dumps, many))

    assert len(plans_in(json.dumps({"steps": many}) + json.dumps({"x": many[:100]}), SHAPE)) == 1
    assert len(plans_in(json.dumps({"steps": many}) + json.dumps({"x": many}), SHAPE)) == 2
    assert len(plans_in(json.dumps({"steps": many}) + quoted, SHAPE)) == 1
