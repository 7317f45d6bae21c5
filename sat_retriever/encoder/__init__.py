"""Turn texts into tokens: the Sheet Encoder, its sources, its export and its folder."""

from sat_retriever.encoder.sheet import SheetEncoder
from sat_retriever.encoder.source import DEFAULT, MINILM

__all__ = ["DEFAULT", "MINILM", "SheetEncoder"]
