"""Stage 2 without training: links between sheets rank them."""

from sat_retriever.rank.links.linkrank import LinkReranker
from sat_retriever.rank.links.settings import LinkSettings

__all__ = ["LinkReranker", "LinkSettings"]
