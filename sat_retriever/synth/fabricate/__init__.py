"""Source and target tables from one: what a matcher would have to find out again."""

from sat_retriever.synth.fabricate.options import PAPER, FabricateOptions
from sat_retriever.synth.fabricate.pair import Fabricated, fabricated, fabricated_unit

__all__ = ["PAPER", "FabricateOptions", "Fabricated", "fabricated", "fabricated_unit"]
