"""Weights of links: how much a relation carries, in (0, 1], growing with the cells behind it."""

from __future__ import annotations

import math
from functools import lru_cache

from sat_retriever.records.structure import SourceKind

DECLARED = {
    SourceKind.PIVOT: 0.9,
    SourceKind.CONSOLIDATION: 0.9,
    SourceKind.CHART: 0.6,
    SourceKind.VALIDATION: 0.8,
}
"""Weight of what a workbook declares rather than computes. A chart shows a part."""

_VALUE_SHARE = 0.5  # of a total's weight in a summary, for a value taken over as it is
_LOOKUP_FLOOR = 0.9  # above every join found by headers or values alone


@lru_cache(maxsize=4096)
def strength(cells: int) -> float:
    """Weight of a relation that so many cells show.

    >>> [round(strength(cells), 2) for cells in (1, 10, 100, 10_000)]
    [0.5, 0.78, 0.87, 0.93]
    """
    return round(1 - 1 / (1 + math.log2(1 + max(1, cells))), 4)


def lookup_weight(weight: float) -> float:
    """Weight of a join that formulas look up, from the weight of those formulas.

    >>> lookup_weight(0.5)
    0.95
    """
    return round(_LOOKUP_FLOOR + (1 - _LOOKUP_FLOOR) * weight, 4)


def summary_weight(sheets: int, totalled: float, taken_over: float) -> float:
    """Weight of a summary's link to one of the sheets it gathers from.

    Gathering counts by breadth and by kind: totals over twelve months are a summary; two
    parameters, each taken from a sheet of its own, hardly are one.

    Args:
        sheets: Sheets it gathers from, two or more.
        totalled: Strength of what it totals from this one; 0 without.
        taken_over: Strength of the values it takes over from this one; 0 without.

    >>> summary_weight(12, strength(100), 0), summary_weight(2, 0, strength(1))
    (0.7969, 0.125)
    """
    return round((sheets - 1) / sheets * max(totalled, _VALUE_SHARE * taken_over), 4)
