"""Display in notebooks: of plans, registered so that `graph.plan` does not depend on drawings, and of what changes."""

import sys
from collections.abc import Callable
from typing import Any

from planner_executor.graph.errors import ConfigError
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.text.table import Bundle


def draw_plans() -> None:
    """Register the drawing of plans in this process's notebook; without a notebook, do nothing."""
    shell = _shell()
    if shell is not None:
        draw_plans_with(shell.display_formatter)


def draw_plans_with(display: Any) -> None:
    """Have an IPython `DisplayFormatter` draw each plan that is shown."""
    from planner_executor.graph.text.drawing.svg import plan_svg  # most agents are opened in no notebook
    from planner_executor.graph.text.drawing.text import plan_text
    from planner_executor.graph.text.html import scrolled

    display.formatters.get("text/html").for_type(Plan, lambda plan: scrolled(plan_svg(plan)))
    display.formatters.get("image/svg+xml").for_type(Plan, plan_svg)
    display.formatters.get("text/plain").for_type(Plan, lambda plan, printer, _: printer.text(plan_text(plan)))


def changing_picture(place: str) -> Callable[[Bundle], None]:
    """Return what draws in the cell that runs, each time over the picture before; `place` is a name for it alone.

    Raises:
        ConfigError: This is no notebook.
    """
    shell = _shell()
    if shell is None or not hasattr(shell, "kernel"):
        instead = "pass on_progress=print to start or resume, or look with show"
        raise ConfigError(f"watch draws in a notebook, and this is none; {instead}")
    return changing_picture_with(shell.display_pub, place)


def changing_picture_with(publisher: Any, place: str) -> Callable[[Bundle], None]:
    """Return the same, by an IPython `DisplayPublisher`."""
    drawn = False

    def draw(bundle: Bundle) -> None:
        nonlocal drawn
        publisher.publish(data=bundle, transient={"display_id": place}, update=drawn)
        drawn = True

    return draw


# Only if something else has imported it: it is slow to import, and most programs are no notebook.
def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None
