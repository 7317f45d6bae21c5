"""Adapt a retriever to one corpus with questions that are made from the corpus itself."""
