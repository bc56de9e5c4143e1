"""A run watched in a cell of a notebook, until it stands still."""

from collections.abc import Awaitable, Callable

from planner_executor.graph.runs.run import Run
from planner_executor.graph.text.html import scrolled
from planner_executor.graph.text.table import Bundle
from planner_executor.graph.text.timeline import timeline_svg

PAUSE_S = 0.5
"""Seconds between two looks, at least."""
SHARE = 10
"""A look that takes long, as of a large plan, is followed by so many times its length without one."""
STILL = 4
"""Looks after which a run that waits or is paused counts as left by whoever decided or resumed."""


async def watch_until_still(
    look: Callable[[], Awaitable[Run]],
    draw: Callable[[Bundle], None],
    clock: Callable[[], float],
    sleep: Callable[[float], Awaitable[None]],
) -> None:
    """Draw a run at each look that finds another picture, until it has ended, or waits or is paused and stays so."""
    shown: Bundle = {}
    still = 0
    while True:
        began = clock()
        run = await look()
        now = picture(run)
        if now != shown:
            draw(now)
        is_worked_on = run.status in ("running", "planning")
        # A run that waits may go on by another process, so it is looked at a few times more.
        still = 0 if is_worked_on or now != shown else still + 1
        if run.ended or still >= STILL:
            return
        shown = now
        # At most a share of the time goes into drawing: a large plan is drawn less often.
        await sleep(max(PAUSE_S, SHARE * (clock() - began)))


def picture(run: Run) -> Bundle:
    """Return the run as a notebook shows it, with the times of its steps below."""
    shown = run._repr_mimebundle_()
    return {**shown, "text/html": shown["text/html"] + scrolled(timeline_svg(run.step_status, run.results))}
