import sys
from typing import Any

import pytest

from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.text.drawing.svg import plan_svg
from planner_executor.graph.text.drawing.text import plan_text
from planner_executor.graph.text.html import scrolled
from planner_executor.graph.text.notebook import changing_picture_with, draw_plans, draw_plans_with

PLAN = Plan(steps=(Step(id="a", objective="look", tool="look"), Step(id="b", objective="sum up", depends_on=("a",))))


def test_a_notebook_shows_a_plan_as_a_picture_and_as_text() -> None:
    from IPython.core.formatters import DisplayFormatter

    display = DisplayFormatter()

    draw_plans_with(display)

    shown, _ = display.format(PLAN)
    assert shown.pop("text/html") == scrolled(plan_svg(PLAN))
    assert shown == {"image/svg+xml": plan_svg(PLAN), "text/plain": plan_text(PLAN)}


def test_without_a_notebook_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "IPython", raising=False)

    draw_plans()

    assert "IPython" not in sys.modules


class Published:
    """Stands for IPython's `DisplayPublisher`."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    def publish(self, **call: Any) -> None:
        self.calls.append(call)


def test_a_picture_that_changes_stays_in_its_place_and_another_one_has_its_own() -> None:
    published = Published()
    first, second = changing_picture_with(published, "one"), changing_picture_with(published, "two")

    for draw, text in ((first, "a"), (second, "b"), (first, "c")):
        draw({"text/plain": text})

    a, b, c = published.calls
    assert [call["data"]["text/plain"] for call in (a, b, c)] == ["a", "b", "c"]
    assert [call["update"] for call in (a, b, c)] == [False, False, True]
    assert [call["transient"]["display_id"] for call in (a, b, c)] == ["one", "two", "one"]
