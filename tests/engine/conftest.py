"""The graph of the trial is loaded by the servers alone, in an environment that the trial makes."""

collect_ignore = ["trial_graph.py"]
