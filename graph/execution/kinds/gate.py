"""A gate waits until a person lets the run pass in the review."""

from graph.execution.kinds.start import waits_for

START = waits_for("for a person")
