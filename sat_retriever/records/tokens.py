"""Tokens, and the protocol of the encoders that make them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]


class Encoder(Protocol):
    """An encoder of texts as tokens: the Sheet Encoder, or a test double of the same shape."""

    @property
    def fingerprint(self) -> str:
        """Identity of weights, tokenizer, pooling, prefix and precision."""
        ...

    @property
    def name(self) -> str:
        """Name or folder that loads the same encoder again."""
        ...

    @property
    def width(self) -> int:
        """Token width d."""
        ...

    def encode_sheets(self, texts: Sequence[str]) -> FloatArray:
        """Tokens of sheet texts, (n, d) float32, rows of unit length."""
        ...

    def encode_queries(self, texts: Sequence[str]) -> FloatArray:
        """Tokens of queries, (n, d) float32, rows of unit length."""
        ...
