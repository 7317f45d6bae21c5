"""Fabricate a source and a target table from one table, as data for matchers."""

from sat_retriever.synth.fabricate.pair import Fabricated, fabricated, fabricated_unit
from sat_retriever.synth.fabricate.split import PAPER, FabricateOptions

__all__ = ["PAPER", "FabricateOptions", "Fabricated", "fabricated", "fabricated_unit"]
