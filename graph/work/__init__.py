"""Workers: any number of processes that continue the runs nobody owns, each run once (decision 0065)."""

from planner_executor.graph.work.report import Report
from planner_executor.graph.work.worker import Worker

__all__ = ["Report", "Worker"]
