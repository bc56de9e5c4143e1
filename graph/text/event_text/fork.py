"""The text of the events of a fork: its source, and inherited results and calls."""

from typing import assert_never

from planner_executor.graph.record.events import CallInherited, Inherited, RunForked
from planner_executor.graph.text.event_text.sections import SECTIONS, Formatted
from planner_executor.graph.text.event_text.values import arguments_text, outcome_text

ForkEvent = RunForked | Inherited | CallInherited


def format_fork(data: ForkEvent, step: str) -> Formatted:
    """Return the sections and the text of an event of a fork."""
    match data:
        case RunForked():
            return SECTIONS, iter([f"forked from {data.source}", f"done anew: {', '.join(data.again)}"])
        case Inherited():
            return ("steps",), iter([f"{step} has its result of {data.source}: {outcome_text(data.result)}"])
        case CallInherited():
            made = "made" if data.happened else "begun, and may have happened"
            words = f"{step} called {data.tool} in {data.source} with {arguments_text(data.args)}"
            return ("steps", "decisions"), iter([words, f"the call was {made}"])
        case _:
            assert_never(data)
