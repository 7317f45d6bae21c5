"""Tell by the vectors of fixed texts whether a model is the one of an earlier time.

A server's vectors differ in their last bits between machines and versions, so they are compared by
their cosine and never by a hash.
"""

from __future__ import annotations

import base64

import numpy as np

from sat_retriever.records.tokens import FloatArray

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

    Args:
        stored: A result of `packed`.
        probe: Vectors of the same texts now, (m, d) float32, rows of unit length.

    Raises:
        ValueError: If `stored` is damaged.
    """
    values = np.frombuffer(base64.b64decode(stored, validate=True), dtype="<f2")
    if values.size != probe.size:
        return 0.0
    before = values.astype(np.float32).reshape(probe.shape)
    before /= np.linalg.norm(before, axis=1, keepdims=True)
    return float((before * probe).sum(axis=1).min())
