"""Labelled queries made from facts about sheets; every relevant sheet is known."""
