"""Trainings that the paper's tables compare: planned, run step by step, scored."""
