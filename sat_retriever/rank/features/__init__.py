"""Rerank by features of a candidate list, with a small trained model and a guard."""
