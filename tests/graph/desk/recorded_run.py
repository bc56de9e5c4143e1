"""A run as the desk reads it, from events that a test names."""

from planner_executor.graph.desk.records import ShownRun
from planner_executor.graph.record.events import Draft, Event
from planner_executor.graph.record.projection import project
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.runs.run import run_of


def recorded(*drafts: Draft, executing: bool = False) -> ShownRun:
    """Return the run of these events, one a second."""
    events = tuple(Event.written(place, float(place), draft) for place, draft in enumerate(drafts, 1))
    record = project(events)
    return ShownRun(RunKey("t", 1), run_of(record, executing), events, record, executing)
