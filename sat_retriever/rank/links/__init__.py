"""Rerank by links between sheets, without training."""

from sat_retriever.rank.links.linkrank import LinkOrder, LinkReranker
from sat_retriever.rank.links.pulls import LinkSettings

__all__ = ["LinkOrder", "LinkReranker", "LinkSettings"]
