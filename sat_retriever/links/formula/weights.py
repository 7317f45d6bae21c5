"""Weights of links in (0, 1], which grow with the number of cells behind them."""

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
"""Weights of sources that a workbook declares. A chart shows only part of its source."""

_VALUE_SHARE = 0.5  # share of a total's weight in a summary, for an unchanged value
_LOOKUP_FLOOR = 0.9  # above every join found by headers or values alone


@lru_cache(maxsize=4096)
def strength(cells: int) -> float:
    """Weight of a relation that `cells` cells show.

    >>> [round(strength(cells), 2) for cells in (1, 10, 100, 10_000)]
    [0.5, 0.78, 0.87, 0.93]
    """
    return round(1 - 1 / (1 + math.log2(1 + max(1, cells))), 4)


def lookup_weight(weight: float) -> float:
    """Weight of a join by lookup formulas, from the weight of those formulas.

    >>> lookup_weight(0.5)
    0.95
    """
    return round(_LOOKUP_FLOOR + (1 - _LOOKUP_FLOOR) * weight, 4)


def summary_weight(sheets: int, totalled: float, taken_over: float) -> float:
    """Weight of a summary's link to one of the sheets it gathers from.

    The weight grows with the number of sheets and is higher for totals: totals over twelve months
    are a summary; two parameters, each from its own sheet, hardly are.

    Args:
        sheets: Number of sheets that it gathers from, two or more.
        totalled: Strength of its totals over this sheet; 0 without any.
        taken_over: Strength of the values that it copies from this sheet; 0 without any.

    >>> summary_weight(12, strength(100), 0), summary_weight(2, 0, strength(1))
    (0.7969, 0.125)
    """
    return round((sheets - 1) / sheets * max(totalled, _VALUE_SHARE * taken_over), 4)
