"""Every kind of step is whole: it has a specification, words, a look, and a way to start."""

from typing import get_args

import pytest

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.kinds.spec import Icon, Shape
from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.reading import read_plan
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.plan.step_kind import KINDS, NAMING, StepKind
from planner_executor.graph.prompts.planner import FORMAT
from planner_executor.graph.text.drawing.icons import ICONS
from planner_executor.graph.text.drawing.mermaid import SHAPES

SEARCH = ToolSpec("search", "finds", {"type": "object", "properties": {"query": {"type": "string"}}}, effect="read")
STEPS: dict[StepKind, dict[str, object]] = {
    "tool": {"tool": "search", "args": {"query": "wind"}},
    "model": {"tools": ["search"]},
    "ask": {"ask": "Which city?"},
    "gate": {"gate": "Is it good?"},
    "refine": {"refine": True, "tools": ["search"]},
    "gather": {"gather": [1, 2]},
}


def step_of(kind: StepKind) -> Step:
    return Step.model_validate({"id": "a", "objective": "o", **STEPS[kind]})


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_of_every_kind_is_read_as_that_kind(kind: StepKind) -> None:
    reading = read_plan({"steps": [{"id": "a", "objective": "o", **STEPS[kind]}]}, {"search": SEARCH})

    assert reading.plan is not None and reading.plan.steps[0].kind == kind


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_words_for_drawings_and_the_audit(kind: StepKind) -> None:
    spec, step = kind_spec(kind), step_of(kind)

    assert spec.doer(step, str) and spec.work(step.to_json(), str) and spec.calls(step, str)
    assert spec.look(step).role


def test_no_two_kinds_do_the_same_work_in_the_audit() -> None:
    work = {kind_spec(kind).work(step_of(kind).to_json(), str) for kind in KINDS}

    assert len(work) == len(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_planners_are_told_of_every_kind(kind: StepKind) -> None:
    prompt = kind_spec(kind).prompt

    assert " ".join((prompt or ("tools" if kind == "model" else kind)).split()) in " ".join(FORMAT.split())


def test_every_icon_and_every_shape_is_drawn() -> None:
    assert set(ICONS) == set(get_args(Icon)) and set(SHAPES) == set(get_args(Shape))


def test_every_kind_that_a_field_names_has_that_field() -> None:
    assert set(NAMING) <= set(Step.model_fields)
