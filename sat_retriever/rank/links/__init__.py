"""Rerank by links between sheets, without training."""
