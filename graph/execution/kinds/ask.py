"""A question waits until the review has its answer."""

from planner_executor.graph.execution.kinds.start import waits_for

START = waits_for("for an answer", needs_person=True)
