"""Each kind of step in each drawing, and steps that another one was refined into."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.text.drawing.mermaid import plan_mermaid
from planner_executor.graph.text.drawing.step_words import depths, doer, material
from planner_executor.graph.text.drawing.svg import plan_svg
from planner_executor.graph.text.drawing.text import plan_text

SVG = "{http://www.w3.org/2000/svg}"
KINDS = {
    "tool": Step(id="a", objective="o", tool="look", args={"q": 1}),
    "model": Step(id="a", objective="o", tools=("look", "save")),
    "reasoning": Step(id="a", objective="o", executor="cheap"),
    "ask": Step(id="a", objective="o", ask="Which\ncity?"),
    "gate": Step(id="a", objective="o", gate="Is it good?"),
    "refine": Step(id="a", objective="o", refine=True, tools=("look",)),
    "gather": Step(id="a", objective="o", gather=["{b_result}", 2]),
}
WORDS = {
    "tool": ("look", "q=1"),
    "model": ("model(look, save)", ""),
    "reasoning": ("cheap model", ""),
    "ask": ("a person answers", "Which\\u{a}city?"),
    "gate": ("a person agrees", "Is it good?"),
    "refine": ("planner(look)", ""),
    "gather": ("gather", '["{b_result}", 2]'),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_says_who_does_it_and_with_what(kind: str) -> None:
    step = KINDS[kind]

    assert kind_spec(step.kind).look(step).name == kind and (doer(step), material(step)) == WORDS[kind]
    assert plan_text(Plan(steps=(step,))).endswith(f"{doer(step)} {material(step)}".rstrip())


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_its_own_picture_and_its_words_stand_in_it(kind: str) -> None:
    (group,) = ElementTree.fromstring(plan_svg(Plan(steps=(KINDS[kind],)))).iter(f"{SVG}g")

    assert group.attrib["data-kind"] == kind
    assert WORDS[kind][0] in [text.text for text in group.iter(f"{SVG}text")]


def test_the_kinds_have_shapes_of_their_own() -> None:
    shapes = [re.sub(r'".*"', "", plan_mermaid(Plan(steps=(step,))).splitlines()[1]) for step in KINDS.values()]

    assert len(set(shapes)) == len(KINDS)


def test_a_list_and_checks_are_counted() -> None:
    step = Step(id="a", objective="o", tool="look", for_each="{b_result}", max_items=7, checks=({"cites": 1},) * 2)

    assert plan_text(Plan(steps=(step,))).endswith("each ≤7: look [2 checks] of={b_result}")
    assert "each #8804;7#58; look, 2 checks" in plan_mermaid(Plan(steps=(step,)))
    svg = plan_svg(Plan(steps=(step,)))
    assert ">2 checks</text>" in svg and "is checked: cites 1" in svg


def part(name: str, parent: str | None = None, **fields: object) -> Step:
    return Step.model_validate({"id": name, "objective": "o", "parent": parent, **fields})


REFINED = Plan(
    steps=(
        part("first"),
        part("work_1", "work"),
        part("work_2_1", "work_2"),
        part("work_2", "work", gather="{work_2_1_result}"),
        part("work", gather=["{work_1_result}", "{work_2_result}"]),
    )
)


def test_parts_of_a_step_are_indented() -> None:
    assert plan_text(REFINED).splitlines() == [
        "●    first         o                    model",
        "●      work_1      o                    model",
        "│ ●      work_2_1  o                    model",
        "│ ●    work_2      o  ← work_2_1        gather {work_2_1_result}",
        '●─╯  work          o  ← work_1, work_2  gather ["{work_1_result}", "{work_2_result}"]',
    ]


def test_parts_of_a_step_stand_in_its_box() -> None:
    assert [line.strip() for line in plan_mermaid(REFINED).splitlines()[1:10]] == [
        's1("first<br/>model<br/>o")',
        'subgraph s5_parts["work"]',
        's2("work_1<br/>model<br/>o")',
        'subgraph s4_parts["work_2"]',
        's3("work_2_1<br/>model<br/>o")',
        r's4[\"work_2<br/>gather<br/>o"/]',
        "end",
        r's5[\"work<br/>gather<br/>o"/]',
        "end",
    ]


def test_parts_of_a_step_say_so_in_the_picture() -> None:
    svg = plan_svg(REFINED)

    assert svg.count(">part of work</text>") == 2 and svg.count(">part of work_2</text>") == 1
    assert "work_2_1 (model, part of work_2): o" in svg


def test_steps_that_are_made_of_each_other_lie_in_none() -> None:
    circle = Plan(steps=(part("a", "b"), part("b", "a"), part("c", "a"), part("d", "d"), part("e", "gone")))

    assert depths(circle) == {"a": 0, "b": 0, "c": 1, "d": 0, "e": 0}


@given(st.lists(st.integers(-1, 9), min_size=1, max_size=10))
def test_no_step_is_lost_whatever_it_is_said_to_be_a_part_of(parents: list[int]) -> None:
    plan = Plan(steps=tuple(part(f"s{n}", f"s{of}" if of >= 0 else None) for n, of in enumerate(parents)))

    lines = plan_mermaid(plan).splitlines()

    assert sum('<br/>model<br/>o"' in line for line in lines) == len(parents)
    assert sum("subgraph" in line for line in lines) == sum(line.strip() == "end" for line in lines)
    assert all(f"s{n}" in plan_text(plan) for n in range(len(parents)))
    ElementTree.fromstring(plan_svg(plan))
