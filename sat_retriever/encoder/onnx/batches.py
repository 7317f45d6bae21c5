"""Group texts of similar length into padded batches of a bounded size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """The bounds of one padded batch.

    Attributes:
        most_pieces: Most word pieces with padding; a longer text is a batch of its own.
        enough_pieces: Word pieces from which a batch need not grow at the cost of padding.
        least_filled: Smallest share of real word pieces in a batch that is large enough.
    """

    most_pieces: int
    enough_pieces: int = 0
    least_filled: float = 0.0


# On a processor larger batches gain nothing, and many small ones of one length are a fifth faster
# than three large ones. A GPU needs more to be busy, but it computes padding, too.
_LIMITS = {"cpu": BatchLimits(1024), "cuda": BatchLimits(16_384, 2_048, 0.9)}


def limits_on(kind: str) -> BatchLimits:
    """Return the bounds for a kind of device: "cpu", "cuda", or another, which is like "cpu"."""
    return _LIMITS.get(kind, _LIMITS["cpu"])


def similar_lengths(lengths: Sequence[int], limits: BatchLimits) -> list[list[int]]:
    """Return the places of texts in groups of similar length, shortest first, none empty.

    Args:
        lengths: Word pieces of each text.
        limits: Bounds of one group.

    >>> similar_lengths([7, 2, 3], BatchLimits(12))
    [[1, 2], [0]]
    >>> similar_lengths([9, 4, 3], BatchLimits(99, enough_pieces=6, least_filled=0.8))
    [[2, 1], [0]]
    """
    groups: list[list[int]] = []
    real = 0  # word pieces in the last group
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        own = lengths[place]
        if groups and _has_room(len(groups[-1]), real, own, limits):
            groups[-1].append(place)
            real += own
        else:
            groups.append([place])
            real = own
    return groups


def _has_room(texts: int, real: int, longest: int, limits: BatchLimits) -> bool:
    """True if a longer text belongs into a group of some texts with `real` word pieces."""
    padded = (texts + 1) * longest
    filled = (real + longest) / padded
    return padded <= limits.most_pieces and (
        real < limits.enough_pieces or filled >= limits.least_filled
    )
