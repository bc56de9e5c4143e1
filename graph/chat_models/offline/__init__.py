"""The embedded model: rules that plan arithmetic, cited briefs over a folder of documents, and audits."""

from graph.chat_models.offline.model import OfflineModel

__all__ = ["OfflineModel"]
