"""The Cross-Encoder: query and sheet read together, one logit a pair."""

from sat_retriever.rank.pairs.model import CrossEncoder
from sat_retriever.rank.pairs.pairrank import CrossEncoderReranker
from sat_retriever.rank.pairs.spec import PairSpec

__all__ = ["CrossEncoder", "CrossEncoderReranker", "PairSpec"]
