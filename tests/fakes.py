"""Hand-written stand-ins whose results can be computed by hand."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import numpy as np

from sat_retriever.records.tokens import FloatArray


class HashedEncoder:
    """Hashed bag of words: the cosine of two texts is their word overlap.

    A text's token counts its lower-cased words (letters and digits; "_" separates) in
    bucket `zlib.crc32(word) % width`, divided by its length. Without collisions the
    cosine of two texts of distinct words is `shared / sqrt(words_a * words_b)`. A text
    without a word counts the empty word once, so that every row has unit length.

    >>> encoder = HashedEncoder(width=64)
    >>> query = encoder.encode_queries(["red apple"])
    >>> sheets = encoder.encode_sheets(["red apple", "red car", "blue sky"])
    >>> (sheets @ query[0]).round(2).tolist()
    [1.0, 0.5, 0.0]
    """

    def __init__(self, width: int = 64, name: str = "hashed") -> None:
        self.width = width
        self.name = name

    @property
    def fingerprint(self) -> str:
        """Identity: the name and the width, which decide every token."""
        return f"{self.name}-{self.width}"

    def encode_sheets(self, texts: Sequence[str]) -> FloatArray:
        """Tokens of sheet texts, (n, width) float32, rows of unit length."""
        tokens = np.zeros((len(texts), self.width), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"[^\W_]+", text.lower()) or [""]:
                tokens[row, zlib.crc32(word.encode("utf-8")) % self.width] += 1
        return tokens / np.linalg.norm(tokens, axis=1, keepdims=True).clip(min=1e-12)

    def encode_queries(self, texts: Sequence[str]) -> FloatArray:
        """Tokens of queries: the same as of sheets, without a prefix."""
        return self.encode_sheets(texts)


class CountingEncoder(HashedEncoder):
    """A `HashedEncoder` that notes the queries it encodes, in `asked`."""

    def __init__(self, width: int = 64) -> None:
        super().__init__(width)
        self.asked: list[str] = []

    def encode_queries(self, texts: Sequence[str]) -> FloatArray:
        """Tokens of queries, each noted."""
        self.asked += texts
        return super().encode_queries(texts)
