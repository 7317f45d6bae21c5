"""Questions that need several linked sheets: does a graph find what its rivals miss?"""
