"""Playbooks: plans kept as files, with typed parameters, that run again without a model (decision 154)."""

from planner_executor.graph.playbooks.playbook import Playbook

__all__ = ["Playbook"]
