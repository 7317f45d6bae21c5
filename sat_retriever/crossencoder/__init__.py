"""The Cross-Encoder: query and sheet read together, one logit a pair."""

from sat_retriever.crossencoder.model import CrossEncoder
from sat_retriever.crossencoder.rerank import CrossEncoderReranker
from sat_retriever.crossencoder.spec import PairSpec

__all__ = ["CrossEncoder", "CrossEncoderReranker", "PairSpec"]
