"""Rerank with a Cross-Encoder: it reads query and sheet together, one logit per pair."""

from sat_retriever.rank.pairs.model import CrossEncoder
from sat_retriever.rank.pairs.pairrank import CrossEncoderReranker
from sat_retriever.rank.pairs.spec import PairSpec

__all__ = ["CrossEncoder", "CrossEncoderReranker", "PairSpec"]
