"""Put candidates in the order that a model gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from sat_retriever.records.candidates import Candidate

Values = NDArray[Any]


def rescored(candidates: Sequence[Candidate], values: Values, scores: Values) -> list[Candidate]:
    """Return candidates with new scores and ranks, best first; ties by sheet id.

    Args:
        candidates: The k candidates, in any order.
        values: Values that decide the order, (k,); more is better.
        scores: Scores to show, (k,); different values may round to the same score.
    """
    places = zip((-values).tolist(), candidates, scores.tolist(), strict=True)
    order = sorted(places, key=lambda place: (place[0], place[1].sheet_id))
    return [each.placed(rank, score) for rank, (_, each, score) in enumerate(order, start=1)]
