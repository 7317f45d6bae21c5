"""Measure links: what they gain, how many are right, and how they scale."""
