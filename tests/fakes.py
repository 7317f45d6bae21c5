"""Hand-written stand-ins whose results can be computed by hand."""

from __future__ import annotations

import asyncio
import re
import threading
import zlib
from collections.abc import Awaitable, Sequence
from typing import TypeVar

import numpy as np

from sat_retriever.records.tokens import FloatArray

T = TypeVar("T")


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


class HeldEncoder(HashedEncoder):
    """An encoder that waits until the event loop lets it go on.

    Work that runs on the event loop itself holds up the only one who could let it go on: it
    fails, on a machine of any speed.
    """

    def __init__(self, width: int = 64, name: str = "held") -> None:
        super().__init__(width, name)
        self._asked, self._let_go = threading.Event(), threading.Event()

    def encode_sheets(self, texts: Sequence[str]) -> FloatArray:
        """Tokens of the hashed encoder, as soon as they are let go.

        Raises:
            AssertionError: If the event loop did not run for 30 seconds.
        """
        self._asked.set()
        assert self._let_go.wait(30), "the event loop stood still while texts were encoded"
        return super().encode_sheets(texts)

    async def beside(self, work: Awaitable[T]) -> T:
        """What the work gives; the encoder is let go when it was asked."""
        task = asyncio.ensure_future(work)
        while not (self._asked.is_set() or task.done()):
            await asyncio.sleep(0.001)
        assert not task.done(), "the work did not wait for the encoder"
        self._let_go.set()
        return await task
