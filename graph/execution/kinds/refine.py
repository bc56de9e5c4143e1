"""A step to refine waits until the replanner node has made steps of it."""

from graph.execution.kinds.start import waits_for

START = waits_for("to be refined")
