"""Labelled queries made from what is known about sheets."""
