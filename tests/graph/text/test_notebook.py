import sys

import pytest

from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.text.drawing import plan_svg, plan_text
from planner_executor.graph.text.html import scrolled
from planner_executor.graph.text.notebook import draw_plans, draw_plans_with

PLAN = Plan(steps=(Step(id="a", objective="look", tool="look"), Step(id="b", objective="sum up", depends_on=("a",))))


def test_a_notebook_shows_a_plan_as_a_picture_and_as_text() -> None:
    formatters = pytest.importorskip("IPython.core.formatters", reason="IPython is not installed")
    display = formatters.DisplayFormatter()

    draw_plans_with(display)

    shown, _ = display.format(PLAN)
    assert shown.pop("text/html") == scrolled(plan_svg(PLAN))
    assert shown == {"image/svg+xml": plan_svg(PLAN), "text/plain": plan_text(PLAN)}


def test_without_a_notebook_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "IPython", raising=False)

    draw_plans()

    assert "IPython" not in sys.modules
