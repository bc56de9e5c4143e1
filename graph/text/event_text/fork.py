"""The text of the events of a fork: its source, and inherited results and calls."""

from planner_executor.graph.record.events import CallInherited, Inherited, RunForked
from planner_executor.graph.text.event_text.sections import Words
from planner_executor.graph.text.event_text.values import arguments_text, outcome_text


def run_forked(data: RunForked) -> Words:
    """Say of which run it is a fork, and what it does anew."""
    yield f"forked from {data.source}"
    yield f"done anew: {', '.join(data.again)}"


def inherited(step: str, data: Inherited) -> Words:
    """Say which result the step has of the forked run."""
    yield f"{step} has its result of {data.source}: {outcome_text(data.result)}"


def call_inherited(step: str, data: CallInherited) -> Words:
    """Say which call the step made in the forked run."""
    yield f"{step} called {data.tool} in {data.source} with {arguments_text(data.args)}"
    yield f"the call was {'made' if data.happened else 'begun, and may have happened'}"
