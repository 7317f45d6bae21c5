"""The protocol of embedding models of other people, and the check of their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sat_retriever.errors import EncoderError
from sat_retriever.records.tokens import FloatArray

Vectors = Sequence[Sequence[float]]


@dataclass(frozen=True, slots=True)
class Embedded:
    """The answer to one request.

    Attributes:
        vectors: One vector a text, as they came.
        tokens: Tokens of the texts as the server counted them; None if it does not count.
    """

    vectors: Vectors
    tokens: int | None = None


class Embedder(Protocol):
    """An embedding model that runs elsewhere: on a server, or in an object of a framework."""

    @property
    def name(self) -> str:
        """Name in an index, with the kind of the model before the first colon."""
        ...

    @property
    def identity(self) -> str:
        """All that is known to decide its vectors; equal texts mean the same model."""
        ...

    @property
    def place(self) -> str:
        """Where the texts are sent, in words."""
        ...

    def embed_sheets(self, texts: Sequence[str]) -> Embedded:
        """Return the vectors of sheet texts.

        Raises:
            EncoderUnavailableError: If another try may help.
            EncoderError: If it fails otherwise.
        """
        ...

    def embed_queries(self, texts: Sequence[str]) -> Embedded:
        """Return the vectors of queries.

        Raises:
            EncoderUnavailableError: If another try may help.
            EncoderError: If it fails otherwise.
        """
        ...


def unit_rows(vectors: Vectors, texts: int, width: int | None, name: str) -> FloatArray:
    """Return vectors as tokens, (n, d) float32, rows of unit length.

    >>> unit_rows([[3.0, 0.0], [0.0, 4.0]], 2, 2, "a model").tolist()
    [[1.0, 0.0], [0.0, 1.0]]

    Args:
        vectors: The vectors as they came.
        texts: The number n of texts that were sent.
        width: The width d of its earlier vectors; None for the first ones.
        name: Name of the model, for messages.

    Raises:
        EncoderError: If they are not n vectors of one width, or one of them has no direction.
    """
    try:
        rows = np.asarray(vectors, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise EncoderError(
            f"{name} gave no vectors of numbers of one width ({error!s:.80}); choose an embedding "
            "model"
        ) from error
    if len(rows) != texts or rows.ndim != 2 or not rows.shape[1]:
        raise EncoderError(
            f"{name} gave an array of shape {rows.shape} for {texts} texts; choose an embedding "
            "model, which gives one vector for each text"
        )
    if width not in (None, rows.shape[1]):
        raise EncoderError(
            f"{name} gave vectors of width {rows.shape[1]}, but {width} before; its model may have "
            "changed meanwhile: start again"
        )
    lengths = np.linalg.norm(rows, axis=1)
    wrong = np.flatnonzero(~((lengths > 0) & np.isfinite(lengths)))
    if len(wrong):
        row = int(wrong[0])
        kind = "a vector of zeros" if lengths[row] == 0 else "a vector that is not finite"
        raise EncoderError(
            f"{name} gave {kind} for text {row + 1} of {texts}, which has no direction; choose "
            "another model"
        )
    tokens: FloatArray = (rows / lengths[:, None]).astype(np.float32)
    return tokens
