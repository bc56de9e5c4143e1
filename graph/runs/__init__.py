"""The runs of a ledger: finding, listing, reading and changing them without a graph."""

from planner_executor.graph.runs.lists import Log, RunPage
from planner_executor.graph.runs.run import Run
from planner_executor.graph.runs.runs import Runs, open_runs

__all__ = ["Log", "Run", "RunPage", "Runs", "open_runs"]
