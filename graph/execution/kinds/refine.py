"""A refine step waits until the replanner node has expanded it."""

from planner_executor.graph.execution.kinds.start import waits_for

START = waits_for("to be refined", needs_person=False)
