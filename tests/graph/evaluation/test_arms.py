from pathlib import Path
from typing import Any

import pytest

from planner_executor.graph.chat_models.roles import role_models
from planner_executor.graph.errors import SuiteError
from planner_executor.graph.evaluation.arms import arm_setups, for_any_plan
from planner_executor.graph.evaluation.suite import Arm, Case, Suite
from planner_executor.graph.playbooks.case import Answer
from planner_executor.graph.playbooks.case import Case as RecordedCase
from planner_executor.graph.testing import ScriptedModel


def suite(**more: Any) -> Suite:
    case = Case(id="a", goal="a", checks=({"non_empty": True},))
    return Suite(name="sums", folder=Path("nowhere"), cases=(case,), **more)


def test_the_embedded_rules_cannot_play_the_direct_agent() -> None:
    assert list(arm_setups(suite(), role_models({"planner": "offline"}), {})) == ["static", "replanning"]
    scripted = role_models({"planner": ScriptedModel([])})
    assert list(arm_setups(suite(), scripted, {})) == ["direct", "static", "replanning"]
    with pytest.raises(SuiteError, match="no arm can be tried"):
        arm_setups(suite(arms={"direct": {}}), role_models({"planner": "offline"}), {})


def test_an_arm_may_have_a_planner_of_its_own_and_is_revised_unless_it_says_otherwise() -> None:
    arms = {"mine": {}, "other": {"planner": "offline"}, "static": {}}

    found = arm_setups(suite(arms=arms), role_models({"planner": ScriptedModel([])}), {})

    assert [arm.kind for arm in found.values()] == ["replanning", "replanning", "static"]
    assert [arm.models.planner.name for arm in found.values()] == ["scripted", "offline", "scripted"]


def test_an_arm_that_knows_no_playbook_of_its_folder_is_refused() -> None:
    arms = {"with": Arm(kind="static", playbooks="kept")}

    with pytest.raises(SuiteError, match=r"arms\.with\.playbooks: no playbook in .*kept"):
        arm_setups(suite(arms=arms), role_models({"planner": "offline"}), {})


def test_answers_for_any_plan_are_those_without_a_step_or_the_only_one_of_their_tool() -> None:
    case = RecordedCase(
        answers=(
            Answer(step="find", call=1, tool="find", answer="wind"),
            Answer(step="send", tool="send", answer="to Ana"),
            Answer(tool="send", answer="sent"),
            Answer(step="ask", answer="a person's"),
        )
    )

    found = for_any_plan(case)

    assert found.answers == (Answer(tool="find", answer="wind"), Answer(tool="send", answer="sent"))
    with pytest.raises(ValueError, match="find has 2 answers"):
        for_any_plan(RecordedCase(answers=(*case.answers, Answer(step="again", tool="find"))))
