"""Runs read from the ledger."""

from graph.runs.lists import Log, RunPage
from graph.runs.run import Run
from graph.runs.runs import Runs, open_runs

__all__ = ["Log", "Run", "RunPage", "Runs", "open_runs"]
