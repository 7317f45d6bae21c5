"""Stage 2 without training: links between sheets used to rank them."""

from sat_retriever.linkrank.complete import complete_set
from sat_retriever.linkrank.rerank import LinkReranker
from sat_retriever.linkrank.settings import LinkSettings

__all__ = ["LinkReranker", "LinkSettings", "complete_set"]
