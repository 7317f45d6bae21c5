"""Split texts into word pieces, the same for a model in training and its exported copy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sat_retriever.encoder.spec import EncoderSpec
from sat_retriever.errors import EncoderError

if TYPE_CHECKING:
    from tokenizers import Tokenizer


class WordPieces:
    """A tokenizer with the rules of one encoder; may be shared between threads."""

    def __init__(self, tokenizer: Tokenizer, spec: EncoderSpec) -> None:
        """Take finished parts; use `open` to get them."""
        self._tokenizer = tokenizer
        self._spec = spec

    @classmethod
    def open(cls, file: Path, spec: EncoderSpec) -> WordPieces:
        """Open a `tokenizer.json` that cuts at the maximum length, without padding.

        Raises:
            EncoderError: If the file is not a usable tokenizer.
        """
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(str(file))
            tokenizer.no_padding()
            tokenizer.enable_truncation(spec.max_length)
        except Exception as error:  # tokenizers raises nothing more specific
            raise EncoderError(f"{file} is no usable tokenizer ({error})") from error
        return cls(tokenizer, spec)

    def of(self, text: str) -> list[int]:
        """Return the word pieces of one text with special ones, cut at the maximum length."""
        if self._spec.lowercase:
            text = text.lower()
        # A lone surrogate (from a file name that is no UTF-8) cannot be split.
        text = text.encode("utf-8", "replace").decode("utf-8")
        # One by one on purpose: encode_batch starts threads that a later fork complains about.
        ids: list[int] = self._tokenizer.encode(text).ids
        return ids

    def padded(
        self, pieces: Sequence[Sequence[int]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the word pieces of b texts, padded to the longest, t, and a mask of 1 for pieces.

        Returns:
            Two arrays (b, t).
        """
        length = max(map(len, pieces))
        ids = np.full((len(pieces), length), self._spec.pad_id, dtype=np.int64)  # (b, t)
        mask = np.zeros((len(pieces), length), dtype=np.int64)
        for row, piece in enumerate(pieces):
            ids[row, : len(piece)] = piece
            mask[row, : len(piece)] = 1
        return ids, mask
