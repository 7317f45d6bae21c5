"""The protocol of external embedding models: their vectors, their cost and their probe.

The probe tells by the vectors of fixed texts whether a model is the one of an earlier time. A
server's vectors differ in their last bits between machines and versions, so they are compared by
their cosine and never by a hash.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sat_retriever.errors import EncoderError
from sat_retriever.records.tokens import FloatArray


@dataclass(frozen=True, slots=True)
class Cost:
    """The work of an encoder that runs elsewhere: a server, or an object of a framework."""

    texts: int = 0  # number of encoded texts: names and contents of sheets, and questions
    characters: int = 0
    tokens: int | None = None  # tokens that the server counted; None if it does not count
    seconds: float = 0.0  # time spent waiting for it, pauses between tries included
    retries: int = 0

    @property
    def texts_per_second(self) -> float:
        """Speed so far; 0 before the first text.

        >>> Cost(texts=30, seconds=4.0).texts_per_second
        7.5
        """
        return self.texts / self.seconds if self.seconds else 0.0

    def __add__(self, other: Cost) -> Cost:
        """Return the work of both; tokens are known if either was counted."""
        counted = [cost.tokens for cost in (self, other) if cost.tokens is not None]
        return Cost(
            self.texts + other.texts,
            self.characters + other.characters,
            sum(counted) if counted else None,
            self.seconds + other.seconds,
            self.retries + other.retries,
        )

    def since(self, earlier: Cost) -> Cost:
        """Return the work after an earlier state of the same count.

        >>> Cost(9, 90, 30).since(Cost(4, 40, 10))
        Cost(texts=5, characters=50, tokens=20, seconds=0.0, retries=0)
        """
        return Cost(
            self.texts - earlier.texts,
            self.characters - earlier.characters,
            None if self.tokens is None else self.tokens - (earlier.tokens or 0),
            self.seconds - earlier.seconds,
            self.retries - earlier.retries,
        )


Vectors = Sequence[Sequence[float]]


@dataclass(frozen=True, slots=True)
class Embedded:
    """The answer to one request."""

    vectors: Vectors
    # Tokens of the texts as the server counted them; None if it does not count.
    tokens: int | None = None


class Embedder(Protocol):
    """An embedding model that runs elsewhere: on a server, or in an object of a framework."""

    @property
    def name(self) -> str:
        """Name in an index, with the kind of the model before the first colon."""
        ...

    @property
    def identity(self) -> str:
        """The known facts that decide its vectors; equal texts mean the same model."""
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
        """Return the vectors of queries."""
        ...


def unit_rows(vectors: Vectors, texts: int, width: int | None, name: str) -> FloatArray:
    """Return the vectors of n texts as tokens, (n, d) float32, rows of unit length.

    `width` is that of earlier vectors; None for the first ones.

    >>> unit_rows([[3.0, 0.0], [0.0, 4.0]], 2, 2, "a model").tolist()
    [[1.0, 0.0], [0.0, 1.0]]

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


SHEET = "name: Umsatz 2024__Q1 ; shape: 34 x 5 ; columns: Region | Monat | 売上 | Currency"
QUERY = "Which region had the highest revenue in March?"
ALIKE = 0.999  # least cosine of the same text by the same model


def packed(probe: FloatArray) -> str:
    """Return the vectors of the probe texts as text, in half precision."""
    return base64.b64encode(np.ascontiguousarray(probe, dtype="<f2").tobytes()).decode("ascii")


def likeness(stored: str, probe: FloatArray) -> float:
    """Return the lowest cosine of a probe's vectors to the stored ones; 0 for another width.

    >>> probe = np.eye(2, 8, dtype=np.float32)
    >>> likeness(packed(probe), probe), likeness(packed(probe), probe[::-1])
    (1.0, 0.0)
    """
    values = np.frombuffer(base64.b64decode(stored, validate=True), dtype="<f2")
    if values.size != probe.size:
        return 0.0
    before = values.astype(np.float32).reshape(probe.shape)
    before /= np.linalg.norm(before, axis=1, keepdims=True)
    return float((before * probe).sum(axis=1).min())
