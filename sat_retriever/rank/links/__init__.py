"""Stage 2 without training: links between sheets used to rank them."""

from sat_retriever.rank.links.complete import complete_set
from sat_retriever.rank.links.rerank import LinkReranker
from sat_retriever.rank.links.settings import LinkSettings

__all__ = ["LinkReranker", "LinkSettings", "complete_set"]
