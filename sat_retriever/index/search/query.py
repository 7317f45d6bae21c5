"""A query as it is scored: its text, its token, its periods and the weight of cosines."""

from __future__ import annotations

from dataclasses import dataclass, field

from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.period.spans import Span


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """What the score of a sheet depends on, beside the sheet.

    Attributes:
        text: The query, without lone surrogates.
        token: Its token (d,) float32, unit length.
        asked: The periods that it names and that count.
        dense_weight: Share of the cosine in scores, in [0, 1].
    """

    text: str
    token: FloatArray = field(repr=False)
    asked: tuple[Span, ...]
    dense_weight: float
