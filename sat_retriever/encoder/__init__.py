"""Turn texts into tokens: the Sheet Encoder, its sources, its export and its folder.

Embedding models of other people, on a server or in an object of a framework, do the same.
"""

from sat_retriever.encoder.embedding import EmbeddingEncoder
from sat_retriever.encoder.sheet import SheetEncoder
from sat_retriever.encoder.source import DEFAULT, MINILM

__all__ = ["DEFAULT", "MINILM", "EmbeddingEncoder", "SheetEncoder"]
