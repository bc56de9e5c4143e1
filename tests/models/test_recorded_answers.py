"""Answers of models to prompts of earlier days: they are read as they are, whatever the prompts say today.

`answers.json` has those of a strong model to the requests for plans of a trial, with the tools that it was offered.
"""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from planner_executor.graph.chat_models.json_text import plans_in
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.fragments import PlanShape
from planner_executor.graph.plan.json_schema import plan_schema, revision_schema
from planner_executor.graph.plan.reading import ParsedPlan, finish, read_plan, read_steps
from planner_executor.graph.plan.revision import read_revision
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.plan.validation import graph_issues

RECORDED = json.loads((Path(__file__).parent / "answers.json").read_text())
TOOLS = {name: ToolSpec(name, name, **tool) for name, tool in RECORDED["tools"].items()}
FAULTS = {("g14", 58): 10, ("g14", 62): 2}
"""Those of the plan as a weaker model writes it, and of its first repair."""


def read(recorded: dict[str, Any]) -> ParsedPlan:
    (piece,) = plans_in(recorded["answer"], PlanShape(frozenset(TOOLS)))
    if "plan" in recorded:
        reader = partial(read_revision, current=Plan(**recorded["plan"]), succeeded=recorded["succeeded"], tools=TOOLS)
        return reader(piece.value)
    if "refines" in recorded:
        drafts, issues = read_steps(piece.value.get("steps"), TOOLS, 100)
        answer = piece.value.get("answer")
        issues += graph_issues(drafts, answer, frozenset(recorded["refines"]))
        return finish(drafts, answer, issues)
    return read_plan(piece.value, TOOLS)


@pytest.mark.parametrize("recorded", RECORDED["answers"], ids=lambda one: f"{one['case']}-{one['n']}")
def test_an_answer_of_the_trial_is_read_as_it_is(recorded: dict[str, Any]) -> None:
    parsed = read(recorded)

    assert len(parsed.issues) == FAULTS.get((recorded["case"], recorded["n"]), 0), parsed.issues


@pytest.mark.parametrize("recorded", RECORDED["answers"], ids=lambda one: f"{one['case']}-{one['n']}")
def test_a_plan_of_the_trial_fits_the_schema_that_a_server_may_enforce(recorded: dict[str, Any]) -> None:
    (piece,) = plans_in(recorded["answer"], PlanShape(frozenset(TOOLS)))
    schema = (revision_schema if "plan" in recorded else plan_schema)(tuple(TOOLS.values()))
    value = {"steps": [], **piece.value}

    fits = Draft202012Validator(schema).is_valid(value)

    assert fits == (recorded["n"] != 58), "its other faults are those of references"
