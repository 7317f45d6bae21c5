"""Typed links between sheets, with the evidence for each."""
