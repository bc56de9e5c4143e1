"""The embedded model: rules that plan arithmetic, cited briefs over documents, and audits of failing services."""

from planner_executor.graph.chat_models.offline.model import OfflineModel

__all__ = ["OfflineModel"]
