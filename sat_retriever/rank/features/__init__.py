"""Rerank by features of a candidate list, with a small trained model and a guard."""

from sat_retriever.rank.features.featurerank import FeatureReranker

__all__ = ["FeatureReranker"]
