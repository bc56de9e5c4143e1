"""Display of plans in notebooks, registered from outside so that `graph.plan` does not depend on drawings."""

import sys
from typing import Any

from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.text.drawing import plan_svg, plan_text
from planner_executor.graph.text.html import scrolled


def draw_plans() -> None:
    """Register the drawing of plans in this process's notebook; without a notebook, do nothing."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is not None:
        draw_plans_with(shell.display_formatter)


def draw_plans_with(display: Any) -> None:
    """Have an IPython `DisplayFormatter` draw each plan that is shown."""
    display.formatters.get("text/html").for_type(Plan, lambda plan: scrolled(plan_svg(plan)))
    display.formatters.get("image/svg+xml").for_type(Plan, plan_svg)
    display.formatters.get("text/plain").for_type(Plan, lambda plan, printer, _: printer.text(plan_text(plan)))
