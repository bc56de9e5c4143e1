"""A gate waits for a person's consent in the review."""

from planner_executor.graph.execution.kinds.start import waits_for

START = waits_for("for a person", needs_person=True)
