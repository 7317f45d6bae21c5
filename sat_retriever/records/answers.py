"""The answer to a query: its hits, and how sure it is that one of them holds what is asked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sat_retriever.records.hits import Hit

NOTHING = "Nothing here seems to answer this; the nearest sheets are:"


class Answer(list[Hit]):
    """The hits of a query, best first, with what is to be said about all of them.

    Args:
        hits: The hits.
        confidence: Probability that the sheets searched hold an answer, in [0, 1].
        answered: False if that is too little to show the hits without a warning.
        note: Further information for the reader; empty if there is none.
    """

    def __init__(
        self,
        hits: Iterable[Hit] = (),
        *,
        confidence: float = 0.0,
        answered: bool = True,
        note: str = "",
    ) -> None:
        super().__init__(hits)
        self.confidence = confidence
        self.answered = answered
        self.note = note

    @property
    def heading(self) -> str:
        """What is said above the hits: that they are only the nearest sheets; else ""."""
        return NOTHING if self and not self.answered else ""

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain JSON values, as `sat search --json` prints it.

        >>> Answer(confidence=0.25, answered=False).to_dict()
        {'confidence': 0.25, 'answered': False, 'note': '', 'hits': []}
        """
        return {
            "confidence": round(self.confidence, 4),
            "answered": self.answered,
            "note": self.note,
            "hits": [hit.to_dict() for hit in self],
        }
