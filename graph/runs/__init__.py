"""The runs of a ledger: finding, listing, reading and changing them without a graph."""

from graph.runs.lists import Log, RunPage
from graph.runs.run import Run
from graph.runs.runs import Runs, open_runs

__all__ = ["Log", "Run", "RunPage", "Runs", "open_runs"]
