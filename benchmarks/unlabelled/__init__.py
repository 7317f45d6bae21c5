"""Ranking without labels: untrained, general and adapted models."""
