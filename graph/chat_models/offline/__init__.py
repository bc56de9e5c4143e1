"""The embedded model: rules that plan arithmetic, and cited briefs over a folder of documents."""

from graph.chat_models.offline.model import OfflineModel

__all__ = ["OfflineModel"]
