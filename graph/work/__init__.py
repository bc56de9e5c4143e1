"""Workers: any number of processes that continue the runs nobody owns, each run once (decision 0065)."""

from graph.work.report import Report
from graph.work.worker import Worker

__all__ = ["Report", "Worker"]
